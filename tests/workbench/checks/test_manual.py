import ast
import inspect
import textwrap

import pytest

from workbench.checks.manual import listing, manual, page
from workbench.checks.selection import CHECKS


@pytest.mark.parametrize("code", sorted(CHECKS))
def test_every_page_says_what_why_example_and_remedy(code):
    text = inspect.cleandoc(CHECKS[code].__doc__ or "")
    first, _, rest = text.partition("\n\n")
    assert first.endswith(".")
    assert len(first.split("\n")) <= 2
    assert "\nExample:\n" in rest
    assert "\nRemedy:\n" in rest
    assert len(rest.partition("\nExample:\n")[0].split()) >= 25
    assert page(CHECKS[code]).startswith(f"{code} {CHECKS[code].name} (")


def test_manual_has_a_section_for_every_check_and_closed_code_blocks():
    text = manual()
    assert [line.split()[1] for line in text.split("\n") if line.startswith("### ")] == sorted(CHECKS)
    assert text.count("```") % 2 == 0


def test_listing_has_a_line_for_every_check():
    assert [line.split()[0] for line in listing().splitlines()] == sorted(CHECKS)


def test_most_examples_are_python():
    parsed = 0
    for check in CHECKS.values():
        example = textwrap.dedent((check.__doc__ or "").partition("Example:\n")[2].partition("Remedy:")[0])
        try:
            ast.parse("def f():\n" + textwrap.indent(example, "    "))
            parsed += 1
        except SyntaxError:
            pass
    assert parsed >= 0.6 * len(CHECKS)
