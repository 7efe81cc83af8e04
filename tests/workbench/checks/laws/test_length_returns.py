"""RW217: a schedule over the length that comes back, and ones that are held or only fall."""

import pytest

SCHEDULE = """
import math

def reward(completions, **kwargs):
    lengths = [HELD for text in (c[-1]["content"] for c in completions)]
    return [0.5 * (1 + math.cos(math.pi * length / 100)) for length in lengths]
"""


@pytest.mark.parametrize(("held", "found"), [("len(text)", True), ("min(100, len(text))", False)])
def test_cosine_that_is_not_held_at_its_end(check, held, found):
    findings = check(SCHEDULE.replace("HELD", held), "RW217")
    assert [(f.check, f.severity) for f in findings] == [("RW217", "warning")] * found
    if found:
        assert "falls with the length and rises again" in findings[0].message
        assert findings[0].evidence.completion is not None


def test_pay_that_only_falls_is_left_alone(check):
    source = """
    def reward(completions, **kwargs):
        return [1 / (1 + len(c[-1]["content"])) for c in completions]
    """
    assert check(source, "RW217") == []
