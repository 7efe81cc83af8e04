"""Faults of rewards that were reported in public: found on ordinary samples, without the row that showed them."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.checks.runner import run_checks
from workbench.samples import read_samples

FILE = Path(__file__).resolve().parents[3] / "fixtures" / "cases" / "public-cases.jsonl"
CASES: dict[int, dict[str, Any]] = {
    case["id"]: case for case in map(json.loads, FILE.read_text("utf-8").splitlines())
}
Rows = list[dict[str, Any]]


def asked(prompt: str, *completions: tuple[str, str], **columns: Any) -> dict[str, Any]:
    """A task file's row."""
    samples = [{"completion": text, "label": label} for text, label in completions]
    return {"prompt": prompt, **columns, "samples": samples}


def numbers(*golds: str) -> Rows:
    """Rows whose right completion ends with the number."""
    return [
        asked(
            f"Question {place}",
            (f"So it is {gold}", "right"),
            (f"Then it is {int(gold) + 40}", "wrong"),
            ("I cannot say", "wrong"),
            answer=gold,
        )
        for place, gold in enumerate(golds)
    ]


WORDS = [
    asked(f"Which breed is dog {name}?", (name, "right"), (other, "wrong"), ("unknown", "wrong"), answer=name)
    for name, other in (("Beagle", "Poodle"), ("Poodle", "Husky"), ("Husky", "Beagle"))
]
LAYOUTS = [
    asked(
        f"Sum {n}",
        (f"<{tag}>add\nthen check</{tag}>\n<answer>{n}</answer>", "right"),
        (f"<{tag}>add</{tag}>\n<answer>{n}</answer>", "right"),
        (f"It is {n}", "wrong"),
        (f"<answer>{n}</answer>", "wrong"),
    )
    for n in (7, 9, 12)
    for tag in ("TAG",)
]
STEPS = [
    asked(
        f"Explain {what}",
        ("1. look\n2. think\n3. write", "right"),
        ("First, look.\nNext, think.\nFinally, write.", "right"),
        ("no steps", "wrong"),
    )
    for what in ("chess", "tea", "rain")
]
LONG = [
    asked(f"Name {what}", ("7" * 24, "right"), ("7" * 256, "wrong"), ("7" * 400, "wrong"))
    for what in ("one", "two", "three")
]
SCHEDULE = [
    asked(f"Is it {ok}?", ("x" * 100, "right" if ok else "wrong"), ("x" * 900, "partial"), correct=ok)
    for ok in (True, False)
]


def tagged(tag: str) -> Rows:
    """The layouts with a tag of that name for the thoughts."""
    return json.loads(json.dumps(LAYOUTS).replace("TAG", tag))  # type: ignore[no-any-return]


CAUGHT: dict[int, tuple[str, Rows, set[str], str]] = {
    3: ("last_number", numbers("-3", "5", "-12", "40"), {"RW401", "RW403"}, 'kind = "correctness"'),
    4: ("last_amount", numbers("72", "15", "1200"), {"RW402"}, 'kind = "correctness"'),
    12: ("contains_gold", numbers("1", "21", "305"), {"RW403", "RW308", "RW309"}, 'kind = "correctness"'),
    13: ("fmt", tagged("reasoning"), {"RW402"}, 'kind = "format"'),
    16: ("fmt", tagged("think"), {"RW304"}, 'kind = "format"'),
    17: ("steps", STEPS, {"RW312"}, 'kind = "format"'),
    18: ("either_way", WORDS, {"RW301", "RW403"}, 'kind = "correctness"'),
    19: ("near_20", LONG, {"RW107"}, 'kind = "length"\nrange = [-100.0, 0.0]'),
    20: ("cosine", SCHEDULE, {"RW217"}, 'kind = "correctness"\nrange = [-1.0, 1.0]'),
    29: ("reward", LONG, {"RW101"}, ""),
    30: ("reward_funcs", LONG, {"RW116"}, ""),
    40: ("hang", LONG[:1], {"RW111"}, "timeout_s = 1.0"),
}
"""By case: the reward, ordinary samples, the checks that may name its fault, and what its author declares."""


@pytest.mark.parametrize("case", sorted(CAUGHT))
def test_fault_of_a_public_case_is_found(case, tmp_path, runner):
    name, rows, codes, declared = CAUGHT[case]
    source = CASES[case]["inputs"]["reward_code"]
    functions = [name]
    if case == 30:
        source = source.replace(
            "reward_funcs = [Scaled(1.0), Scaled(5.0)]", "one, two = Scaled(1.0), Scaled(5.0)"
        )
        functions = ["one", "two"]
    (tmp_path / "rewards.py").write_text(source)
    (tmp_path / "rewardset.toml").write_text(
        "".join(f'[[reward]]\nfunction = "rewards.py::{function}"\n{declared}\n' for function in functions)
    )
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = run_checks(str(tmp_path), read_samples([tmp_path / "s.jsonl"]), runner=runner)
    loud = {code for finding in report.all_findings if finding.at_least("warning") for code in finding.checks}
    assert loud & codes, f"case {case} ({CASES[case]['kind']}): found {sorted(loud)}"


def test_cases_with_a_reward_of_their_own_are_all_in_the_table():
    with_code = {number for number, case in CASES.items() if case["inputs"].get("reward_code")}
    assert with_code - set(CAUGHT) == {32}  # an async call on a class is right, and awaited: see below
    assert len(CAUGHT) == 12


def test_async_class_of_a_public_case_is_awaited_and_left_alone(tmp_path, runner):
    (tmp_path / "rewards.py").write_text(CASES[32]["inputs"]["reward_code"])
    samples = tmp_path / "s.jsonl"
    samples.write_text("".join(json.dumps({"prompt": "p", "completion": text}) + "\n" for text in "ab"))
    target = f"{tmp_path / 'rewards.py'}::reward"
    report = run_checks(target, read_samples([samples]), select=["RW118", "RW119", "RW105"], runner=runner)
    assert report.all_findings == []
