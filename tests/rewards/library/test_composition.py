"""Composed rewards: what they take, pass on, declare and keep, whichever rule combines them."""

from __future__ import annotations

import asyncio
import inspect
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.contract import Batch, Status, call, is_async, signature, trl_name
from rewards.credits import credit, recording
from rewards.library import exact_match, ideal_length, incremental_format, max_length
from rewards.library.shaping import (
    adaptive,
    clip,
    gate,
    lexicographic,
    potential_shaping,
    scale,
    scheduled,
    weighted_sum,
)
from rewards.loading import find_rewards, load_file
from rewards.marks import mark_of, reward
from rewards.rewardset import RewardSet
from rewards.tracing.explaining import explain_row

GATED = gate(incremental_format, by=exact_match)
EVERY = [
    GATED,
    gate(max_length, by=exact_match),
    lexicographic(exact_match, incremental_format, max_length),
    weighted_sum(exact_match, incremental_format, max_length, shares=(0.7, 0.2, 0.1)),
    clip(ideal_length, 0.25, 0.75),
    scale(max_length, (0.0, 2.0)),
    potential_shaping(ideal_length, start="prompts"),
    scheduled(incremental_format, {0: 0.5, 10: 1.0}),
    adaptive(exact_match),
    gate(clip(scale(incremental_format, (0.0, 3.0)), 0.5, 2.5), by=exact_match),
]
every_one = pytest.mark.parametrize("shaped", EVERY, ids=trl_name)

pieces = st.sampled_from(
    ["<reasoning>", "</reasoning>", "<answer>7</answer>", "7", "word ", "\n", "", "é👩‍👧"]
)
texts = st.lists(pieces, max_size=8).map("".join)
rows = st.lists(st.tuples(texts, st.sampled_from(["7", "word", None])), min_size=1, max_size=5)


def run(shaped: Any, batch: list[tuple[str, Any]]) -> list[float | None]:
    scores: list[float | None] = shaped(
        completions=[text for text, _ in batch],
        answer=[answer for _, answer in batch],
        prompts=["one two three"] * len(batch),
    )
    return scores


# ------------------------------------------------------------------------------------------- laws


@every_one
@settings(max_examples=25)
@given(rows)
def test_scores_keep_the_range_that_the_whole_declares(shaped: Any, batch: list[tuple[str, Any]]) -> None:
    low, high = mark_of(shaped)["range"]
    for score in run(shaped, batch):
        assert score is None or low - 1e-9 <= score <= high + 1e-9
        assert score is not None or mark_of(shaped)["abstains"]


@every_one
@settings(max_examples=25)
@given(rows)
def test_a_batch_scores_as_its_rows_do_alone(shaped: Any, batch: list[tuple[str, Any]]) -> None:
    assert run(shaped, batch) == [run(shaped, [row])[0] for row in batch]


@every_one
@settings(max_examples=25)
@given(rows)
def test_named_credits_of_the_parts_add_up_to_the_whole(shaped: Any, batch: list[tuple[str, Any]]) -> None:
    for row in batch:
        with recording(1) as record:
            score = run(shaped, [row])[0]
        points = sum(one["points"] for one in record.by_row([score])[0])
        assert points == pytest.approx(score or 0.0, abs=1e-9)


@every_one
def test_it_can_be_pickled_and_scores_the_same_afterwards(shaped: Any) -> None:
    copy = pickle.loads(pickle.dumps(shaped))
    batch = [("<answer>7</answer>", "7"), ("8", "7")]
    assert run(copy, batch) == run(shaped, batch)
    assert trl_name(copy) == trl_name(shaped)
    assert mark_of(copy) == mark_of(shaped)
    assert inspect.signature(copy) == inspect.signature(shaped)


def test_every_one_has_a_name_of_its_own() -> None:
    names = [trl_name(shaped) for shaped in EVERY]
    assert len(set(names)) == len(names)
    assert names[0] == "incremental_format_if_exact_match"


def test_a_name_can_be_given() -> None:
    assert trl_name(gate(max_length, by=exact_match, name="brief")) == "brief"


# ------------------------------------------------------------------------------- what goes in and out


def test_columns_that_the_parts_require_are_required() -> None:
    facts = signature(GATED)
    assert facts.required == ("answer",)
    assert {"tag_names", "answer_forms"} <= set(facts.optional)
    assert facts.keywords
    assert facts.problem is None


def test_a_call_as_the_trainer_makes_it_works_with_messages() -> None:
    said = [[{"role": "assistant", "content": text}] for text in ("<answer>7</answer>", "<answer>8</answer>")]
    batch = Batch(["q", "q"], said, [[1], [2]], {"answer": ["7", "7"], "extra": [None, 1]}, ["a", "a"])
    result = call(GATED, batch, record_credits=True)
    assert result.scores.tolist() == [0.5, 0.0]
    assert result.credits is not None
    paid = [(one["name"], one["points"]) for one in result.credits[0] if one["points"]]
    assert paid == [("<answer>", 0.25), ("</answer>", 0.25)]
    assert all(one["file"].endswith("incremental.py") for one in result.credits[0])
    assert [(one["name"], one["points"]) for one in result.credits[1]] == [("exact_match not earned", 0.0)]


def test_every_column_and_the_trainers_own_keywords_reach_the_parts() -> None:
    seen: dict[str, Any] = {}

    def part(completions: list[Any], **columns: Any) -> list[float]:
        seen.update(columns)
        return [0.0 for _ in completions]

    call(clip(part, 0, 1), Batch(["p"], ["c"], [[5]], {"tags": [["x"]]}, ["g"]))
    assert {"prompts", "completion_ids", "trainer_state", "log_extra", "log_metric", "tags"} <= set(seen)
    assert (seen["prompts"], seen["completion_ids"], seen["tags"]) == (["p"], [[5]], [["x"]])


def test_token_ids_come_as_numbers_where_a_part_counts_them() -> None:
    def tokens(completions: list[Any], completion_ids: list[list[int]], **columns: Any) -> list[float]:
        assert all(type(one) is int for ids in completion_ids for one in ids)
        return [float(len(ids)) for ids in completion_ids]

    assert call(clip(tokens, 0, 3), Batch(["p"] * 2, ["ab", "abcdef"])).scores.tolist() == [2.0, 3.0]


def test_a_gate_asks_about_open_rows_alone_with_their_own_columns() -> None:
    asked: list[Any] = []

    def bonus(
        completions: list[Any], hint: list[str], *, weights: Any = (1, 2), **columns: Any
    ) -> list[float]:
        asked.append((completions, hint, columns["prompts"], weights))
        return [1.0 for _ in completions]

    shaped = gate(bonus, by=exact_match)
    scores = shaped(
        ["7", "8", "7"], answer=["7"] * 3, hint=["a", "b", "c"], prompts=["p", "q", "r"], weights=[1, 2, 3]
    )
    assert scores == [1.0, 0.0, 1.0]
    assert asked == [(["7", "7"], ["a", "c"], ["p", "r"], [1, 2, 3])]


def test_a_bonus_that_compares_a_group_is_told_all_of_it() -> None:
    @reward(scope="group", range=(0.0, 1.0))
    def rarest(completions: list[Any], **columns: Any) -> list[float]:
        return [float(completions.count(text) == 1) for text in completions]

    shaped = gate(rarest, by=exact_match)
    assert shaped(["7", "7.", "8", "8"], answer=["7"] * 4) == [1.0, 1.0, 0.0, 0.0]
    assert mark_of(shaped)["scope"] == "group"


def test_what_a_part_logs_for_some_rows_is_filled_up_for_the_others() -> None:
    def bonus(completions: list[Any], log_extra: Any, log_metric: Any, **columns: Any) -> list[float]:
        log_extra("words", [len(text) for text in completions])
        log_metric("asked", float(len(completions)))
        return [1.0 for _ in completions]

    result = call(gate(bonus, by=exact_match), Batch(["p"] * 2, ["8", "7"], columns={"answer": ["7", "7"]}))
    assert result.extra == {"words": [None, 1]}
    assert result.metrics == {"asked": [1.0]}


def test_a_part_answers_under_its_own_mark() -> None:
    @reward(params={"factor": 3.0}, when={"task": "sum"})
    def part(completions: list[Any], factor: float = 1.0, **columns: Any) -> list[float]:
        return [factor for _ in completions]

    shaped = clip(part, 0, 5)
    assert shaped(["a", "b"], task=["sum", "word"]) == [3.0, None]
    assert mark_of(shaped)["abstains"]


def test_cost_time_and_process_come_from_the_parts() -> None:
    @reward(cost="paid", timeout_s=30.0, deterministic=False, runs="warm", memory_mb=4096, range=(0.0, 1.0))
    def judge(completions: list[Any], **columns: Any) -> list[float]:
        return [1.0 for _ in completions]

    mark = mark_of(gate(judge, by=exact_match))
    assert (mark["cost"], mark["timeout_s"], mark["deterministic"]) == ("paid", 30.0, False)
    assert (mark["runs"], mark["memory_mb"]) == ("warm", 4096)


# -------------------------------------------------------------------------------------- awaited parts


@reward(range=(0.0, 1.0))
async def awaited(completions: list[Any], **columns: Any) -> list[float]:
    await asyncio.sleep(0)
    return [credit("awaited", 0.5, of=1.0) for _ in completions]


def test_a_whole_with_an_awaited_part_is_awaited() -> None:
    shaped = gate(awaited, by=exact_match)
    assert is_async(shaped)
    assert not is_async(GATED)
    result = call(shaped, Batch(["p"] * 2, ["7 ", "8 "], columns={"answer": ["7", "7"]}), record_credits=True)
    assert result.scores.tolist() == [0.5, 0.0]
    assert result.credits is not None
    assert result.credits[0][0]["name"] == "awaited"
    assert is_async(pickle.loads(pickle.dumps(shaped)))


def test_ordinary_parts_of_an_awaited_whole_do_not_hold_up_the_event_loop() -> None:
    threads: list[int] = []

    @reward(range=(0.0, 1.0))
    def slow(completions: list[Any], **columns: Any) -> list[float]:
        threads.append(threading.get_ident())
        return [1.0 for _ in completions]

    scores = call(gate(awaited, by=slow), Batch(["p"], ["c"])).scores
    assert scores.tolist() == [0.5]
    assert threads
    assert threads[0] != threading.get_ident()


# ----------------------------------------------------------------------------------------- faults


def test_what_is_no_number_stays_what_it_is() -> None:
    def odd(completions: list[Any], **columns: Any) -> list[Any]:
        return [None, float("nan"), float("inf"), 1]

    for shaped in (clip(odd, 0, 1), scale(odd, of=(0, 1)), scheduled(odd, {0: 0.0, 5: 1.0})):
        status = call(shaped, Batch(["p"] * 4, list("abcd"))).status
        assert list(status) == [Status.ABSTAINED, Status.NAN, Status.INFINITE, Status.NUMBER]


def test_a_part_with_too_few_scores_is_named() -> None:
    def short(completions: list[Any], **columns: Any) -> list[float]:
        return [1.0]

    with pytest.raises(ValueError, match=r"^reward 'short' returned 1 scores for 2 completions$"):
        clip(short, 0, 1)(["a", "b"])


def test_a_part_that_returns_text_is_named() -> None:
    def wordy(completions: list[Any], **columns: Any) -> list[Any]:
        return ["good" for _ in completions]

    with pytest.raises(TypeError, match=r"^reward 'wordy' score is str 'good', not a number$"):
        clip(wordy, 0, 1)(["a"])


def test_a_part_that_the_trainer_could_not_call_is_refused_at_once() -> None:
    def bare(completions: list[str]) -> list[float]:
        return [0.0 for _ in completions]

    with pytest.raises(TypeError, match=r"'bare' cannot be called as a reward: it takes no 'prompts'"):
        clip(bare, 0, 1)
    with pytest.raises(TypeError, match=r"'words' \(str\) is no reward function"):
        clip("words", 0, 1)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------- in a user's file

FILE = """
from rewards.library import incremental_format
from rewards.library.shaping import gate


def right(completions, answer, **kwargs):
    return [1.0 if text == truth else 0.0 for text, truth in zip(completions, answer)]


def tidy(completions, **kwargs):
    scores = []
    for text in completions:
        score = 0.0
        if text.islower():
            score += 0.5
        if text.isascii():
            score += 0.5
        scores.append(score)
    return scores


tidy_if_right = gate(tidy, by=right)
laid_out_if_right = gate(incremental_format, by=right)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    return tmp_path / "rewards.py"


def test_it_is_found_among_the_rewards_of_a_file_and_can_be_pickled_there(file: Path) -> None:
    module = load_file(file)
    assert list(find_rewards(module)) == ["right", "tidy", "tidy_if_right", "laid_out_if_right"]
    assert pickle.loads(pickle.dumps(module.tidy_if_right)).parts[0] is module.tidy


def test_its_parts_are_covered_by_the_fingerprint(file: Path) -> None:
    before = RewardSet.load(f"{file}::tidy_if_right").fingerprint
    file.write_text(FILE.replace("score += 0.5", "score += 0.25"))
    assert RewardSet.load(f"{file}::tidy_if_right").fingerprint != before


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("tidy_if_right", "paris", [("text.islower()", 0.5), ("text.isascii()", 0.5)]),
        ("laid_out_if_right", "<answer>x</answer>", [("<answer>", 0.25), ("</answer>", 0.25)]),
    ],
)
def test_explanations_of_a_gated_reward_are_those_of_its_parts(
    file: Path, name: str, text: str, told: list[tuple[str, float]]
) -> None:
    batch = Batch(["p"] * 2, [text, "Rome"], columns={"answer": [text, "Paris"]}, groups=["a", "a"])

    def load(*, transform: Any = None) -> RewardSet:
        return RewardSet.load(file, transform=transform)

    right, wrong = (explain_row(load, name, batch, row) for row in (0, 1))
    assert right.exact
    assert [(one.condition or one.name, one.points) for one in right.credits if one.points] == told
    assert (wrong.exact, wrong.score) == (True, 0.0)


def test_its_place_is_the_line_where_it_is_put_together(file: Path) -> None:
    described = {one.name: one for one in RewardSet.load(file).describe().rewards}
    lines = FILE.splitlines()
    for name in ("tidy", "tidy_if_right", "laid_out_if_right"):
        line = described[name].line
        assert line is not None
        assert name in lines[line - 1]
        assert described[name].file == str(file)
