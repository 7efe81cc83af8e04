"""The reward sets a run was made under, stretch by stretch: it may be resumed on others with `--allow-unsealed`.

`rewards.json` lies in the run folder only then, and says from which step on which set held, how it was proved, and
what its tables were. `run.json` then calls the run unsealed and names the set it ends with, `manifest.toml` has that
set's tables, and `seal.json`, which speaks of the first steps alone, is no longer there (`rewards.json` keeps it).
What was made again since (a kill, a damaged checkpoint) is forgotten here too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import tomlkit

from rewards.errors import UsageError
from trainer.job import Job
from trainer.reports.reproduction import write_script
from trainer.rundir import RunDir, read_json, write_json, write_whole
from trainer.runfiles import FACTS, RunFacts, resolved_manifest

RECORD = "rewards.json"
TABLES = ("set", "reward")


@dataclass(frozen=True)
class Stretch:
    """The steps from `first` on, made under the reward set of this fingerprint.

    `problems` say why no seal held ([] where one did), `evidence` how strong that seal's was, `tables` are `[set]` and
    `[[reward]]` as in the run's manifest, `seal` is the content of the seal.
    """

    first: int
    fingerprint: str
    problems: tuple[str, ...]
    evidence: str | None
    tables: Mapping[str, Any] = field(default_factory=dict)
    seal: Mapping[str, Any] | None = None


def read_stretches(run: RunDir, facts: RunFacts) -> list[Stretch]:
    """The stretches of a run, in order; one for a run that never changed its rewards.

    Raises:
        UsageError: the record is damaged.
    """
    path = run.path / RECORD
    if not path.is_file():
        manifest = run.manifest()
        tables = {name: manifest[name] for name in TABLES if name in manifest}
        problems, evidence = facts.unsealed_because, facts.evidence
        return [Stretch(1, facts.fingerprint, problems, evidence, tables, _seal_of(run))]
    try:
        return [
            Stretch(**{**one, "problems": tuple(one["problems"])}) for one in read_json(path)["stretches"]
        ]
    except (KeyError, TypeError) as error:
        raise UsageError(f"{path} lacks a part or has one too many: {error}") from error


def _seal_of(run: RunDir) -> Mapping[str, Any] | None:
    """The content of the run's seal; None where there is none, or a damaged one."""
    try:
        seal = read_json(run.seal_path)
    except UsageError:
        return None
    return seal if isinstance(seal, dict) else None


def stretch_of(jobs: Sequence[Job], run: RunDir, first: int) -> Stretch:
    """The reward set as it is now, for the steps of the run from `first` on."""
    job = jobs[0]
    made = resolved_manifest(jobs, run.path)
    return Stretch(
        first,
        job.description.fingerprint,
        job.seal.problems,
        job.seal.seal.strength if job.seal.seal else None,
        {name: made[name] for name in TABLES},
        read_json(job.seal.path) if job.seal.holds else None,
    )


def gone_on(stretches: Sequence[Stretch], now: Stretch) -> list[Stretch]:
    """The stretches of a run that goes on with `now`: what is made again is left out.

    >>> old, new = Stretch(1, "a", (), "strong"), Stretch(5, "b", ("its code changed",), None)
    >>> [one.fingerprint for one in gone_on([old], new)]
    ['a', 'b']
    >>> [one.fingerprint for one in gone_on([old, new], replace(old, first=5))]  # the change was undone
    ['a']
    >>> [one.fingerprint for one in gone_on([old], replace(new, first=1))]  # nothing is left of the old ones
    ['b']
    """
    kept = [one for one in stretches if one.first < now.first] or list(stretches[:1])
    if kept[-1].fingerprint == now.fingerprint:
        return kept
    return [*(one for one in kept if one.first < now.first), now]


def record_stretches(run: RunDir, facts: RunFacts, stretches: Sequence[Stretch]) -> RunFacts:
    """Write down under which rewards the run goes on, and return its facts.

    `run.json` comes last: a kill in between leaves a run that is asked for `--allow-unsealed` again.
    """
    alone = stretches[0] if len(stretches) == 1 else None
    sealed = alone is not None and not alone.problems
    changed = replace(
        facts,
        fingerprint=stretches[-1].fingerprint,
        sealed=sealed,
        allow_unsealed=facts.allow_unsealed or not sealed,
        unsealed_because=tuple(sentences(stretches)),
        evidence=alone.evidence if alone else None,
    )
    write_json(run.path / RECORD, {"stretches": [asdict(one) for one in stretches]})
    write_whole(run.manifest_path, tomlkit.dumps({**run.manifest(), **stretches[-1].tables}))
    if alone and alone.seal is not None:
        write_json(run.seal_path, alone.seal)
    else:
        run.seal_path.unlink(missing_ok=True)
    write_script(
        run.path,
        python=str(run.environment().get("python", "?")),
        fingerprint=changed.fingerprint,
        sealed=changed.sealed,
        threads=facts.threads,
        changed=() if alone else sentences(stretches),
    )
    write_json(run.path / FACTS, asdict(changed))
    if alone:
        (run.path / RECORD).unlink()
    return changed


def sentences(stretches: Sequence[Stretch]) -> list[str]:
    """Why the run is not sealed; of several stretches each, with its steps and what held there."""
    if len(stretches) == 1:
        return list(stretches[0].problems)
    told = []
    for at, one in enumerate(stretches):
        following = stretches[at + 1].first - 1 if at + 1 < len(stretches) else None
        steps = f"from step {one.first}" if following is None else f"steps {one.first} to {following}"
        weak = ", on weak evidence" if one.evidence == "weak" else ""
        held = f"under seal {one.fingerprint[:12]}{weak}"
        if one.problems:
            held = f"not sealed (fingerprint {one.fingerprint[:12]}: {'; '.join(one.problems)})"
        told.append(f"{steps} {held}" if at == 0 else f"{steps} on other rewards, {held}")
    return told


def earlier(stretches: Sequence[Stretch]) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    """What paid the steps before each change, as a sentence's beginning and the set's tables.

    The tables are None, and the sentence is whole, where the next set is the same but for its code and where it lies.
    """
    for one, following in itertools.pairwise(stretches):
        steps = f"Steps {one.first} to {following.first - 1} were paid by"
        if _paid_by(one) == _paid_by(following):
            yield f"{steps} rewards of the same names, weights and ranges, in other code", None
        else:
            yield steps, one.tables


def _paid_by(stretch: Stretch) -> list[Any]:
    settings = stretch.tables.get("set", {})
    rewards = [
        {key: value for key, value in entry.items() if key != "function"}
        for entry in stretch.tables.get("reward", [])
    ]
    return [settings.get("aggregation"), settings.get("scale_rewards"), rewards]
