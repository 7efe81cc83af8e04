"""RW704: small changes of the reward's code that no sample notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rewards.errors import UsageError
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.mutants.survivors import SLOWEST_S, Survival, Survivor, survival_of

CHANGES = 40
"""Changes tried, at most: the same ones each time, however fast the machine is."""
SECONDS = 20.0
"""Seconds by the clock after which no further one is tried, which is told."""
LINES = 6
"""Lines named in the sentence, at most."""
ENOUGH = 5
"""Changes that have to be tried for the count to say something."""


class Unpinned(RewardCheck):
    """The samples do not pin the reward down: its code can be changed and no sample scores differently.

    Each change is one slip: `<` for `<=`, another constant, `or` for `and`, a flag of a pattern left out, a condition
    always true. It is made in a copy of the file, and the samples are scored again, in a worker process. At most 40 are
    tried, spread over lines and sorts, the same ones each time; where the time does not do for all of them, that is
    told. A change counts as unnoticed only if a made-up completion shows that it matters, and if no law of the project,
    no declared range and no empty completion that is suddenly paid would tell. That completion is what is missing among
    the samples: add it, labelled or with an expected score, and the next careless edit is found. Lines that no sample
    runs are named too. It says nothing against the reward. `workbench.mutants.survivors.find_survivors` gives all of
    them.

    Example:
        return 1.0 if len(words) < 50 else 0.0        # no sample has exactly 50 words: <= passes as well

    Remedy:
        Add the completion that is shown: `reward-workbench label TARGET --row N --expected NAME=SCORE`.
    """

    code = "RW704"
    name = "unpinned"
    severity = "info"
    summary = "small changes of the code that no sample notices"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding, with the smallest completion that would notice a change."""
        if subject.hung_s is not None:
            raise UsageError("it hangs on samples (RW111), which has to be mended before changes are tried")
        if subject.usable and subject.base.seconds / len(subject.rows) > SLOWEST_S:
            raise UsageError(
                f"a completion takes {subject.base.seconds / len(subject.rows):.1f} s, too long to try changes"
            )
        survival = survival_of(subject, most=CHANGES, seconds=SECONDS)
        if survival is None:
            return
        if survival.cut_short and not survival.survivors:
            raise UsageError(survival.cut_short)
        if survival.tried < ENOUGH or not survival.survivors:
            return
        best = min(
            survival.survivors, key=lambda survivor: (not survivor.reached, len(survivor.witness.text))
        )
        found = self.finding(
            _sentence(survival),
            advice=f"To pin line {best.line}, {best.suggestion}.",
            cause="unpinned",
            reward=subject.name,
            evidence=subject.evidence(
                best.witness.row,
                completion=subject.shaped(best.witness.text),
                got=best.witness.got,
                expected=f"a sample like this: it scores {best.scores[0]}, and {best.scores[1]} with {_change(best)}",
            ),
            line=best.line,
        )
        yield replace(found, lines=tuple(_margin(survival)))


def _sentence(survival: Survival) -> str:
    lines = survival.by_line
    named = [_line(line, lines[line]) for line in list(lines)[:LINES]]
    more = f" and {len(lines) - LINES} more lines" if len(lines) > LINES else ""
    unread = list(survival.unreached)
    unrun = f" No sample runs line{'s' if len(unread) > 1 else ''} {_listed(unread)}." if unread else ""
    stopped = f" It was {survival.cut_short}." if survival.cut_short else ""
    return (
        f"The samples do not pin {survival.reward}: {len(survival.survivors)} of {survival.tried} small changes of its "
        f"code change no sample's score: {', '.join(named)}{more}.{unrun}{stopped}"
    )


def _margin(survival: Survival) -> Iterator[tuple[int, str]]:
    """What the margin of the code says: each survivor at its line, and the lines that no sample runs."""
    lines = survival.by_line
    for line, survivors in lines.items():
        for survivor in survivors:
            yield line, f"{_change(survivor)} changes no sample's score; {survivor.suggestion}"
    for line in survival.unreached:
        if line not in lines:
            yield line, "no sample runs this line"


def _line(line: int, survivors: Sequence[Survivor]) -> str:
    more = f" and {len(survivors) - 1} more" if len(survivors) > 1 else ""
    return f"line {line} ({_change(survivors[0])}{more})"


def _change(survivor: Survivor) -> str:
    return f"{survivor.change.after} for {survivor.change.before}"


def _listed(lines: Sequence[int]) -> str:
    first = ", ".join(map(str, lines[:8]))
    return first + (f" and {len(lines) - 8} more" if len(lines) > 8 else "")
