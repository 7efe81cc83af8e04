"""What a run of the checks gives: a record with a verdict."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from workbench.checks.finding import Finding, order

if TYPE_CHECKING:
    from rewards.rewardset import SetDescription


@dataclass(frozen=True)
class Skipped:
    """A check that did not run, and why; `reward` is None where it did not run for any.

    `held` is the kind it is about, where it was held back because the reward only looks like one of that kind; "" where
    no kind of it is known.
    """

    check: str
    why: str
    reward: str | None = None
    held: str | None = None

    def to_json(self) -> dict[str, str]:
        """`{"check", "why"}`; a single reward is named in the reason."""
        why = f"{self.reward}: {self.why}" if self.reward else self.why
        return {"check": self.check, "why": why}


@dataclass(frozen=True)
class Proved:
    """What a seal showed of a set that has not changed since, so that only added rows have to be looked at.

    `pairs` are checks and rewards, `(code, reward)`, that found nothing on the rows of the seal. They look at `rows` of
    the samples alone: the `new` ones, and some sealed ones beside them for comparison; at none where nothing is new.
    """

    pairs: frozenset[tuple[str, str]]
    rows: tuple[int, ...]
    new: int
    sealed: int
    created: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `check --format json` has under `sealed`."""
        beside = len(self.rows) - self.new
        return {"rows": self.sealed, "new": self.new, "beside": beside, "created": self.created}


@dataclass(frozen=True)
class RewardReport:
    """One reward's findings, what costs most first."""

    name: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Report:
    """The outcome of a run of the checks.

    `rewards` has an entry for each reward, `findings` those that concern the set; `ran` are the codes and
    versions of the checks that ran; `durations` are seconds by code; `rows` is the number of samples, `right`
    and `wrong` how many of them are labelled so (hack counts as wrong); `notes` are to be shown; `proved` is what a
    seal already showed; `baseline` is how many findings the baseline has, None without one; `chosen` says that some
    checks were left out by their codes; `source` is the digest of the files before they were loaded, "" where they
    cannot be told (`rewards.sources`).
    """

    target: str
    description: SetDescription
    rewards: tuple[RewardReport, ...]
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    ran: tuple[tuple[str, int], ...]
    seconds: float
    fail_on: str = "error"
    quick: bool = False
    seed: int = 0
    examples: int = 100
    assume_kinds: bool = False
    rows: int = 0
    right: int = 0
    wrong: int = 0
    durations: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    proved: Proved | None = None
    baseline: int | None = None
    chosen: bool = False
    source: str = ""
    assume_with: str = "--assume-kinds"

    @property
    def _held(self) -> dict[tuple[str, str], int]:
        """How many checks were held back, by reward and the kind that it looks like."""
        return Counter(
            (item.reward, item.held)
            for item in self.skipped
            if item.held is not None and item.reward is not None
        )

    @property
    def held_short(self) -> tuple[str, str]:
        """How many checks were held back and of which rewards, and what has them run; "" twice where none were."""
        held = self._held
        if not held:
            return "", ""
        count, rewards = sum(held.values()), list(dict.fromkeys(reward for reward, _ in held))
        kinds = list(dict.fromkeys(f'kind = "{kind}"' for _, kind in held if kind))
        whose = (
            " and ".join(f"'{reward}'" for reward in rewards)
            if len(rewards) < 3
            else f"{len(rewards)} rewards"
        )
        owned = "its kind" if len(rewards) == 1 else "their kinds"
        said = f" ({kinds[0]})" if len(kinds) == 1 else ""
        assumed = f", or run with {self.assume_with}" if kinds else ""
        return (
            f"{count} check{'s' if count != 1 else ''} of {whose} held back{'' if kinds else ' (no kind declared)'}",
            f"declare {owned}{said}{assumed}",
        )

    @property
    def held_back(self) -> list[str]:
        """A sentence for each reward and kind for which checks were held back, what would have them run."""
        return [
            f"{count} check{'s' if count != 1 else ''} of {reward} held back: {self._why(kind)}"
            for (reward, kind), count in self._held.items()
        ]

    def _why(self, kind: str) -> str:
        if not kind:
            return (
                'no kind declared, and its labelled samples show none; declare kind = "correctness", or another '
                '(in rewardset.toml, or @reward(kind="..."))'
            )
        return (
            f'it looks like {kind} and does not say so; declare kind = "{kind}" (in rewardset.toml, or '
            f'@reward(kind="{kind}")), or run them with {self.assume_with}'
        )

    def for_python(self) -> Report:
        """The same, the option that has held-back checks run named as Python spells it."""
        argument = "assume_kinds=True"
        skipped = tuple(replace(one, why=one.why.replace(self.assume_with, argument)) for one in self.skipped)
        return replace(self, skipped=skipped, assume_with=argument)

    @property
    def all_findings(self) -> list[Finding]:
        """All findings, of rewards and set, what costs most first."""
        return order([*self.findings, *(finding for reward in self.rewards for finding in reward.findings)])

    @property
    def standing(self) -> list[Finding]:
        """Findings at or above `fail_on` that are neither waived nor in the baseline."""
        return [f for f in self.all_findings if not f.accepted and f.at_least(self.fail_on)]

    @property
    def verdict(self) -> Literal["pass", "fail"]:
        """ "fail" when an unwaived finding at or above `fail_on` stands."""
        return "fail" if self.standing else "pass"

    @property
    def strength(self) -> Literal["strong", "weak"]:
        """ "strong" where labelled right and wrong completions were among the samples."""
        return "strong" if self.right and self.wrong else "weak"

    def to_json(self) -> dict[str, Any]:
        """The object of `check --format json`."""
        shown: dict[str, Any] = {
            "target": self.target,
            "verdict": self.verdict,
            "seconds": round(self.seconds, 3),
            "strength": self.strength,
            "rewards": [
                {"name": reward.name, "findings": [finding.to_json() for finding in reward.findings]}
                for reward in self.rewards
            ],
            "set": {"findings": [finding.to_json() for finding in self.findings]},
            "skipped": [skipped.to_json() for skipped in self.skipped],
        }
        if self.proved is not None:
            shown["sealed"] = self.proved.to_json()
        return shown


__all__ = ["Report", "RewardReport", "Skipped"]
