"""The code rewards: what is paid, what is said beside the score, and what is refused."""

# ruff: noqa: E501  # programs, each in one piece

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch, Status, call
from rewards.errors import SandboxError
from rewards.library import code
from rewards.permissions import UNSAFE_CODE_VARIABLE
from rewards.running import Runner
from rewards.sandbox import Level, Sandbox, oneshot
from workbench.samples import read_samples
from workbench.scoring import score


def fenced(program: str) -> str:
    return f"Here it is.\n\n```python\n{program}\n```\n"


ADD = fenced("def add(a, b):\n    return a + b")
WRONG = fenced("def add(a, b):\n    return a - b")
TESTS: list[Any] = [[[1, 2], 3], [[5, 0], 5]]


def test_all_or_a_share_is_paid() -> None:
    rows: dict[str, Any] = {"tests": [TESTS, TESTS], "entry_point": "add"}
    assert code.tests_passed([ADD, WRONG], **rows) == [1.0, 0.0]
    assert code.tests_passed([ADD, WRONG], **rows, paid="share") == [1.0, 0.5]


def test_each_row_is_judged_by_its_own_tests() -> None:
    other = [[[1, 2], -1], [[5, 0], 5]]
    assert code.tests_passed([ADD, WRONG, WRONG], [TESTS, other, TESTS], entry_point=["add"] * 3) == [
        1.0,
        1.0,
        0.0,
    ]


def test_a_row_without_tests_has_no_opinion() -> None:
    assert code.tests_passed([ADD, ADD, ADD], [TESTS, None, []], entry_point="add") == [1.0, None, None]


def test_a_completion_without_program_earns_nothing() -> None:
    texts = ["I would add the two.", "", ADD[:-6], "<think>" + ADD, "```json\n{}\n```"]
    assert code.tests_passed(texts, [TESTS] * len(texts), entry_point="add") == [0.0] * len(texts)


def test_programs_that_read_and_print_and_test_code_are_judged() -> None:
    reads = fenced("print(sum(map(int, input().split())))")
    assert code.tests_passed([reads], [[{"input": "1 2", "output": "3"}]]) == [1.0]
    check = "def check(candidate):\n    assert candidate(1, 2) == 3"
    assert code.tests_passed([ADD, WRONG], test=[check] * 2, entry_point="add") == [1.0, 0.0]
    unit = "from solution import add\ndef test_add():\n    assert add(1, 2) == 3"
    assert code.tests_passed([ADD, WRONG], test=unit) == [1.0, 0.0]


def test_the_level_and_the_tests_passed_stand_beside_the_score() -> None:
    batch = Batch(
        ["q"] * 3, [ADD, WRONG, "none"], columns={"tests": [TESTS, TESTS, None], "entry_point": ["add"] * 3}
    )
    result = call(code.tests_passed, batch, params={"paid": "share"}, record_credits=True)
    level = Sandbox().level().value
    assert result.extra == {"sandbox": [level, level, ""], "tests passed": ["2/2", "1/2", ""]}
    assert result.credits is not None
    names = [[(one["name"], one["points"], one["note"]) for one in row] for row in result.credits]
    assert names == [
        [("test 1", 0.5, f"sandbox: {level}"), ("test 2", 0.5, f"sandbox: {level}")],
        [("test 1", 0.0, f"returned -1 (sandbox: {level})"), ("test 2", 0.5, f"sandbox: {level}")],
        [],
    ]


def test_where_all_is_asked_the_credit_tells_the_first_failure() -> None:
    batch = Batch(["q"], [WRONG], columns={"tests": [TESTS], "entry_point": ["add"]})
    result = call(code.tests_passed, batch, record_credits=True)
    assert result.credits is not None
    assert result.credits[0][0]["note"].startswith("test 1: returned -1 (sandbox: ")


PEERS = [  # Orchestra-Research/AI-Research-SKILLs @ 773a529, MIT: code_execution_reward, observed, its 2.0 being our weight
    ("```python\ndef solution(x):\n    return x*2\n```", [[1, 2], [3, 7]], 0.0),
    ("```\ndef solution(x):\n    return x\n```", [[1, 1]], 1.0),
    ("```python\ndef solve(x):\n    return x\n```", [[1, 1]], 0.0),
    ("```python\ndef solution(x):\n    return True\n```", [[1, 1]], 1.0),
    ("```python\ndef solution(x):\n    return 1.0\n```", [[1, 1]], 1.0),
    # eval-protocol/python-sdk @ 000c2a4, MIT: fractional_code_reward, observed
    ("```python\ndef solution(*args, **kwargs):\n    return {'args': list(args), 'kwargs': kwargs}\n```", [[["hello"], {"args": ["hello"], "kwargs": {}}]], 1.0),
]  # fmt: skip


@pytest.mark.parametrize("row", PEERS)
def test_other_projects_rewards_pay_the_same(row: tuple[str, Any, float]) -> None:
    text, tests, expected = row
    assert code.tests_passed([text], [tests], entry_point="solution") == [expected]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "needs a column 'tests'"),
        ({"tests": [3]}, "row 0: column 'tests' must hold a list of tests"),
        ({"tests": [TESTS]}, "row 0: the tests call a function: name it in a column 'entry_point'"),
        ({"tests": [TESTS, TESTS]}, "tests must be a column with one entry for each completion"),
        ({"tests": [TESTS], "paid": "some"}, "paid='some'"),
        ({"tests": [TESTS], "seconds": 0}, "seconds=0"),
        ({"tests": [TESTS], "packages": "numpy"}, "packages='numpy'"),
        ({"tests": [TESTS], "workers": -1}, "workers=-1"),
        ({"test": "def check(:", "entry_point": "add"}, "row 0: tests: SyntaxError"),
    ],
)
def test_what_cannot_be_used_is_told(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match="reward 'tests_passed'") as caught:
        code.tests_passed([ADD], **options)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [({"isolation": "steel"}, "known levels are"), ({"backend": "cloud"}, "backend='cloud'")],
)
def test_an_unknown_level_or_backend_is_told(options: dict[str, Any], why: str) -> None:
    with pytest.raises(SandboxError, match=why):
        code.tests_passed([ADD], [TESTS], entry_point="add", **options)


def test_only_the_row_with_bad_tests_fails_and_no_program_is_run_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rewards.repeating import call_rows_apart

    runs: list[str] = []
    real = code.grade_all

    def grade_all(box: Any, programs: Any, **options: Any) -> Any:
        runs.extend(program for program, _ in programs)
        return real(box, programs, **options)

    monkeypatch.setattr(code, "grade_all", grade_all)
    bad = {
        "test": ["def check(c):\n    assert c(1, 2) == 3"] * 3 + ["def check(:"],
        "entry_point": ["add"] * 4,
    }
    programs = [ADD, WRONG, ADD.replace("a + b", "b + a"), ADD.replace("add", "other")]
    result = call_rows_apart(code.tests_passed, Batch(["q"] * 4, programs, columns=bad))
    assert [Status(one) for one in result.status] == [Status.NUMBER] * 3 + [Status.RAISED]
    assert result.scores.tolist()[:3] == [1.0, 0.0, 1.0]
    assert [runs.count(code.find_program(text).text) for text in programs[:3]] == [1, 1, 1]  # type: ignore[union-attr]


def test_equal_programs_with_equal_tests_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = code.grade_all
    monkeypatch.setattr(
        code,
        "grade_all",
        lambda box, programs, **options: seen.extend(programs) or real(box, programs, **options),
    )
    assert code.tests_passed([ADD] * 8, [TESTS] * 8, entry_point="add") == [1.0] * 8
    assert len(seen) == 1


def test_it_is_refused_where_the_machine_cannot_isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UNSAFE_CODE_VARIABLE, raising=False)
    monkeypatch.setattr(code, "_sandbox", lambda *_: Sandbox(only=Level.LIMITS))
    batch = Batch(["q"], [ADD], columns={"tests": [TESTS], "entry_point": ["add"]})
    result = call(code.tests_passed, batch)
    assert Status(result.status[0]) is Status.RAISED
    assert "SandboxError: model-written code is not run" in result.errors[0]
    monkeypatch.setenv(UNSAFE_CODE_VARIABLE, "1")
    assert call(code.tests_passed, batch).scores.tolist() == [1.0]


def test_a_sandbox_that_fails_is_an_error_and_no_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_sandbox", lambda *_: oneshot.Service("http://127.0.0.1:9"))
    batch = Batch(["q"], [ADD], columns={"tests": [TESTS], "entry_point": ["add"]})
    result = call(code.tests_passed, batch)
    assert Status(result.status[0]) is Status.RAISED
    assert "the sandbox service at http://127.0.0.1:9/run_code" in result.errors[0]


# ------------------------------------------------------------------------------- in a worker of the boundary

MANIFEST = """
[[reward]]
function = "rewards.library:tests_passed"
params = { paid = "share" }
[[reward]]
function = "rewards.library:valid_python"
[[reward]]
function = "rewards.library:code_block_present"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rewardset.toml").write_text(MANIFEST)
    row = {"prompt": "Write add.", "tests": TESTS, "entry_point": "add"}
    samples = [
        {"completion": ADD, "label": "right"},
        {"completion": WRONG, "label": "wrong"},
        {"completion": fenced("import os\nos._exit(0)"), "label": "hack"},
        {"completion": "no program", "label": "wrong"},
    ]
    (tmp_path / "samples.jsonl").write_text(json.dumps({**row, "samples": samples}) + "\n")
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
def test_scores_come_through_the_boundary(project: Path, jobs: int) -> None:
    table = score(str(project), read_samples([project / "samples.jsonl"]), jobs=jobs)
    assert table.scores.tolist() == [[1.0, 1.0, 1.0], [0.5, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert table.extra["tests passed"] == ["2/2", "1/2", "0/2", "0/0"]
    assert set(table.extra["sandbox"][:3]) == {Sandbox().level().value}


def test_a_worker_that_is_killed_takes_its_sandbox_along(project: Path) -> None:
    from tests.rewards.sandbox.test_sandbox import processes_of

    with (
        Runner() as runner,
        runner.worker(project, read_samples([project / "samples.jsonl"]).batch()) as worker,
    ):
        worker.call("tests_passed")
        session = worker.run("tests.rewards.library.test_code:session_of_the_sandbox")
        assert processes_of(session)
        worker.kill()
    assert processes_of(session) == []


def session_of_the_sandbox(context: Any) -> int:
    """Run in a worker: the process of its pool."""
    box = code._sandbox("landlock", (), "")
    assert isinstance(box, Sandbox)
    with box.server("candidate") as server:
        return server.process.pid


# ------------------------------------------------------------------------------------ blocks and syntax

BLOCKS = {
    "```python\nx = 1\n```": 1.0,
    "~~~py\nx = 1\n~~~": 1.0,
    "```python title=\"a\"\nx = 1\n```": 1.0,
    "```\nx = 1\n```": 0.0,
    "```python\n\n```": 0.0,
    "```python\nx = 1": 0.0,
    "```json\n{}\n```": 0.0,
    "<think>```python\nx = 1\n```</think> done": 0.0,
    "x = 1": 0.0,
}  # fmt: skip


@pytest.mark.parametrize("text", BLOCKS)
def test_a_block_of_python_is_there_or_not(text: str) -> None:
    assert code.code_block_present([text]) == [BLOCKS[text]]


SYNTAX = {
    "```python\ndef f():\n    return 1\n```": 1.0,
    "```python\ndef f():\nreturn 1\n```": 0.0,
    "```python\nreturn 1\n```": 0.0,
    "```python\n# nothing\n```": 0.0,
    "```python\n'only text'\n```": 0.0,
    "```python\nx = '\\d'\n```": 1.0,
    "```python\nx = 1\x00\n```": 0.0,
    "```python\n" + "(" * 500 + ")" * 500 + "\n```": 0.0,
    "```python\n" + "-" * 100_000 + "1\n```": 0.0,
    "```python\n" + "x = 1\n" * 40_000 + "```": 0.0,
    "The answer is 7": 0.0,
    "7": 0.0,
    "print(7)": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: text[:40])
def test_syntax_is_valid_or_not(text: str) -> None:
    assert code.valid_python([text]) == [SYNTAX[text]]


def test_a_program_is_never_run_for_its_syntax(tmp_path: Path) -> None:
    path = tmp_path / "made"
    assert code.valid_python([fenced(f"open({str(path)!r}, 'w')")]) == [1.0]
    assert not path.exists()


def test_score_says_at_which_level_programs_ran(project: Path) -> None:
    from workbench.reports.score_report import isolation_notes

    samples = read_samples([project / "samples.jsonl"])
    level = Sandbox().level().value
    assert isolation_notes(score(str(project), samples)) == [
        f"model-written code ran at the isolation level {level}"
    ]
    assert isolation_notes(score(str(project), samples, only=["valid_python"])) == []
