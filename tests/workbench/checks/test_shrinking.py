from hypothesis import given
from hypothesis import strategies as st

from workbench.checks.shrinking import shrink_text


def test_text_shrinks_to_the_part_that_matters():
    assert shrink_text("a long text with one bad word and more", lambda text: "bad" in text) == "bad"


def test_two_parts_that_are_needed_both_stay():
    assert shrink_text("x1yyyy2z", lambda text: "1" in text and "2" in text) == "12"


def test_text_of_which_nothing_may_go_stays():
    assert shrink_text("abc", lambda text: text == "abc") == "abc"


@given(st.text(max_size=60), st.text(min_size=1, max_size=3))
def test_what_is_left_still_fails_and_is_never_longer(text, needle):
    whole = text + needle + text
    small = shrink_text(whole, lambda candidate: needle in candidate)
    assert needle in small
    assert len(small) <= len(whole)
