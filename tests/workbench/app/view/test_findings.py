from __future__ import annotations

from typing import Any

from workbench.app.view.findings import finding_card, findings_view, margin_view


def finding(**facts: Any) -> dict[str, Any]:
    return {
        "check": "RW301", "name": "empty-paid", "severity": "error", "reward": "r", "message": "m", "advice": "a",
        "line": 3, "count": 2, "evidence": {}, **facts,
    }  # fmt: skip


def test_a_card_shows_the_text_that_is_judged_and_what_came_of_it() -> None:
    chat = [{"role": "assistant", "content": "<b>x</b>"}]
    card = finding_card(
        finding(evidence={"completion": chat, "prompt": "p", "columns": {"answer": 2}, "got": 1.0}), 4
    )
    assert (card["number"], card["text"], card["got"], card["expected"]) == (4, "<b>x</b>", "1", None)
    assert (card["prompt"], card["columns"], card["likely"]) == ([["prompt", "p"]], [["answer", "2"]], "hack")


def test_a_finding_without_a_completion_has_none_to_open() -> None:
    assert finding_card(finding(check="RW101"), 0)["text"] is None
    assert finding_card(finding(evidence={"completion": ""}), 0)["text"] == ""


def test_a_scoreboard_becomes_a_table() -> None:
    got = [{"strategy": "filler", "share": 0.4, "low": 0.1, "high": 0.7}]
    assert finding_card(finding(evidence={"got": got}), 0)["table"] == [["filler", 0.4, 0.1, 0.7]]


def test_waived_findings_do_not_count_and_reasons_are_told_once() -> None:
    result = {
        "verdict": "pass", "strength": "weak", "fail_on": "error", "quick": True, "seconds": 1.0, "rows": 6, "right": 0,
        "wrong": 0, "rewards": ["r"], "ran": ["RW101"], "findings": [finding(waived="meant"), finding(severity="info")],
        "held_back": ["2 checks of right held back"],
        "skipped": [{"check": "RW501", "why": "quick"}, {"check": "RW502", "why": "quick"}],
    }  # fmt: skip
    view = findings_view(result)
    assert view["counts"] == {"error": 0, "warning": 0, "info": 1}
    assert view["held_back"] == ["2 checks of right held back"]
    assert (view["waived"], view["skipped"]) == (1, [["quick", ["RW501", "RW502"]]])


def test_the_margin_has_every_survivor_and_the_line_of_other_findings_but_no_waived_ones() -> None:
    found = [
        finding(check="RW704", lines=[[9, "<= for <"], [4, "no sample runs this line"]]),
        finding(lines=[], message="paid"),
        finding(waived="meant"),
        finding(line=None),
    ]
    view = margin_view(found, {"r": "rewards.py"})
    assert [(each["line"], each["kind"], each["text"]) for each in view] == [
        (3, "found", "paid"), (4, "unpinned", "no sample runs this line"), (9, "unpinned", "<= for <"),
    ]  # fmt: skip
    assert view[0]["file"] == "rewards.py"
