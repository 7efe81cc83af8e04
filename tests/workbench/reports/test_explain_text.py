"""Explanations as a person reads them."""

from __future__ import annotations

import pytest

from rewards.tracing.explanation import Credit, Line, RewardExplanation
from workbench.explanation import RowExplanation
from workbench.reports.explain_text import marked, number, paid_for, to_text, visible


def row(text: str, *credits: Credit, **more: object) -> RowExplanation:
    score = sum(credit.points for credit in credits)
    reward = RewardExplanation("layout", score, credits, (), True, **more)  # type: ignore[arg-type]
    return RowExplanation(3, "r3", "g", text, (reward,), (2.0,))


OPEN = Credit("<a>", 0.25, 0.25, 7, '"<a>" in text', True, ((0, 3),))
LONG = Credit("trailing", -0.1, None, 9, None, None, ((5, 9),))


def test_score_weight_and_total_stand_at_the_top() -> None:
    text = to_text(row("<a>5 tail", OPEN, LONG))
    assert "row 3  r3  total 0.3" in text
    assert "layout  0.15  x weight 2 = 0.3" in text


def test_every_credit_is_a_line_with_points_limit_place_and_reason() -> None:
    (line,) = [line for line in to_text(row("<a>5 tail", OPEN)).splitlines() if "+0.25" in line]
    assert line.split() == ["+0.25", "0.25", "7", "<a>", '"<a>"', "in", "text", "yes"]


def test_places_are_marked_by_what_they_gave() -> None:
    styles = {(span.start, span.end): str(span.style) for span in marked(row("<a>5 tail", OPEN, LONG)).spans}
    assert styles == {(0, 3): "black on green", (5, 9): "white on red"}


def test_the_middle_of_a_long_text_is_left_out_but_never_a_marked_place() -> None:
    text = "x" * 5_000 + "HERE" + "y" * 5_000
    shown = to_text(row(text, Credit("here", 1.0, 1.0, 1, None, None, ((5_000, 5_004),))))
    assert "HERE" in shown
    assert "characters …]" in shown
    assert len(shown) < 4_000


def test_a_completion_cannot_steer_the_terminal() -> None:
    assert visible("a\x1b[31mb\x07\n\t") == "a\ufffd[31mb\ufffd\n\t"


def test_what_is_not_exact_or_failed_is_said() -> None:
    failed = RewardExplanation("layout", None, (), (), False, error="TypeError: no (r.py:3)")
    partly = RewardExplanation("style", 0.5, (OPEN,), (), False, notes=("of another call",))
    text = to_text(RowExplanation(0, "0", "g", "x", (failed, partly), (1.0, 1.0)))
    assert "layout  failed" in text
    assert "TypeError: no (r.py:3)" in text
    assert "the credits below do not explain all of it" in text
    assert "note: of another call" in text


def test_the_lines_that_ran_stand_where_the_parts_are_not_known() -> None:
    ran = tuple(Line(line, 1, {}) for line in (3, 4, 5, 9))
    lost = RewardExplanation("sum", 0.5, (), ran, False)
    text = to_text(RowExplanation(0, "0", "g", "x", (lost,), (1.0,)))
    assert "its parts are not known" in text
    assert "lines that ran: 3-5, 9" in text


def test_numbers_are_short() -> None:
    assert [number(value) for value in (0.25, 1.0, -0.00012, 2 / 3)] == ["0.25", "1", "-0.0001", "0.6667"]


SAID = "<think>one and one make two, as everybody knows</think> <answer>2</answer>"
TEST = 're.search(r"<answer>.*</answer>", text)'


@pytest.mark.parametrize(
    ("name", "condition", "spans", "shown"),
    [
        (TEST, TEST, ((56, 74),), '"<answer>2</answer>"'),
        (f"{TEST[:20]}…", TEST, ((56, 74),), '"<answer>2</answer>"'),
        ("found", "found", ((0, 55),), '"<think>one and one make two, as…"'),
        (
            "len(text.split()) / 10",
            None,
            ((7, 10), (15, 18), (11, 14), (19, 23), (24, 27)),
            '"one", "and", "make", …',
        ),
        ("<answer>", '"<answer>" in text', ((56, 64),), "<answer>"),
        ("layout", TEST, ((56, 74),), "layout"),
        ("bonus", None, ((56, 74),), "bonus"),
        (TEST, TEST, (), TEST),
    ],
)
def test_words_that_matched_stand_where_code_would_be_repeated(
    name: str, condition: str | None, spans: tuple[tuple[int, int], ...], shown: str
) -> None:
    credit = Credit(name, 1.0, 1.0, 4, condition, True, spans)
    assert paid_for(credit, SAID) == shown


def test_code_that_gave_way_to_words_is_told_as_the_reason() -> None:
    credit = Credit("len(found) / 2", 0.5, None, 4, None, None, ((56, 64),))
    (line,) = [line for line in to_text(row(SAID, credit)).splitlines() if "+0.5" in line]
    assert line.split(maxsplit=2)[2].split("  ")[0] == '"<answer>"'
    assert line.rstrip().endswith("len(found) / 2")


def test_a_long_word_is_cut_with_an_ellipsis() -> None:
    assert paid_for(Credit("a(b)", 1.0, None, 4, None, None, ((0, 60),)), "x" * 60) == f'"{"x" * 39}…"'
