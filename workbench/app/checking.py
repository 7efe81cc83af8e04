"""The checks of one desk: one run at a time in a process of its own, what it found, and what may be done with it."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rewards
import workbench
from rewards.errors import RewardWorkbenchError, SealError, UsageError
from rewards.seal import read_seal
from rewards.sources import source_digest
from workbench.app.child import Child
from workbench.app.drafts import digest
from workbench.versions import FOLDER

if TYPE_CHECKING:
    from workbench.app.desk import Desk

MODULE = "workbench.app.check_child"


@dataclass(frozen=True)
class Checked:
    """A finished run as it outlives its process: what was checked, and what was found."""

    number: int
    select: tuple[str, ...]
    sources: Mapping[str, str]
    saved: bool
    result: dict[str, Any]


class Checking:
    """See the module's docstring; `number` counts the runs. `before`: a run of an earlier desk of this tab."""

    def __init__(self, changed: Callable[[], None], before: Checked | None = None) -> None:
        self._changed = changed
        self._child: Child | None = None
        self.number = 0
        self.select: tuple[str, ...] = ()
        self.sources: Mapping[str, str] = {}
        self.saved = False
        self._recalled: dict[str, Any] | None = None
        self._clear: Callable[[], None] = lambda: None
        self._accepted: list[tuple[str, str | None, str]] = []  # check, reward, reason; since the run began
        if before is not None:
            self.number, self.select, self.sources = before.number, before.select, before.sources
            self.saved, self._recalled = before.saved, before.result

    def kept(self) -> Checked | None:
        """The finished run, None where there is none."""
        result = self.result
        return None if result is None else Checked(self.number, self.select, self.sources, self.saved, result)

    def recall(self, desk: Desk) -> dict[str, Any] | None:
        """What the last run of all checks on these very files found, kept from before; None where there is none.

        Where nothing has been run on this desk yet, it is what `result` gives from now on.
        """
        if self._child is not None or self._recalled is not None:
            return self._recalled
        found = _read_kept(desk)
        if found is None:
            return None
        self._recalled = found
        self.number, self.saved = self.number + 1, True
        self.sources = {file: digest(sheet.text) for file, sheet in desk.sheets.items()}
        return self._recalled

    def start(self, desk: Desk, *, select: Sequence[str], quick: bool, assume_kinds: bool) -> None:
        """Check the texts as they stand on the desk; a run under way is ended."""
        self.close()
        sources = {file: digest(sheet.text) for file, sheet in desk.sheets.items()}
        shelf = desk.shelf
        saved = all(sheet.disk == sources[file] for file, sheet in desk.sheets.items())
        target = shelf.project.in_mirror(shelf.project.root) if saved else desk.mirrored("check")
        self._clear = (lambda: None) if saved else (lambda: desk.drop_mirror("check"))
        task = {
            "target": target,
            "paths": [str(path) for path in desk.source.paths],
            "columns": dict(desk.source.columns),
            "labels": str(shelf.labels),
            "read_as": shelf.form(),
            "select": list(select),
            "quick": quick,
            "assume_kinds": assume_kinds,
        }
        self.number += 1
        self.select, self.sources, self.saved = tuple(select), sources, saved
        if saved and not select and not desk.source.guests and not (quick and _kept_in_full(desk)):
            task |= {"keep": str(_kept(desk)), "of": _checked(desk)}
        self._recalled, self._accepted = None, []
        self._child = Child(MODULE, task, self._heard, gather="found")
        self._changed()

    def stop(self) -> None:
        """End a run; what it had found stays."""
        if self._child is not None:
            self._child.stop()

    def close(self) -> None:
        """End the process, and remove the draft that was laid out for it."""
        child, self._child = self._child, None
        if child is not None:
            child.close()
        self._clear()

    # ---------------------------------------------------------------- what came of it

    @property
    def state(self) -> str:
        """none, running, done, failed or stopped."""
        if self._child is None:
            return "none" if self._recalled is None else "done"
        return self._child.state

    @property
    def said(self) -> Mapping[str, Any]:
        """The child's newest messages."""
        return self._child.said if self._child is not None else {}

    @property
    def result(self) -> dict[str, Any] | None:
        """What the checks found, once they are done."""
        found: dict[str, Any] | None = self.said.get("result", self._recalled)
        return found

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings: those of the finished run, else those made so far."""
        found: list[dict[str, Any]] = (self.result or {}).get("findings", self._so_far())
        return found

    def _so_far(self) -> list[dict[str, Any]]:
        return list(self._child.gathered) if self._child is not None else []

    def stale(self, desk: Desk) -> bool:
        """Whether the last run was on another text than what is on the desk."""
        now = {file: digest(sheet.text) for file, sheet in desk.sheets.items()}
        return self.number > 0 and dict(self.sources) != now

    def finding(self, number: int) -> dict[str, Any]:
        """A finding by its place.

        Raises:
            UsageError: there is none.
        """
        findings = self.findings
        if not 0 <= number < len(findings):
            raise UsageError("that finding is not there any more; run the checks again")
        return findings[number]

    def spoken_for(self, check: str, reward: str | None) -> list[str]:
        """The codes of the checks that findings of this check speak for, its own first."""
        mine = [one for one in self.findings if one["check"] == check and reward in (None, one["reward"])]
        return list(dict.fromkeys([check, *(code for one in mine for code in _codes(one))]))

    def waived(self, checks: Sequence[str], reward: str | None, reason: str) -> None:
        """Mark the findings that waivers accept, also those that a run under way has yet to make."""
        self._accepted += [(check, reward, reason) for check in checks]
        self._heard()

    def _heard(self) -> None:
        """Mark what was accepted among the findings there are by now, and tell."""
        if self._accepted:
            self._mark()
        self._changed()

    def _mark(self) -> None:
        result = self.result
        for check, reward, reason in self._accepted:
            for finding in self.findings:
                mine = finding["check"] == check and reward in (None, finding["reward"])
                if mine and _codes(finding) <= self._waived_for(finding["reward"]):
                    finding["waived"] = reason
        if result is not None:
            standing = any(_stands(finding, result["fail_on"]) for finding in result["findings"])
            result["verdict"] = "fail" if standing else "pass"

    def _waived_for(self, name: str | None) -> set[str]:
        return {check for check, reward, _ in self._accepted if reward in (None, name)}

    def finding_of(self, check: str, reward: str | None) -> dict[str, Any]:
        """The first finding of this check and reward: what it is called by while places still move.

        Raises:
            UsageError: there is none.
        """
        for finding in self.findings:
            if finding["check"] == check and finding["reward"] == reward:
                return finding
        raise UsageError("that finding is not there any more; run the checks again")

    def seal(self) -> None:
        """Ask for the seal of what was checked; the answer comes as a message.

        Raises:
            SealError: what was checked is not what a seal covers.
        """
        why = self.why_no_seal()
        if why is not None or self._child is None:
            raise SealError(why or "run the checks first")
        self._child.said.pop("sealed", None)
        self._child.said.pop("refused", None)
        self._child.tell("seal")

    def why_no_seal(self) -> str | None:
        """Why the last run cannot be sealed; None if it can be tried."""
        result = self.result
        if self._child is None and self._recalled is not None:
            return "this was found before: run the checks again to seal"
        if self._child is None or result is None:
            return "run all checks first"
        if not self.saved:
            return "the checks ran on a draft: save, and run them again"
        if self.select:
            return "only a family was checked: run all checks"
        if result["verdict"] != "pass":
            return "findings stand: repair them, or waive them with a reason"
        if not self._child.listens:
            return "the run was too long ago: run the checks again"
        return None


def _kept(desk: Desk) -> Path:
    return desk.shelf.project.root / FOLDER / "last-check.json"


def _read_kept(desk: Desk) -> dict[str, Any] | None:
    """What is kept of these very files and of this version's checks, None where nothing is."""
    try:
        kept = json.loads(_kept(desk).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.get("of") != _checked(desk) or not isinstance(kept["result"], dict):
        return None
    return dict(kept["result"])


def _kept_in_full(desk: Desk) -> bool:
    """Whether what is kept is of all checks, of which a quick run would leave less."""
    kept = _read_kept(desk)
    return kept is not None and kept.get("quick") is False


@functools.cache
def _own_version() -> str:
    """Changes with any line of ours that may find something: an upgrade brings no older findings back."""
    found = hashlib.sha256()
    for package in (rewards, workbench):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            if path.relative_to(folder).parts[0] != "app":
                found.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return found.hexdigest()


def _checked(desk: Desk) -> dict[str, Any]:
    """What a kept result depends on: our version, the texts on disk, and the other files by their size and time."""
    project = desk.shelf.project
    code = {project.root / file for file in project.files}
    stamps = desk.shelf.stamps(desk.source)
    return {
        "version": _own_version(),
        "code": {file: sheet.disk for file, sheet in desk.sheets.items()},
        "other": {str(path): list(stamp) for path, stamp in sorted(stamps.items()) if path not in code},
        "columns": dict(desk.source.columns),
    }


def _codes(finding: Mapping[str, Any]) -> set[str]:
    """The codes of the checks that a finding speaks for."""
    return {finding["check"], *(other["check"] for other in finding.get("also", ()))}


def _stands(finding: Mapping[str, Any], fail_on: str) -> bool:
    levels = ("info", "warning", "error")
    return "waived" not in finding and levels.index(finding["severity"]) >= levels.index(fail_on)


def seal_view(desk: Desk) -> dict[str, Any]:
    """JSON of the seal that lies beside the project: what it covers, and whether the files are still those."""
    target = desk.shelf.project.target
    try:
        seal = read_seal(target.seal_path)
    except SealError as error:
        missing = not target.seal_path.exists()
        return {"state": "none" if missing else "damaged", "why": None if missing else str(error)}
    try:
        holds = bool(seal.source) and seal.source == source_digest(target)
    except RewardWorkbenchError as error:
        return {"state": "broken", "why": str(error), **_covers(seal)}
    return {"state": "holds" if holds else "broken", "why": None, **_covers(seal)}


def _covers(seal: Any) -> dict[str, Any]:
    return {
        "created": seal.created,
        "strength": seal.strength,
        "rewards": [reward.name for reward in seal.rewards],
        "files": sorted({name for reward in seal.rewards for name in reward.code}),
        "rows": seal.samples.rows,
        "groups": seal.samples.groups,
        "right": seal.samples.right,
        "wrong": seal.samples.wrong,
        "checks": len(seal.checks),
        "skipped": len(seal.skipped),
        "waivers": len(seal.waivers),
        "quick": seal.quick,
    }
