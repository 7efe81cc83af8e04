"""One call, exactly as TRL makes it, and what a legal result is."""

from __future__ import annotations

import asyncio
import functools
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.contract import (
    SUPPLIED,
    Batch,
    Status,
    call,
    completion_text,
    read_scores,
    required_columns,
    signature,
    trl_name,
)
from rewards.credits import credit


def batch(*completions: Any, **columns: list[Any]) -> Batch:
    return Batch(["p"] * len(completions), list(completions), columns=columns)


@pytest.mark.guide("G6")
def test_everything_of_trls_call_is_passed_by_keyword() -> None:
    seen: dict[str, Any] = {}

    def spy(**keywords: Any) -> list[float]:
        seen.update(keywords)
        return [0.0, 1.0]

    call(spy, batch("a", "b", answer=[1, 2]))
    assert set(seen) == {*SUPPLIED, "answer"}
    assert seen["trainer_state"].global_step == 0
    assert seen["answer"] == [1, 2]


def test_the_columns_trl_drops_never_arrive() -> None:
    def spy(**keywords: Any) -> list[float]:
        return [float("completion" in keywords or "prompt" in keywords)]

    assert call(spy, batch("a", completion=["x"], prompt=["y"])).scores.tolist() == [0.0]


def test_params_win_over_a_column_of_that_name() -> None:
    def reward(completions: list[str], answer: int, **_: Any) -> list[float]:
        return [float(answer)] * len(completions)

    assert call(reward, batch("a", answer=[7]), params={"answer": 3}).scores.tolist() == [3.0]


@pytest.mark.guide("G6")
def test_async_functions_objects_and_partials_are_called() -> None:
    async def later(completions: list[str], **_: Any) -> list[float]:
        await asyncio.sleep(0)
        return [0.5] * len(completions)

    class Callable:
        def __call__(self, completions: list[str], **_: Any) -> list[float]:
            return [0.25] * len(completions)

    class LaterCallable:
        async def __call__(self, completions: list[str], **_: Any) -> list[float]:
            return [0.75] * len(completions)

    def scaled(completions: list[str], factor: float, **_: Any) -> list[float]:
        return [factor] * len(completions)

    functions: list[Any] = [later, Callable(), LaterCallable(), functools.partial(scaled, factor=2.0)]
    assert [call(function, batch("a")).scores[0] for function in functions] == [0.5, 0.25, 0.75, 2.0]


def test_an_async_reward_is_called_from_inside_a_running_loop_as_in_a_notebook() -> None:
    async def later(completions: list[str], **_: Any) -> list[float]:
        await asyncio.sleep(0)
        return [0.5] * len(completions)

    async def cell() -> list[float]:
        return list(call(later, batch("a")).scores)

    assert asyncio.run(cell()) == [0.5]


@pytest.mark.parametrize(
    ("returned", "scores"),
    [
        ([1, 0.5, True], [1.0, 0.5, 1.0]),
        ((1.0, 2.0, 3.0), [1.0, 2.0, 3.0]),
        (np.array([1, 2, 3]), [1.0, 2.0, 3.0]),
        (np.array([[1.0], [2.0], [3.0]]), [1.0, 2.0, 3.0]),
        ([Fraction(1, 4), Decimal("0.5"), np.float32(1)], [0.25, 0.5, 1.0]),
        ((value for value in (1.0, 2.0, 3.0)), [1.0, 2.0, 3.0]),
    ],
)
def test_every_kind_of_number_trl_takes_is_a_score(returned: Any, scores: list[float]) -> None:
    read, status, errors = read_scores(returned, 3)
    assert read.tolist() == scores
    assert (status == Status.NUMBER).all()
    assert errors == {}


def test_none_nan_infinity_and_text_are_told_apart() -> None:
    scores, status, errors = read_scores([None, float("nan"), float("inf"), "0.5", [1.0]], 5)
    assert [Status(value) for value in status] == [
        Status.ABSTAINED,
        Status.NAN,
        Status.INFINITE,
        Status.WRONG_TYPE,
        Status.WRONG_TYPE,
    ]
    assert np.isinf(scores[2])
    assert errors == {3: "score is str '0.5', not a number", 4: "score is list [1.0], not a number"}


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        ({"a": 1.0}, "returned a dict: TRL would take its keys as the scores; return a list of numbers"),
        (1.0, "returned a single float instead of a list of numbers"),
        (None, "returned None instead of a list of numbers (is a return statement missing?)"),
        ("abc", "returned str instead of a list of numbers"),
        (np.ones((3, 2)), "returned an array of shape (3, 2) instead of one score a completion"),
    ],
)
def test_a_result_that_is_no_list_of_scores_says_what_it_is(returned: Any, sentence: str) -> None:
    _, status, errors = read_scores(returned, 3)
    assert (status == Status.WRONG_TYPE).all()
    assert errors == dict.fromkeys(range(3), sentence)


def test_too_few_scores_name_both_counts() -> None:
    _, status, errors = read_scores([1.0], 3)
    assert (status == Status.WRONG_COUNT).all()
    assert errors[2] == "returned 1 scores for 3 completions"


def test_an_exception_names_its_line_in_the_users_file() -> None:
    def broken(completions: list[str], **_: Any) -> list[float]:
        return [1 / 0]

    result = call(broken, batch("a"))
    line = broken.__code__.co_firstlineno + 1
    assert result.errors == {0: f"ZeroDivisionError: division by zero (test_contract.py:{line})"}


class Rude(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoNumber:
    def __float__(self) -> float:
        raise RuntimeError("not today")


class Unshown:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Late:
    def __iter__(self) -> Any:
        yield 1.0
        raise Rude


def raising(*_: Any, **__: Any) -> Any:
    raise Rude


@pytest.mark.parametrize(
    ("reward", "error"),
    [
        (raising, "Rude (test_contract.py:"),
        (lambda **_: Late(), "Rude (test_contract.py:"),
        (lambda **_: [NoNumber()], "score of type NoNumber is not a number: RuntimeError: not today"),
        (lambda **_: [Unshown()], "score of type Unshown is not a number: RuntimeError: no"),
    ],
)
def test_nothing_that_comes_back_raises(reward: Any, error: str) -> None:
    assert call(reward, batch("a")).errors[0].startswith(error)


def test_sys_exit_is_an_error_of_the_rows() -> None:
    def leaves(completions: list[str], **_: Any) -> list[float]:
        raise SystemExit(3)

    assert "SystemExit: 3" in call(leaves, batch("a")).errors[0]


def test_what_a_reward_logs_and_prints_is_kept() -> None:
    def chatty(completions: list[str], log_extra: Any, log_metric: Any, **_: Any) -> list[float]:
        print("hello")  # noqa: T201  # rewards do print
        log_extra("length", [len(text) for text in completions])
        log_metric("mean", 1.5)
        return [0.0] * len(completions)

    result = call(chatty, batch("a", "bb"))
    assert (result.printed, result.extra, result.metrics) == ("hello\n", {"length": [1, 2]}, {"mean": [1.5]})


def test_half_a_character_in_a_message_is_its_escape() -> None:
    def refuses(completions: list[str], **_: Any) -> list[float]:
        raise ValueError("unknown keys " + ", ".join(json.loads(completions[0])))

    class Odd:
        def __repr__(self) -> str:
            return "odd \ud83d"

    assert call(refuses, batch('{"\\ud83d": 1}')).errors[0].startswith("ValueError: unknown keys \\ud83d (")
    odd = call(lambda **_: [Odd()], batch("a"))
    assert odd.errors[0] == "score is Odd odd \\ud83d, not a number"


def test_half_a_character_that_is_logged_or_printed_is_its_escape() -> None:
    def logs(completions: list[str], log_extra: Any, log_metric: Any, **_: Any) -> list[float]:
        print("half \ud83d", completions[0])  # noqa: T201  # rewards do print
        log_extra("k\ud83d", [["v\ud83d"], {"a\ud83d": ("b\ud83d", 1)}])
        log_metric("m\ud83d", 1.0)
        credit("n\ud83d", 1.0, note="o\ud83d")
        return [1.0] * len(completions)

    result = call(logs, batch("first", "second"), record_credits=True)
    assert result.extra == {"k\\ud83d": [["v\\ud83d"], {"a\\ud83d": ("b\\ud83d", 1)}]}
    assert (result.printed, result.metrics) == ("half \\ud83d first\n", {"m\\ud83d": [1.0]})
    alone = call(logs, batch("first"), record_credits=True)
    assert alone.printed_rows == {0: "half \\ud83d first\n"}
    assert alone.credits is not None
    assert [(one["name"], one["note"]) for one in alone.credits[0]] == [("n\\ud83d", "o\\ud83d")]


def test_bytes_of_the_text_stand_in_for_token_ids() -> None:
    def reads(completions: list[str], completion_ids: list[list[int]], **_: Any) -> list[float]:
        return [float(ids == list("é".encode())) for ids in completion_ids]

    def ignores(completions: list[str], **columns: Any) -> list[float]:
        return [
            float(len(ids)) for ids in next(iter([columns[key] for key in columns if key.endswith("_ids")]))
        ]

    assert call(reads, batch("é")).scores.tolist() == [1.0]
    assert call(ignores, batch("é")).scores.tolist() == [2.0]


def test_required_columns_are_those_without_default_that_trl_does_not_supply() -> None:
    def reward(
        prompts: Any, completions: Any, answer: Any, tests: Any, limit: int = 3, **_: Any
    ) -> list[float]:
        return []

    assert required_columns(reward) == ["answer", "tests"]
    assert required_columns(reward, {"tests": 1}) == ["answer"]


def test_a_signature_that_the_trainers_call_cannot_meet_is_named() -> None:
    def no_keywords(completions: Any) -> list[float]:
        return []

    def positional(completions: Any, /, **_: Any) -> list[float]:
        return []

    assert "takes no 'prompts' and has no **kwargs" in str(signature(no_keywords).problem)
    assert "positional-only" in str(signature(positional).problem)
    assert signature(lambda completions, **_: []).problem is None


def test_names_are_those_trl_would_log() -> None:
    class Judge:
        def __call__(self, completions: Any, **_: Any) -> list[float]:
            return []

    def reward(completions: Any, **_: Any) -> list[float]:
        return []

    assert [trl_name(Judge()), trl_name(functools.partial(reward, x=1))] == ["Judge", "reward"]


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ([{"role": "assistant", "content": "one"}], "one"),
        ([{"role": "assistant", "content": "one"}, {"role": "tool", "content": "two"}], "one"),
        ([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], "b"),
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "p"}, {"type": "text", "text": "q"}],
                }
            ],
            "pq",
        ),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "user", "content": "x"}], ""),
        ([], ""),
        (None, ""),
    ],
)
def test_the_text_judged_is_the_last_assistant_message(completion: Any, text: str) -> None:
    assert completion_text(completion) == text


@given(
    st.lists(
        st.one_of(st.none(), st.floats(), st.integers(), st.booleans(), st.text(), st.lists(st.integers()))
    )
)
def test_reading_scores_never_raises_and_never_loses_a_row(returned: list[Any]) -> None:
    scores, status, errors = read_scores(returned, len(returned))
    assert len(scores) == len(status) == len(returned)
    for row, value in enumerate(returned):
        assert (row in errors) == Status(status[row]).failed
        if isinstance(value, bool) or (isinstance(value, float) and value == value):
            assert scores[row] == float(value)
