from __future__ import annotations

from typing import Any

from workbench.app.view.credits import credits_view

TEXT = "<answer>2</answer>"


def credit(**facts: Any) -> dict[str, Any]:
    return {
        "name": "tag",
        "points": 0.5,
        "of": 1.0,
        "line": 1,
        "condition": None,
        "value": None,
        "spans": [],
    } | facts


def explained(*credits: dict[str, Any], **facts: Any) -> dict[str, Any]:
    reward = {"name": "shaped", "score": 0.5, "credits": list(credits), "lines": [], "exact": True} | facts
    return {"row": 3, "rewards": [reward]}


def test_credits_are_numbered_and_the_pieces_refer_to_them() -> None:
    found = credits_view(explained(credit(spans=[[0, 8]]), credit(name="end", spans=[[9, 18]])), TEXT)
    assert [each["number"] for each in found["rewards"][0]["credits"]] == [0, 1]
    assert found["pieces"] == [("<answer>", [0]), ("2", []), ("</answer>", [1])]


def test_only_paid_credits_with_a_place_take_a_colour() -> None:
    found = credits_view(
        explained(
            credit(), credit(points=0.0, spans=[[0, 1]]), credit(spans=[[0, 1]]), credit(spans=[[1, 2]])
        ),
        TEXT,
    )
    assert [each["colour"] for each in found["rewards"][0]["credits"]] == [None, None, 0, 1]


def test_lines_carry_their_code_and_values() -> None:
    line = {"line": 2, "hits": 3, "values": {"score": "0.25"}}
    sources, files = {"rewards.py": "a\n    score += 1"}, {"shaped": "rewards.py"}
    found = credits_view(explained(lines=[line, {"line": 99, "hits": 1}]), TEXT, sources, files)
    first, second = found["rewards"][0]["lines"]
    assert first == {"line": 2, "hits": 3, "code": "score += 1", "values": [["score", "0.25"]]}
    assert second["code"] == ""


def test_scores_that_are_no_numbers_pass_as_they_are() -> None:
    rewards = [
        credits_view(explained(score=score), TEXT)["rewards"][0]["score"] for score in (None, "nan", 1)
    ]
    assert rewards == [None, "nan", 1.0]


def test_what_did_not_pay_is_listed_apart_and_has_its_place() -> None:
    missed = credit(points=0.0, of=-0.25, spans=[[8, 9]], compared=["2", "3"], approximate=True)
    found = credits_view(explained(credit(spans=[[0, 8]]), missed=[missed], notes=["called alone"]), TEXT)
    reward = found["rewards"][0]
    assert (reward["missed"][0]["number"], reward["missed"][0]["colour"]) == (1, None)
    assert reward["missed"][0]["compared"] == ["2", "3"]
    assert found["pieces"][1] == ("2", [1])
    assert reward["notes"] == ["called alone"]
