"""The pytest plugin: a `rewardset.toml` is a file of tests, and rewards can be tested in plain tests.

Every reward and check of a set is an item (`rewardset.toml::correctness::RW104-wrong-length`), which `-k`, markers
(`-m reward_set`), xdist and junit treat like any other. A finding at the set's `fail_on` fails, a waived one is an
expected failure with its reason, lesser ones are told at the end, a check that does not apply is skipped and says why.

    pytest --reward-set sums            the checks of sums/rewardset.toml, also where it would not be collected
    pytest -k "correctness and RW1"     one family of checks on one reward
    reward_sets = false                 (ini) collects no set by itself

For plain tests there are the fixture `check_reward` and the functions `assert_pays` and `assert_ranks`.

This module is loaded by every pytest session of the environment, so it loads nothing itself: checks run in a process of
their own (`workbench.checks.serving`), and what the fixture needs is imported when it is used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MANIFEST = "rewardset.toml"
OPTION = "--reward-set"
QUICK_OPTION = "--reward-quick"
INI = "reward_sets"
MARKER = "reward_set"
PROPERTY = "reward_finding"
"""User property of an item under which lesser findings travel to the terminal."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our options, in a group of their own."""
    group = parser.getgroup("reward-workbench", "checks of reward sets")
    group.addoption(
        OPTION,
        action="append",
        default=[],
        dest="reward_set",
        metavar="DIR",
        help=f"Check the reward set in DIR ({MANIFEST}); may be repeated.",
    )
    group.addoption(
        QUICK_OPTION, action="store_true", dest="reward_quick", help="Leave out checks that take long."
    )
    parser.addini(INI, f"Collect {MANIFEST} files that are met (default: true).", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and add the sets that were asked for to what is collected."""
    config.addinivalue_line("markers", f"{MARKER}: a check of a reward set (from {MANIFEST})")
    wanted = config.getoption("reward_set")
    if not wanted or hasattr(config, "workerinput"):  # xdist's workers get the arguments of the first process
        return
    files = [_manifest(folder, config.invocation_params.dir) for folder in wanted]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    config.args += [str(file) for file in files]
    config.args_source = pytest.Config.ArgsSource.ARGS


def _manifest(folder: str, start: Path) -> Path:
    path = start / folder
    file = path if path.name == MANIFEST else path / MANIFEST
    if not file.is_file():
        raise pytest.UsageError(f"{OPTION} {folder}: there is no {MANIFEST}")
    return file


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A `rewardset.toml` as a collector."""
    if file_path.name != MANIFEST:
        return None
    if not parent.config.getini(INI) and not parent.session.isinitpath(file_path):
        return None
    from workbench.pytest_items import RewardSetFile

    return RewardSetFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What checks found below the level that fails."""
    told = [
        (report.nodeid, value)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY
    ]
    if not told:
        return
    terminalreporter.section("reward findings that do not fail", sep="=")
    for nodeid, text in told:
        terminalreporter.write_line(nodeid)
        terminalreporter.write_line(text)


@contextlib.contextmanager
def _asserting() -> Iterator[Any]:
    """The functions behind those below, loaded when they are used; a test may have a `rewards` of its own."""
    __tracebackhide__ = True
    from workbench.namesake import own_rewards

    with own_rewards():
        from workbench import asserting

        yield asserting


@pytest.fixture
def check_reward() -> Callable[..., Any]:
    """`check_reward(function, samples=...)`: fails the test if a check finds something.

    Args of the function it gives: see `workbench.asserting.check_reward`.
    """

    def check(function: Any, samples: Any = None, **options: Any) -> Any:
        __tracebackhide__ = True
        with _asserting() as asserting:
            return asserting.check_reward(function, samples, **options)

    return check


def assert_pays(function: Any, completion: Any, score: float | None = None, **options: Any) -> None:
    """Fail unless a reward gives a completion this score; see `workbench.asserting.assert_pays`."""
    __tracebackhide__ = True
    with _asserting() as asserting:
        asserting.assert_pays(function, completion, score, **options)


def assert_ranks(function: Any, completions: Sequence[Any], **options: Any) -> None:
    """Fail unless a reward pays completions in falling order; see `workbench.asserting.assert_ranks`."""
    __tracebackhide__ = True
    with _asserting() as asserting:
        asserting.assert_ranks(function, completions, **options)
