"""Every fault of the library that the guide ships is found, each by a check that names it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.checks.report import Report
from workbench.checks.runner import run_checks
from workbench.samples import read_samples

LIBRARY = Path(__file__).resolve().parents[3] / "fixtures" / "guide_library"
KINDS: dict[str, tuple[str, float, float]] = {
    "exact_match_reward": ("correctness", 0, 2),
    "fuzzy_match_reward": ("correctness", 0, 1),
    "numeric_reward": ("correctness", 0, 2),
    "code_execution_reward": ("correctness", 0, 2),
    "strict_xml_reward": ("format", 0, 0.5),
    "soft_xml_reward": ("format", 0, 0.5),
    "json_reward": ("format", 0, 0.5),
    "incremental_xml_reward": ("format", 0, 0.5),
    "ideal_length_reward": ("length", 0, 0.3),
    "connectives_reward": ("style", 0, 0.3),
    "citation_reward": ("style", 0, 0.2),
    "repetition_reward": ("style", -0.3, 0),
}
ASKED = [json.loads(line) for line in (LIBRARY / "samples.jsonl").read_text().splitlines()]
PROGRAMS = [row for row in ASKED if row["test_cases"]]
ORDERS = [
    {
        "prompt": [{"role": "user", "content": f"Give the order of {n} {what} as JSON."}],
        "samples": [
            {"completion": json.dumps({"item": what, "number": n}), "label": "right"},
            {"completion": json.dumps({"number": n, "item": what}), "label": "right"},
            {"completion": f"{n} {what}", "label": "wrong"},
        ],
    }
    for n, what in ((2, "chairs"), (5, "lamps"), (1, "table"))
]
TAGGED = [{**row, "tags": ["maths"]} for row in ASKED]

FAULTS: list[tuple[str, str, str, list[dict[str, Any]]]] = [
    ("exact_match_reward", "no tags and an empty ground truth", "RW409", ASKED),
    ("exact_match_reward", "only the first of several answer blocks is read", "RW310", ASKED),
    ("fuzzy_match_reward", "no tags and an empty ground truth", "RW409", ASKED),
    ("fuzzy_match_reward", "a wrong near miss earns much", "RW318", ASKED),
    ("fuzzy_match_reward", "a long wrong answer outscores a short right one", "RW701", ASKED),
    ("numeric_reward", "a relative tolerance leaves none around 0", "RW410", ASKED),
    ("numeric_reward", "a bare except turns an unreadable ground truth into a zero", "RW401", ASKED),
    ("code_execution_reward", "each program gets the tests of the whole batch", "RW204", ASKED),
    ("code_execution_reward", "plain exec in the trainer's process", "RW319", PROGRAMS),
    ("code_execution_reward", "a row without tests passes", "RW409", PROGRAMS),
    ("code_execution_reward", "a fence marked py is not seen", "RW402", PROGRAMS),
    ("strict_xml_reward", "demands a final line end", "RW208", ASKED),
    ("soft_xml_reward", "the layout may stand anywhere, its blocks empty", "RW302", ASKED),
    ("json_reward", "pays NaN, a number, null and an empty object", "RW302", ORDERS),
    ("json_reward", "refuses JSON in a fence", "RW402", ORDERS),
    ("incremental_xml_reward", "tags count in any order and without content", "RW302", ASKED),
    ("incremental_xml_reward", "nothing stops the penalty for what follows", "RW214", ASKED),
    ("incremental_xml_reward", "a column named tags replaces the argument", "RW127", TAGGED),
    ("ideal_length_reward", "counts words and calls them tokens", "RW215", ASKED),
    ("connectives_reward", "found inside other words", "RW320", ASKED),
    ("connectives_reward", "a list of connectives pays", "RW312", ASKED),
    ("citation_reward", "misses a capital at the start of a sentence", "RW411", ASKED),
    ("repetition_reward", "texts under three words are penalised", "RW216", ASKED),
]
"""Function, fault, the check that names it, and the samples that it is checked with."""

Check = Callable[[str, str, list[dict[str, Any]]], Report]


@pytest.fixture
def check(tmp_path: Path, runner: Any) -> Check:
    """The report of one check on one function of the library."""

    def run(function: str, code: str, rows: list[dict[str, Any]]) -> Report:
        (tmp_path / "library.py").write_text((LIBRARY / "library.py").read_text())
        kind, low, high = KINDS[function]
        (tmp_path / "rewardset.toml").write_text(
            f'[[reward]]\nfunction = "library.py::{function}"\nkind = "{kind}"\nrange = [{low}, {high}]\n'
        )
        samples = tmp_path / "samples.jsonl"
        samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return run_checks(str(tmp_path), read_samples([samples]), select=[code], runner=runner)

    return run


@pytest.mark.parametrize(
    ("function", "fault", "code", "rows"), [pytest.param(*f, id=f"{f[0]}-{f[2]}") for f in FAULTS]
)
def test_fault_of_the_library_is_found_by_a_check_that_names_it(function, fault, code, rows, check):
    found = [finding for finding in check(function, code, rows).all_findings if finding.check == code]
    assert found, f"{code} does not find in {function}: {fault}"
    assert found[0].evidence.completion is not None


def test_every_fault_that_the_fixture_lists_is_in_the_table():
    listed = [json.loads(line) for line in (LIBRARY / "faults.jsonl").read_text().splitlines()]
    told = {(function, fault) for function, fault, _, _ in FAULTS}
    missing = [
        (row["function"], row["fault"])
        for row in listed
        if not any(function == row["function"] and row["fault"].startswith(fault) for function, fault in told)
    ]
    assert missing == []
