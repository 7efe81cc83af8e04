"""Mathematical answers: what is the same, what is not, and what is no mathematics."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.contract import Batch, call
from rewards.credits import recording
from rewards.library import maths_equal
from rewards.library.maths import read_reference


def score(text: Any, answer: Any, **options: Any) -> float | None:
    return maths_equal([text], answer=[answer], **options)[0]


def paid(found: str, gold: str) -> bool:
    """Whether `found` is paid for `gold`, both in boxes."""
    return score(rf"\boxed{{{found}}}", rf"\boxed{{{gold}}}") == 1.0


SAME = {
    "fractions": [r"\frac{5}{4}", "5/4", "1.25", "1 1/4", r"1\frac{1}{4}", r"\dfrac54", r"\frac{10}{8}", "125%"],
    "roots": [r"2\sqrt{2}", r"\sqrt{8}", "2√2", "2*sqrt(2)", r"2^{3/2}", r"\frac{4}{\sqrt 2}"],
    "large numbers": ["1234567", "1,234,567", r"1{,}234{,}567", r"1\,234\,567", r"\$1,234,567", "1234567.0"],
    "tiny numbers": ["7.2e-10", r"7.2\times10^{-10}", "0.00000000072", r"7.2 \cdot 10^{-10}"],
    "signs": ["-7", "−7", "–7", "- 7", r"-\frac{14}{2}", "x = -7"],
    "percent": ["28%", r"28\%", "28 percent", "28 pct"],
    "two answers": ["x = 2 or x = -3", "-3, 2", "2 and -3", r"\{2, -3\}", r"2,\quad -3", r"x=2 \text{ or } x=-3"],
    "plus-minus": [r"\pm 3", "±3", "3, -3", "-3 or 3", r"x = \pm\sqrt{9}"],
    "roots of an equation": [r"\frac{1 \pm \sqrt{5}}{2}", r"\frac{1-\sqrt5}{2}, \frac{1+\sqrt5}{2}"],
    "inequalities": ["x < 3", r"(-\infty, 3)", "3 > x", r"x \in (-\infty, 3)", "2x - 6 < 0", r"x \lt 3"],
    "intervals": ["[-2, 7)", r"-2 \le x < 7", r"x \in [-2,7)", r"\left[-2, 7\right)", "7 > x >= -2"],
    "all but one": [r"x \ne 4", r"(-\infty, 4) \cup (4, \infty)", "x != 4"],
    "points": [r"(3, \frac{\pi}{2})", r"\left( 3, \frac{π}{2} \right)", r"(x, y) = (3, \pi/2)"],
    "lines": ["y = 2x + 1", "2x - y + 1 = 0", "4x - 2y = -2", "y - 1 = 2x"],
    "expressions": ["(a+b)^2", "a^2 + 2ab + b^2", r"a^{2}+b^{2}+2ba", "(a+b)(b+a)"],
    "functions": [r"\sin^2 t + t", r"t + 1 - \cos^2(t)", r"t+\frac{1-\cos 2t}{2}"],
    "logarithms": [r"\ln 8", r"3\ln(2)", r"\log 8"],
    "matrices": [r"\begin{pmatrix}1 & \frac12\\0 & 4\end{pmatrix}", r"\begin{bmatrix} 1&0.5\\ 0&4 \end{bmatrix}"],
    "units": [r"15\text{ cm}^2", r"15\,\mathrm{cm}^{2}", "15 cm^2"],
    "degrees": [r"90^\circ", "90°", r"90^{\circ}", "90 degrees"],
    "complex numbers": [r"1+\sqrt{3}i", r"1 + i\sqrt3", r"2e^{i\pi/3}"],
    "words": [r"\text{odd}", "odd", r"\text{Odd}"],
    "derivatives": [r"I\frac{d\omega}{dt}+2B\omega=T", r"I\frac{d\omega}{dt}=T-2B\omega"],
    "indices": ["x_1 + E_{1}", r"E_1+x_{1}"],
    "repeating decimals": [r"0.1\overline{6}", r"\frac16", "0.1666666667"],
    "things counted": [r"7 \text{ apples and } 8 \text{ pears}", "7, 8", "7 and 8"],
    "other bases": ["2516_8", "2516_{8}", r"2516_{\text{8}}"],
    "double backslashes": [r"\\frac{1}{2}", r"\frac{1}{2}"],
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME)
def test_what_is_the_same_is_paid_whichever_stands_in_the_reference(kind: str) -> None:
    forms = SAME[kind]
    assert [(gold, found) for gold in forms for found in forms if not paid(found, gold)] == []


DIFFERENT = [
    ("1/2", "1 1/4"), ("5/4", "1/4"), ("7", "-7"), ("7", "8"), ("7", "70"), ("7", "7.1"), ("1000000", "1000001"),
    ("7.2e-10", "0"), ("7.2e-10", "7.3e-10"), ("0", "0.0000001"), ("3.14159", "3.14"), ("1/3", "0.33"),
    ("16386.16", "16386.169"), ("x = 2 or x = -3", "2"), ("x = 2 or x = -3", "2, 3"), ("1331 and 1728", "1728"),
    ("2", "2 or 3"), (r"\pm 2021", "2021"), ("2021", r"\pm 2021"), ("(1, 2)", "(2, 1)"), ("(1, 2)", "[1, 2]"),
    (r"[1, \infty)", r"(1, \infty)"), ("x < 3", r"x \le 3"), ("x < 3", "x > 3"), ("x < 3", "y < 3"), ("x < 3", "3"),
    ("3x - y + 13 = 0", "0"), ("3x - y + 13 = 0", "3x + 4y + 14 = 0"), ("2x + z = 1", "1"), ("7 = 11a + c",
    "11a + c"),
    ("(a+b)^2", "a^2+b^2"), ("|x|", "x"), (r"\sqrt{x^2}", "x"), ("5m", "5"), ("2x", "2"), ("xy", "x"), ("x", "y"),
    (r"f(2) < f(1) < f(4)", r"f(1) < f(2) < f(4)"), (r"\text{odd}", r"\text{even}"), ("C", "B"), ("d", r"\text{E}"),
    (r"5\text{ feet}", r"5\text{ meters}"), ("x = 2, y = 3", "x = 3, y = 2"), ("x = 2, y = 3", "3, 2"),
    ("x = 1", "y = 1"),
    (r"\frac{37}{4}m", r"\frac{37}{4m}"), (r"e^{\pi\sqrt{163}}", "262537412640768744"), ("12:00", "1:00"),
    (r"\begin{pmatrix}1&2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"), ("100", "2 + 2 = 100"),
    ("1,2,3", "1,2"),
    ("1,2", "1,2,3"), (r"\frac{dx}{dt}", r"\frac{x}{t}"), ("X - x", "x - X"), (r"\{1, 2\}", "(1, 2)"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "found"), DIFFERENT)
def test_near_misses_are_not_paid(gold: str, found: str) -> None:
    assert not paid(found, gold)


@pytest.mark.parametrize(
    ("gold", "found"),
    [("1/3", "0.333333"), ("2/3", "0.6666666667"), (r"\pi", "3.14159265"), (r"\sqrt2", "1.414214"), ("0.3",
    "0.30000000000000004")],
)  # fmt: skip
def test_six_digits_may_be_a_rounding(gold: str, found: str) -> None:
    assert paid(found, gold)


@pytest.mark.parametrize("found", ["28", r"28\%", "0.28", "28/100"])
def test_a_percent_sign_may_be_left_out_or_reckoned_in(found: str) -> None:
    assert paid(found, r"28\%")


@pytest.mark.parametrize(
    "gold",
    ["see the figure", "C", "n", "", "  ", None, True, float("nan"), [], ["1",
    "2"], {"a": 1}, "Answer is forty three.",
     "One floor for the first climber, five times as much for the second.", r"\frac{}{2}", r"$+^{2}+b$",
     "f()=", "3 4"],
)  # fmt: skip
def test_what_cannot_be_read_is_not_scored_and_that_is_said(gold: Any) -> None:
    with recording(1) as record:
        assert score(r"\boxed{5}", gold) is None
    (said,) = record.credits
    assert (said.name, said.points) == ("not scored", 0.0)
    assert said.note is not None
    assert score("", gold) is None


def test_the_share_of_unread_references_is_logged() -> None:
    batch = Batch(["q"] * 4, [r"\boxed{5}"] * 4, columns={"answer": ["5", "see the figure", None, "6"]})
    assert call(maths_equal, batch).metrics == {"maths_equal/unread_references": [0.5]}
    assert call(maths_equal, batch.rows([0, 3])).metrics == {}


@pytest.mark.parametrize(
    "gold", [5, 5.0, "5", "$5$", r"\boxed{5}", "2 + 3\n#### 5", "The answer is 5.", r"\(5\)", ["5"]]
)
def test_a_reference_may_come_in_many_forms(gold: Any) -> None:
    assert score(r"so it is \boxed{5}", gold) == 1.0
    assert score(r"so it is \boxed{6}", gold) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{2} and \boxed{3}", r"$\boxed{2}$, $\boxed{3}$", r"\(\boxed{2}\) or \(\boxed{3}\).",
        r"\boxed{2} \quad \text{and} \quad \boxed{3}", r"\boxed{2} papers and \boxed{3} bins",
        r"x = \boxed{2}, x = \boxed{3}",
        "Answer: 2 and 3", "The answer is $x = 2$ or $x = 3$.", "<answer>2, 3</answer>",
        "Answer: $2$ and $3$. I hope it helps.",
    ],
)  # fmt: skip
def test_two_answers_may_stand_in_two_places(text: str) -> None:
    assert score(text, "2, 3") == 1.0
    assert score(text, "3") == 0.0


def test_a_draft_in_a_box_is_no_part_of_the_answer() -> None:
    text = r"First try gives \boxed{5}. Correcting: \boxed{7}."
    assert (score(text, "7"), score(text, "5")) == (1.0, 0.0)
    assert score(r"I had \boxed{5}, but it is \boxed{7}", "7") == 1.0


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The answer is 7. That was easy!", 1.0), ("Answer: The area is 7.", 1.0),
        ("The answer is $7$ because of symmetry", 1.0),
        ("Answer: 7 dollars", 1.0), ("The answer is 7. 8. 9.", 0.0), ("The answer is 7 or 8", 0.0),
        ("The answer is not 7", 0.0),
        ("Answer: it is not $7$", 0.0), ("The answer could be 6, 7 or 8.", 0.0), ("Answer: either 6 or it is 7", 0.0),
        ("I cannot say. It is certainly not 7", 0.0), ("6 * 7 = 42", 0.0), ("<think>7</think>", 0.0), ("", 0.0),
    ],
)  # fmt: skip
def test_a_sentence_may_stand_round_an_answer_but_not_two_minds(text: str, right: float) -> None:
    assert score(text, "7") == right


@pytest.mark.parametrize(
    "many", [", ".join(map(str, range(50))), " or ".join(map(str, range(50))), " ".join(map(str, range(50)))]
)
def test_all_candidates_at_once_are_not_paid(many: str) -> None:
    assert not paid(many, "7")
    assert score(many, "7") == 0.0


@pytest.mark.parametrize(
    "found",
    [
        "9^{9^{9^{9}}}", "10000000!", "(10^{9})!", "((10!)!)!", r"2^{10^{9}}", "1e999999999",
        "9" * 900, "9^{9" * 200, r"\frac" * 100,
        r"\sqrt" * 200 + "2", "(" * 400 + "7" + ")" * 400, "-" * 901 + "7", "1/" * 400 + "7", "x^" * 300 + "2",
        "+".join(["\\sin(x^7)"] * 90),
        r"\sum_{k=1}^{10^{9}} k", r"\int_0^{1} \sin(\sin(\sin(x))) e^{x^{2}} dx", r"\binom{10^9}{10^8}",
        r"\sin(10^{4000})", "|" * 900,
        r"\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)} - 4\right)} - 5}{16}",
        "(1+1/3)^{9999}" * 20, "=".join("78" * 100), "{" * 900,
        ",".join(rf"\sqrt{{{n}}}x^{n}" for n in range(60)), r"\gcd(" + "9" * 200 + ", 3)",
        r"\boxed{" * 50 + "8" + "}" * 49,
    ],
)  # fmt: skip
def test_nothing_takes_long_and_none_of_it_is_seven(found: str) -> None:
    start = time.process_time()
    wrong = [score(rf"\boxed{{{found}}}", gold) for gold in ("7", "x = 2 or x = -3", "(1, 2)", r"\sin x + y")]
    assert time.process_time() - start < 6
    assert 1.0 not in wrong


def test_it_works_in_a_thread_and_leaves_none_behind() -> None:
    found: list[float | None] = []
    before = threading.active_count()
    texts = [r"\boxed{\frac{n(n+1)}{2}}", r"\boxed{n}"]
    golds = [r"$\sum_{k=1}^{n} k$", r"$\sum_{k=1}^{n} k$"]
    thread = threading.Thread(target=lambda: found.extend(maths_equal(texts, answer=golds)))
    thread.start()
    thread.join()
    assert found == [1.0, 0.0]
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("gold", "found"),
    [(r"\sum_{k=1}^{4} k", "10"), (r"\int_0^1 x\,dx", r"\frac12"), (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
    (r"\max(3, 4)", "4")],
)  # fmt: skip
def test_what_only_math_verify_reads_is_asked_of_it(gold: str, found: str) -> None:
    assert read_reference(gold) is not None
    assert paid(found, gold)
    assert not paid("7", gold)


def test_the_same_reference_is_read_once() -> None:
    read_reference.__globals__["_read_reference"].cache_clear()
    maths_equal([rf"\boxed{{{n}}}" for n in range(20)], answer=[r"\frac{35}{5}"] * 20)
    assert read_reference.__globals__["_read_reference"].cache_info().misses == 1


def test_an_unknown_form_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"reward 'maths_equal': answer_forms='boxed' must be a list of some of tag"
    ):
        score("7", "7", answer_forms="boxed")


def test_the_last_formula_counts_where_that_is_asked_for() -> None:
    text = "We see that $x = 4$, so the area is $16$ square metres."
    assert score(text, "16", answer_forms=["boxed", "math"]) == 1.0
    assert score(text, "16") == 0.0


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_every_fraction_is_its_decimal_or_lowest_terms(up: int, down: int) -> None:
    assert paid(f"{3 * up}/{3 * down}", rf"\frac{{{up}}}{{{down}}}")
    assert not paid(f"{up + 1}/{down}", rf"\frac{{{up}}}{{{down}}}")


@given(st.text(st.sampled_from("x123+-*/^(){}[],=<>|!.%$ \\fracsqtpinouda_"), max_size=30))
def test_a_readable_reference_repeated_word_for_word_is_paid(text: str) -> None:
    gold = rf"\boxed{{{text}}}"
    assert score(gold, gold) in (1.0, None)


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=4),
    st.lists(st.integers(-20, 20), min_size=1, max_size=4),
)
def test_lists_of_numbers_are_the_same_where_they_are_as_sets(one: list[int], other: list[int]) -> None:
    texts = [", ".join(map(str, numbers)) for numbers in (one, other)]
    assert paid(texts[1], texts[0]) == (set(one) == set(other))
