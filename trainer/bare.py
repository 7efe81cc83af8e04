"""An output folder of TRL's own, read like a run: what a trainer of one's own leaves behind.

With `trainer.attach` in that trainer the folder has `metrics.jsonl` and `diagnoses.jsonl` too, and `attached.json` says
which reward set it was. Without, the history in the last checkpoint's `trainer_state.json` is all there is: the
monitor reads it afterwards, knowing neither weights nor kinds of the rewards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.diagnoses import Facts
from trainer.rundir import CHECKPOINT_STATE, RunDir, checkpoint_step, read_json
from trainer.watching.monitor import watch_over

ATTACHED = "attached.json"


@dataclass(frozen=True)
class BareRun:
    """A folder of TRL's: its lines of metrics, what the monitor told, and how far it got."""

    path: Path
    lines: list[dict[str, Any]]
    diagnoses: list[dict[str, Any]]
    step: int
    max_steps: int
    rewards: tuple[str, ...]


def is_bare(path: Path) -> bool:
    """Whether a folder is no run folder but holds what TRL's trainer writes, or what an attached one does."""
    if not path.is_dir() or (path / "stages.json").is_file():
        return False
    return (path / ATTACHED).is_file() or _state_file(path) is not None


def read_bare(path: Path) -> BareRun:
    """Read such a folder.

    Raises:
        UsageError: nothing of TRL's is in it.
    """
    state = _state(path)
    run = RunDir(path)
    lines = run.metrics() or _history(state)
    if not lines and not (path / ATTACHED).is_file():
        raise UsageError(
            f"{path} is neither a run folder nor an output folder of TRL: nothing was logged in it"
        )
    known = attached_facts(path)
    rewards = tuple(known.get("weights") or _reward_names(lines))
    max_steps = int(known.get("max_steps") or state.get("max_steps") or 0)
    told = run.diagnoses() if run.diagnoses_path.is_file() else _diagnose(lines, rewards, max_steps)
    step = max([0, *(int(line["step"]) for line in lines)])
    return BareRun(path, [line for line in lines if "reward" in line], told, step, max_steps, rewards)


def attached_facts(path: Path) -> dict[str, Any]:
    """What attached.json says of the reward set; {} where none was attached."""
    return dict(read_json(path / ATTACHED)) if (path / ATTACHED).is_file() else {}


def _diagnose(lines: list[dict[str, Any]], rewards: tuple[str, ...], max_steps: int) -> list[dict[str, Any]]:
    facts = Facts(total_steps=max_steps, weights=dict.fromkeys(rewards, 1.0))
    return [one.to_json() for one in watch_over(lines, facts)]


def _state_file(path: Path) -> Path | None:
    numbered = [(checkpoint_step(one) or 0, one) for one in path.glob("checkpoint-*")]
    places = [path, *(one for _, one in sorted(numbered, reverse=True))]
    return next((one / CHECKPOINT_STATE for one in places if (one / CHECKPOINT_STATE).is_file()), None)


def _state(path: Path) -> dict[str, Any]:
    file = _state_file(path)
    values = read_json(file) if file is not None else {}
    return values if isinstance(values, dict) else {}


def _history(state: dict[str, Any]) -> list[dict[str, Any]]:
    """TRL's log, a line a step; evaluations and the totals at the end add to the line of their step."""
    by_step: dict[int, dict[str, Any]] = {}
    for line in state.get("log_history", []):
        if isinstance(line, dict) and "step" in line and "train_runtime" not in line:
            by_step.setdefault(int(line["step"]), {}).update(line)
    return [by_step[step] for step in sorted(by_step)]


def _reward_names(lines: list[dict[str, Any]]) -> list[str]:
    found = (re.fullmatch(r"rewards/(.+)/mean", key) for line in lines for key in line)
    return list(dict.fromkeys(match[1] for match in found if match))
