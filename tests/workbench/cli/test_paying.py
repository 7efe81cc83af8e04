import io
import sys

import pytest

from workbench.cli.paying import permission


@pytest.fixture(autouse=True)
def no_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())


def test_calls_are_made_with_the_option_and_their_number_is_told(capsys):
    assert permission(True)("judge", 24, 176)
    assert capsys.readouterr().err == "judge is paid for: 24 completions to judge, 176 are recorded\n"


def test_calls_are_never_made_in_ci_whatever_the_option(monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    assert not permission(True)("judge", 24, 0)
    assert "paid calls are never made in CI" in capsys.readouterr().err


def test_nobody_at_the_terminal_means_no(capsys):
    assert not permission(False)("judge", 24, 0)
    assert "--pay makes the calls and records the answers" in capsys.readouterr().err


@pytest.mark.parametrize(("said", "made"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_person_is_asked(monkeypatch, said, made):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(said))
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert permission(False)("judge", 24, 0) is made
