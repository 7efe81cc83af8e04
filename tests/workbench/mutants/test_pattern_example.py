import re

import pytest

from workbench.mutants.pattern_example import example_of


@pytest.mark.parametrize(
    "pattern",
    [
        r"^<a>.*?</a>$",
        r"####\s*(-?[\d,]+)",
        r"\\boxed\{([^{}]*)\}",
        r"(['\"])x\1",
        r"(?i)\baccording to\b",
        r"[^<]{3,5}",
    ],
)
def test_example_is_matched_by_its_pattern(pattern):
    text = example_of(pattern)
    assert text is not None
    assert re.search(pattern, text)


def test_filler_stands_where_any_text_may_stand():
    assert example_of("<a>.*</a>", re.DOTALL, filler="a\nb") == "<a>a\nb</a>"
    assert example_of("<a>.*</a>", filler="a\nb") is None


def test_pattern_that_nothing_matches_has_no_example():
    assert example_of("a(?!a)(?=a)b") is None
    assert example_of("(") is None
