"""Two sets of answers compared prompt by prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import UsageError
from rewards.running import Crew
from trainer.comparing.comparison import (
    Comparison,
    compare_answers,
    compare_run,
    sentence,
    to_json,
    trained_length,
    trained_template,
)
from trainer.comparing.text import to_text
from trainer.data.held_out import Prompts
from trainer.merging.merge import find_trained, write_merged
from trainer.models.generation import Completion
from trainer.rundir import RunDir, Stage

ROWS = [{"prompt": [{"role": "user", "content": f"What is {n} + 1?"}], "answer": n + 1} for n in range(4)]
PROMPTS = Prompts(rows=ROWS, source="four sums", trained=7, overlapping=0)

REWARDS = """
def tagged(completions, **kwargs):
    return [1.0 if "<answer>" in c[0]["content"] else 0.0 for c in completions]


def right(completions, answer, **kwargs):
    return [1.0 if c[0]["content"].strip("<answer>/") == str(a) else 0.0 for c, a in zip(completions, answer)]


def moody(completions, **kwargs):
    if any("boom" in c[0]["content"] for c in completions):
        raise ValueError("boom")
    return [0.0] * len(completions)
"""


PICKY = """
from rewards import reward


@reward(range=(0.0, 1.0))
def picky(completions, **kwargs):
"""


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    (tmp_path / "rewards.py").write_text(REWARDS)
    (tmp_path / "rewardset.toml").write_text(
        '[[reward]]\nfunction = "rewards.py::tagged"\nkind = "format"\n'
        '[[reward]]\nfunction = "rewards.py::right"\nkind = "correctness"\nweight = 2.0\n'
        '[[reward]]\nfunction = "rewards.py::moody"\nweight = 0.0\n'
    )
    with Crew(tmp_path) as made:
        yield made


def said(*texts: str) -> list[list[Completion]]:
    """One answer to each prompt."""
    return [[Completion(text, [1], True)] for text in texts]


def compared(crew: Crew, base: list[Any], trained: list[Any]) -> Comparison:
    return compare_answers((base, trained), PROMPTS, crew)


def test_each_reward_and_the_total_are_compared_pair_by_pair(crew: Crew) -> None:
    result = compared(crew, said("1", "2", "9", "9"), said("<answer>1", "<answer>9", "<answer>3", "9"))
    total, tagged, right, moody = result.lines
    assert (tagged.base, tagged.trained, tagged.paired.mean) == (0.0, 0.75, 0.75)
    assert (tagged.paired.wins, tagged.paired.losses, tagged.paired.ties) == (3, 0, 1)
    assert (right.base, right.trained, right.paired.wins, right.paired.losses) == (0.5, 0.5, 1, 1)
    assert (total.base, total.trained) == (1.0, 1.75)
    assert (moody.weight, moody.unscored) == (0.0, 0)


def test_completions_of_a_prompt_are_averaged_before_they_are_compared(crew: Crew) -> None:
    base = [[Completion("1", [1], True), Completion("<answer>1", [1], True)]] * 4
    result = compare_answers((base, base), PROMPTS, crew)
    assert result.completions == 2
    assert (result.lines[1].base, result.lines[1].paired.pairs) == (0.5, 4)


def test_the_worst_regressions_are_shown_with_both_answers(crew: Crew) -> None:
    result = compared(crew, said("<answer>1", "2", "3", "4"), said("no", "2", "3", "none"))
    assert [(one.base, one.trained) for one in result.worst] == [("<answer>1", "no"), ("4", "none")]
    assert (result.worst[0].base_total, result.worst[0].trained_total) == (3.0, 0.0)
    assert "lost 3.000 of the total: What is 0 + 1?" in to_text(result)


def test_a_regression_shows_the_pair_of_completions_that_lost(crew: Crew) -> None:
    same = Completion("0", [1], True)
    base = [[same, Completion("<answer>1", [1], True)]] * 4
    result = compare_answers((base, [[same, same]] * 4), PROMPTS, crew)
    assert (result.worst[0].base, result.worst[0].trained) == ("<answer>1", "0")
    text = to_text(result)
    assert "of the total (mean of 2): " in text
    assert "  base, best      <answer>1\n  trained, worst  0" in text


def test_completions_without_a_score_are_counted_and_told(crew: Crew) -> None:
    result = compared(crew, said("1", "2", "3", "4"), said("boom", "2", "3", "4"))
    moody = result.lines[3]
    assert (moody.unscored_base, moody.unscored_trained, moody.paired.pairs) == (0, 1, 3)
    assert result.errors["moody"].startswith("ValueError: boom (rewards.py:")
    assert "reward 'moody' could not score some completions" in to_text(result)


def test_the_text_tells_rewards_apart_and_marks_shadows(crew: Crew) -> None:
    text = to_text(compared(crew, said("1", "2", "3", "4"), said("1", "2", "3", "4")))
    assert "tagged (format)" in text
    assert "right (correctness)" in text
    assert "moody *" in text
    assert "prompts shared with the 7 trained on: none" in text


def test_no_clear_difference_comes_with_what_would_have_shown(crew: Crew) -> None:
    few = compared(crew, said("1", "2", "9", "9"), said("<answer>1", "x", "9", "9"))
    assert sentence(few).endswith(": no clear difference; fewer than 6 prompts can show none")
    more = Prompts(rows=ROWS * 2, source="eight sums", trained=7, overlapping=0)
    base, trained = said(*["1", "2", "9", "9"] * 2), said(*["<answer>1", "x", "9", "9"] * 2)
    text = sentence(compare_answers((base, trained), more, crew))
    assert "a true difference of 1.361 would have shown in 80 of 100 such comparisons, smaller ones" in text
    assert "would not have shown" not in text


def test_answers_that_got_no_score_do_not_count_in_the_models_favour(tmp_path: Path) -> None:
    made = (
        PICKY
        + "    return [None if c[0]['content'] == '?' else float(c[0]['content']) for c in completions]\n"
    )
    (tmp_path / "picky.py").write_text(made)
    prompts = Prompts(rows=ROWS * 3, source="twelve sums", trained=7, overlapping=0)
    base, trained = said(*["1", "0", "0"] * 4), said(*["1", "1", "?"] * 4)
    with Crew(f"{tmp_path}/picky.py::picky") as crew:
        result = compare_answers((base, trained), prompts, crew)
    line = result.total
    assert (line.paired.pairs, line.unscored_base, line.unscored_trained) == (8, 0, 4)
    assert "total 0.500 -> 1.000 on 8 of 12 held-out prompts" in sentence(result)
    assert "without a score: base 0, trained 4; the sides lack scores unevenly (picky: base 0" in sentence(
        result
    )
    assert "counted as the worst the total is 0.333 -> 0.667 on 12 prompts" in sentence(result)
    assert "      8  0/4" in to_text(result)


def test_a_verdict_that_hangs_on_answers_without_a_score_is_withheld(tmp_path: Path) -> None:
    made = (
        PICKY
        + "    return [None if c[0]['content'] == '?' else float(c[0]['content']) for c in completions]\n"
    )
    (tmp_path / "picky.py").write_text(made)
    prompts = Prompts(rows=ROWS * 3, source="twelve sums", trained=7, overlapping=0)
    base, trained = said(*["0.5", "0.5"] * 6), said(*["0.9", "?"] * 6)
    with Crew(f"{tmp_path}/picky.py::picky") as crew:
        result = compare_answers((base, trained), prompts, crew)
    assert (result.total.paired.verdict, result.total.verdict) == ("higher", "withheld")
    assert sentence(result).endswith("no clear difference, so the verdict depends on them")
    assert to_json(result)["lines"][0]["verdict"] == "withheld"
    assert [one.trained for one in result.worst] == ["?"] * 5


def test_the_json_is_strict_and_says_what_came_out(crew: Crew) -> None:
    values = to_json(compared(crew, said("1", "2", "3", "4"), said("<answer>1", "2", "3", "4")))
    assert [line["name"] for line in values["lines"]] == ["total", "tagged", "right", "moody"]
    assert values["lines"][1]["verdict"] == "no clear difference"
    json.dumps(values, allow_nan=False)


def test_a_run_has_to_be_merged_first(tiny_run: Path) -> None:
    with pytest.raises(UsageError, match=r"is not merged yet; do that first: reward-workbench merge"):
        compare_run(tiny_run)


@pytest.mark.guide("G23")
def test_a_merged_run_is_compared_with_its_base_on_its_held_out_prompts(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    seen: list[tuple[str, int, int]] = []
    result = compare_run(tiny_run, progress=lambda *told: seen.append(told))
    assert (result.prompts, result.completions, result.sampling.max_new_tokens) == (2, 8, 8)
    assert seen == [("base", 16, 16), ("trained", 16, 16)]
    written = json.loads((tiny_run / "comparison.json").read_text())
    assert written["lines"][0]["name"] == "total"
    assert "2 held-out prompts" in (tiny_run / "README.md").read_text()


def test_a_changed_reward_set_is_told(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    rewards = tiny_run.parent.parent / "rewards.py"
    rewards.write_text(rewards.read_text().replace("1.0 if", "0.5 if"))
    assert compare_run(tiny_run).notes == (
        "the reward set has changed since the run; it is scored by the set as it is now",
    )


def test_a_prompts_file_without_a_needed_column_is_refused(tiny_run: Path, tmp_path: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    file = tmp_path / "more.jsonl"
    file.write_text('{"prompt": "What is 8 + 8?"}\n')
    with pytest.raises(UsageError, match="reward 'right' requires the column 'answer'"):
        compare_run(tiny_run, prompts=file)


def staged(path: Path, *lengths: int) -> RunDir:
    """The run as one whose length of completions differs by stage; all but the last have made steps."""
    run = RunDir.open(path)
    manifest = run.manifest_path.read_text().replace("max_completion_length = 8\n", "")
    tables = [
        f'[[train.stage]]\nname = "{at}"\nmax_completion_length = {length}\n'
        for at, length in enumerate(lengths)
    ]
    run.manifest_path.write_text(manifest + "".join(tables))
    steps = [0 if at + 1 == len(lengths) > 2 else 1 for at in range(len(lengths))]
    run.write_stages([Stage(str(at), ("tagged",), 1, step, "done") for at, step in enumerate(steps)])
    return run


def test_answers_are_as_long_as_in_the_last_stage_that_trained(tiny_run: Path) -> None:
    assert trained_length(staged(tiny_run, 4, 12)) == 12


def test_a_stage_that_made_no_step_says_nothing_of_the_length(tiny_run: Path) -> None:
    assert trained_length(staged(tiny_run, 4, 12, 20)) == 12


def test_a_run_that_says_nothing_of_the_length_is_compared_at_trls_default(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    assert trained_length(run) == 8
    run.manifest_path.write_text(run.manifest_path.read_text().replace("max_completion_length = 8\n", ""))
    assert trained_length(run) is None


def test_prompts_are_read_as_the_training_read_them(tiny_run: Path) -> None:
    run = RunDir.open(tiny_run)
    assert trained_template(run) == {}
    path = run.manifest_path
    path.write_text(path.read_text() + "\n[train.chat_template_kwargs]\nenable_thinking = false\n")
    assert trained_template(run) == {"enable_thinking": False}


def test_a_staged_run_is_compared_at_the_length_of_its_last_stage(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    staged(tiny_run, 4, 12)
    assert compare_run(tiny_run).sampling.max_new_tokens == 12


def test_a_comparison_says_that_stages_weighed_the_rewards_otherwise(tiny_run: Path) -> None:
    write_merged(find_trained(tiny_run), tiny_run / "merged", "float32")
    path = staged(tiny_run, 4, 12).manifest_path
    path.write_text(path.read_text() + "weights = { tagged = 0.25 }\n")
    assert any("the total here is by the set's weights" in note for note in compare_run(tiny_run).notes)
