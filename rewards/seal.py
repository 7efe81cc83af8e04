"""The seal of a reward set: what was proved about it, about which code, and how strong the evidence was.

A seal covers the code of the rewards, `[set]` and `[[reward]]`: one fingerprint for each reward and one for
all. It says on which samples the checks ran, which ran and which were skipped, what they found, what was
waived, and in which environment. `verify` compares a seal with the set as it is now and names what differs; a
changed learning rate or comment breaks nothing.

The file is strict JSON and carries a digest of itself, so that a seal that was cut short or edited by hand is
told from one that a check wrote. That is a guard against accidents, not a signature: who can run a check can
also write a seal.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from rewards.code_parts import code_parts
from rewards.errors import SealError
from rewards.fingerprint import digest, package_versions
from rewards.manifest import write_text
from rewards.rewardset import SEALED_SETTINGS, RewardDescription, SetDescription

FORMAT = 3
"""Number of the file format that is written. 1 and 2 are read too, but their fingerprints cover less."""

DIGITS = 12
"""Hex digits that tell a row of the samples: 48 bits, a mix-up among a million rows has odds of one in 10,000."""

Strength = Literal["strong", "weak"]
RECORDED_PACKAGES = ("reward-workbench", "numpy", "hypothesis", "math-verify", "rapidfuzz", "trl", "torch")


@dataclass(frozen=True)
class SealedReward:
    """One reward as it was sealed.

    `fingerprint` covers code and declaration; `code` maps each file it uses to a digest and each package to its
    version; `declaration` holds
    the keys of its `[[reward]]` table (or mark) that the fingerprint covers; `parts` digests what it uses of each local
    file, {} in seals of earlier versions.
    """

    name: str
    fingerprint: str
    code: dict[str, str]
    declaration: dict[str, Any]
    parts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SealedSamples:
    """The samples the checks ran on: a digest of their rows, and how many rows, groups and labels there are.

    `wrong` counts the rows labelled wrong and those labelled hack. `each` has `DIGITS` hex digits for every row, in one
    text, by which a later check knows the rows that were added.
    """

    hash: str
    rows: int
    groups: int
    right: int = 0
    wrong: int = 0
    sources: tuple[str, ...] = ()
    each: str = ""

    @property
    def digests(self) -> list[str]:
        """The digest of each row."""
        return [self.each[at : at + DIGITS] for at in range(0, len(self.each), DIGITS)]


@dataclass(frozen=True)
class SealedCheck:
    """A check that ran: its code, the version of what it looks for, and the seed it drew with."""

    check: str
    version: int = 1
    seed: int = 0


@dataclass(frozen=True)
class SkippedCheck:
    """A check that did not run, and why."""

    check: str
    why: str


@dataclass(frozen=True)
class Seal:
    """What was proved.

    `format` is the number of the file format; `settings` are the keys of `[set]` that the fingerprint covers;
    `findings` the objects of `check --format json` with the name of the `reward` (None: the set); `quick` says that
    only the quick checks ran, `options` how thorough they were; `created` is a time in ISO 8601; `source` is the
    digest of the files as they were (`rewards.sources`), by which an unchanged set is known without loading it;
    `extends` is the time of the seal whose rows were not looked at again, "" where all rows were.
    """

    target: str
    fingerprint: str
    settings: dict[str, Any]
    rewards: tuple[SealedReward, ...]
    samples: SealedSamples
    checks: tuple[SealedCheck, ...] = ()
    skipped: tuple[SkippedCheck, ...] = ()
    findings: tuple[dict[str, Any], ...] = ()
    waivers: tuple[dict[str, Any], ...] = ()
    environment: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    created: str = ""
    source: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    extends: str = ""
    format: int = FORMAT

    @property
    def strength(self) -> Strength:
        """ "strong" where labelled right and wrong completions were among the samples, else "weak"."""
        return "strong" if self.samples.right and self.samples.wrong else "weak"

    def to_json(self) -> dict[str, Any]:
        """The content of the file, JSON-ready, with its own digest under "digest"."""
        content = {**asdict(self), "strength": self.strength}
        # Once through JSON: tuples become lists, and what is digested is what a reader will see.
        content = json.loads(json.dumps(content, allow_nan=False))
        return {**content, "digest": digest(content)}


def seal_of(
    description: SetDescription,
    samples: SealedSamples,
    *,
    created: str,
    checks: Sequence[SealedCheck] = (),
    skipped: Sequence[SkippedCheck] = (),
    findings: Sequence[Mapping[str, Any]] = (),
    waivers: Sequence[Mapping[str, Any]] = (),
    environment: Mapping[str, Any] | None = None,
    quick: bool = False,
    source: str = "",
    options: Mapping[str, Any] | None = None,
    extends: str = "",
) -> Seal:
    """The seal of a set as it is described, with what was checked; nothing is written.

    Args:
        description: the loaded set (`RewardSet.describe()`).
        samples: what the checks ran on.
        created: the time, ISO 8601.
        checks, skipped: what ran and what did not.
        findings: the findings that stand, as the objects of `check --format json`.
        waivers: the waivers in force.
        environment: default: that of this process, `here()`.
        quick: only the quick checks ran.
        source: `rewards.sources.source_digest` of the target.
        options: how thorough the checks were.
        extends: the time of the seal whose rows were not looked at again.
    """
    return Seal(
        target=Path(description.target).name or description.target,
        fingerprint=description.fingerprint,
        settings=_settings(description),
        rewards=tuple(
            SealedReward(
                reward.name,
                reward.fingerprint,
                dict(reward.code),
                _declaration(reward),
                code_parts(reward.entry.function, description.root),
            )
            for reward in description.rewards
        ),
        samples=samples,
        checks=tuple(checks),
        skipped=tuple(skipped),
        findings=tuple(dict(finding) for finding in findings),
        waivers=tuple(dict(waiver) for waiver in waivers),
        environment=dict(here() if environment is None else environment),
        quick=quick,
        created=created,
        source=source,
        options=dict(options or {}),
        extends=extends,
    )


def here() -> dict[str, Any]:
    """The environment of this process: Python, the system, and the packages that matter, with versions."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(RECORDED_PACKAGES),
    }


def write_seal(path: Path, seal: Seal) -> None:
    """Write a seal as strict JSON, whole or not at all.

    Raises:
        UsageError: the file cannot be written; an old seal is untouched.
        ValueError: the seal holds a number that strict JSON has no word for (NaN, infinity).
    """
    write_text(path, json.dumps(seal.to_json(), indent=1, allow_nan=False) + "\n")


def read_seal(path: Path) -> Seal:
    """Read a seal.

    Raises:
        SealError: there is none, or it is damaged, edited or of another format; one sentence with the remedy.
    """
    again = "; check the set again with --seal"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SealError(
            f"there is no seal {path.name}{_other_seals(path)}; check the set with --seal to make one"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SealError(f"the seal {path.name} cannot be read ({type(error).__name__}){again}") from error
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise SealError(f"the seal {path.name} is damaged: it is not complete JSON{again}") from error
    if not isinstance(content, dict) or content.get("format") not in range(1, FORMAT + 1):
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise SealError(
            f"the seal {path.name} has format {found!r}, this version reads formats 1 to {FORMAT}{again}"
        )
    kept = content.pop("digest", None)
    if kept != digest(content):
        raise SealError(f"the seal {path.name} was changed after it was made: its digest does not fit{again}")
    try:
        return _from_json(content)
    except (KeyError, TypeError) as error:
        raise SealError(f"the seal {path.name} lacks a part or has one too many: {error}{again}") from error


def _other_seals(path: Path) -> str:
    """The seals of other targets in the same folder, and that they are not this one's; "" where there are none."""
    end = ".seal.json"
    others = []
    for other in sorted(path.parent.glob(f"*{end}")):
        name = other.name.removesuffix(end)
        file, python, function = name.partition(".py")
        single = f"{file}.py{f'::{function[1:]}' if function else ''}"
        others.append(single if python else "the project" if name == "rewardset" else name.replace(".", ":"))
    if not others:
        return ""
    return (
        f" (sealed here is {' and '.join(others[:3])}: another target, whose seal says nothing of this one)"
    )


def verify(seal: Seal, description: SetDescription) -> list[str]:
    """What differs between a seal and the set as it is now, a sentence each; [] while the seal holds.

    Only hashes and declarations are compared: nothing is run. Cause before effect: where a reward's code or a
    key of its table changed, that is named, not its fingerprint. Where a file of several rewards changed, those are
    named that use what changed in it; all of them where none seems to.
    """
    if seal.fingerprint == description.fingerprint:
        return []
    if seal.format != FORMAT:
        return ["it was made by an older version, whose seals cover less and cannot be compared"]
    sealed = {reward.name: reward for reward in seal.rewards}
    found = _changes("[set]", seal.settings, _settings(description))
    beside: list[str] = []
    for reward in description.rewards:
        if reward.name in sealed:
            own = _reward_changes(sealed[reward.name], reward)
            (beside if _uses_none_of_it(sealed[reward.name], reward, description.root) else found).extend(own)
        else:
            found.append(f"reward '{reward.name}' was not there when the set was sealed")
    now = description.names
    found += [f"reward '{name}' was sealed and is gone" for name in sealed if name not in now]
    if not found and list(sealed) != now:
        found.append(f"the order of the rewards changed from {', '.join(sealed)} to {', '.join(now)}")
    found = found or beside
    return found or ["the fingerprint of the set differs: it was sealed by another version"]


def _reward_changes(sealed: SealedReward, now: RewardDescription) -> list[str]:
    if sealed.fingerprint == now.fingerprint:
        return []
    where = f"reward '{now.name}'"
    found = _changes(f"{where}:", sealed.declaration, _declaration(now))
    if sealed.code != now.code:
        files = sorted({*sealed.code, *now.code})
        changed = [_change(file, sealed.code, now.code) for file in files]
        found.insert(0, f"{where}: its code changed ({', '.join(filter(None, changed))})")
    return found or [f"{where}: its fingerprint differs: it was sealed by another version"]


def _uses_none_of_it(sealed: SealedReward, now: RewardDescription, root: Path) -> bool:
    """Whether only code changed that the reward does not use, in files that it shares with others."""
    same_tools = {name: value for name, value in sealed.code.items() if not name.endswith(".py")} == {
        name: value for name, value in now.code.items() if not name.endswith(".py")
    }
    return (
        sealed.fingerprint != now.fingerprint
        and same_tools
        and sealed.declaration == _declaration(now)
        and bool(sealed.parts)
        and sealed.parts == code_parts(now.entry.function, root)
    )


def _change(part: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """How a file or package differs, "" where it does not; of a package the versions are told."""
    if before.get(part) == now.get(part):
        return ""
    versions = [versions[part] for versions in (before, now) if part in versions]
    if len(versions) < 2 or any(len(version) == _DIGEST_LENGTH for version in versions):
        return part
    return f"{part} {versions[0]} is now {versions[1]}"


_DIGEST_LENGTH = 32


def _changes(where: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys whose values differ."""
    return [
        f"{where} {key} changed from {_shown(before.get(key))} to {_shown(now.get(key))}"
        for key in dict.fromkeys([*before, *now])
        if before.get(key) != now.get(key)
    ]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _settings(description: SetDescription) -> dict[str, Any]:
    return {key: getattr(description, key) for key in SEALED_SETTINGS}


def _declaration(reward: RewardDescription) -> dict[str, Any]:
    return {"function": reward.entry.function.replace("::", ":").rpartition(":")[2], **reward.declaration}


def _from_json(content: dict[str, Any]) -> Seal:
    values = {key: value for key, value in content.items() if key != "strength"}
    samples = values.pop("samples")
    return Seal(
        **{
            **values,
            "rewards": tuple(SealedReward(**reward) for reward in values.pop("rewards")),
            "samples": SealedSamples(**{**samples, "sources": tuple(samples["sources"])}),
            "checks": tuple(SealedCheck(**check) for check in values.pop("checks")),
            "skipped": tuple(SkippedCheck(**check) for check in values.pop("skipped")),
            "findings": tuple(values.pop("findings")),
            "waivers": tuple(values.pop("waivers")),
        }
    )


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
