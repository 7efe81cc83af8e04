"""A run followed from the terminal: what its folder says, as it grows.

The reward leads; the loss comes last, with a note on what it measures under the run's own settings. Nothing
here imports torch, and nothing is asked of the training process: the folder is all that is read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainer.bare import BareRun, is_bare, read_bare
from trainer.rundir import DONE, FAILED, STOPPED, RunDir
from trainer.watching.monitor import Told

ENDED = (DONE, STOPPED, FAILED)
SPARKS = "▁▂▃▄▅▆▇█"
WIDTH = 40
SHOWN = 4
"""Diagnoses below the live table: the last ones."""


@dataclass(frozen=True)
class View:
    """A run as it is now.

    `lines` are its metrics so far, `status` that of its stage (`gone`: its process ended unheard), `step` and
    `max_steps` those of the whole run, `stage` says which one it is where there are several. `diagnoses` are the
    lines of diagnoses.jsonl.
    """

    folder: Path
    status: str
    step: int
    max_steps: int
    rewards: tuple[str, ...]
    lines: list[dict[str, Any]]
    reason: str | None
    note: str
    stage: str = ""
    diagnoses: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """True once nothing more will come."""
        return self.status in (*ENDED, "gone")


def look(run: RunDir) -> View:
    """Read the folder once: a run's, or an output folder of TRL's."""
    if is_bare(run.path):
        return _look_at_bare(read_bare(run.path))
    stages = run.stages()
    # The last stage that has begun is the one to watch.
    index = max((at for at, one in enumerate(stages) if one.status != "pending"), default=0)
    stage = stages[index]
    lines = [line for line in run.metrics() if "reward" in line]
    status = stage.status
    if status == DONE and index < len(stages) - 1:
        status = "running"  # the next stage is about to begin
    if status not in ENDED and not run.is_live():
        status = "gone"
    step = max([run.offset(index) + stage.step, *(int(line["step"]) for line in lines[-1:])])
    planned = sum(one.step if one.status == DONE else one.max_steps for one in stages)
    train = {**run.manifest().get("train", {}), **_stage_table(run, index)}
    note = loss_note(float(train.get("beta") or 0.0), str(train.get("loss_type") or "dapo"))
    name = f"stage {index + 1} of {len(stages)}, {stage.name}" if len(stages) > 1 else ""
    return View(
        run.path, status, step, planned, stage.rewards, lines, stage.reason, note, name, run.diagnoses()
    )


def _look_at_bare(bare: BareRun) -> View:
    status = DONE if bare.max_steps and bare.step >= bare.max_steps else "gone"
    note = "watch the reward, not the loss; a folder of TRL's, read as it is now"
    return View(
        bare.path,
        status,
        bare.step,
        bare.max_steps,
        bare.rewards,
        bare.lines,
        None,
        note,
        diagnoses=bare.diagnoses,
    )


def _stage_table(run: RunDir, index: int) -> dict[str, Any]:
    stages = run.manifest().get("train", {}).get("stage") or []
    return dict(stages[index]) if index < len(stages) else {}


def loss_note(beta: float, loss_type: str) -> str:
    """What the value of the loss says under these settings; never how well the training goes."""
    if loss_type in ("grpo", "sapo"):
        value = "its value is about 0 at every step by construction (advantages of a group add up to 0)"
    else:
        value = "its value only says whether shorter answers earn more (above 0) or longer ones (below 0)"
    if beta > 0:
        value += (
            f", plus {beta:g} x the distance (KL) from the starting model, so it rises while the model learns"
        )
    return f"watch the reward, not the loss: with loss_type={loss_type} and beta={beta:g} {value}"


def follow(run: RunDir, *, every: float = 1.0, sleep: Callable[[float], None] = time.sleep) -> Iterator[View]:
    """The run's view again and again, whenever something changed, until the run ends."""
    shown: tuple[Any, ...] | None = None
    while True:
        view = look(run)
        state = (view.status, view.step, len(view.lines), len(view.diagnoses))
        if state != shown:
            shown = state
            yield view
        if view.ended:
            return
        sleep(every)


def watch(run: RunDir, *, every: float = 1.0, terminal: bool | None = None) -> View:
    """Show the run on standard output until it ends.

    A live table on a terminal, else a line for each logged step.
    """
    if sys.stdout.isatty() if terminal is None else terminal:
        return _watch_live(run, every)
    return _watch_lines(run, every)


def _watch_lines(run: RunDir, every: float) -> View:
    printed: int | None = None
    told = 0
    view = look(run)
    for view in follow(run, every=every):
        if printed is None:
            printed = 0
            _out(f"{view.folder.name}: {view.note}")
        fresh = [line for line in view.lines if int(line["step"]) > (printed or 0)]
        for line in fresh:
            told = _tell(view, told, before=int(line["step"]))
            _out(line_text(line, view))
            printed = int(line["step"])
        told = _tell(view, told)
    _out(ending(view))
    return view


def _tell(view: View, told: int, before: int | None = None) -> int:
    """Print the diagnoses from number `told` on (those told before a step); returns how many are printed now."""
    for line in view.diagnoses[told:]:
        if before is not None and int(line["step"]) >= before:
            break
        _out(diagnosis_text(line))
        told += 1
    return told


def diagnosis_text(line: Mapping[str, Any]) -> str:
    """One line of diagnoses.jsonl for people: where, how bad, what is seen; what it means and what to do below."""
    stage = f", stage {line['stage']}" if line.get("stage") else ""
    one = Told.from_json(line).diagnosis
    head = f"{one.severity.upper()} {one.key} (step {line['step']}{stage}): {one.seen}"
    return f"{head}\n    {one.means}.\n    {one.advice}."


def _out(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def line_text(line: Mapping[str, Any], view: View) -> str:
    """One logged step: total and rewards first, then what tells whether there is anything to learn from."""
    parts = [f"step {line['step']}/{view.max_steps}", f"reward {number(line.get('reward'))}"]
    names = rewards_of(line) or view.rewards
    if len(names) > 1:
        inside = ", ".join(f"{name} {number(line.get(f'rewards/{name}/mean'))}" for name in names)
        parts[-1] += f" ({inside})"
    for label, key, form in FIGURES:
        if key in line:
            parts.append(f"{label} {number(line[key], form)}")
    if line.get("rows/failed"):
        parts.append(f"{number(line['rows/failed'], '.0f')} rows failed")
    return "  ".join(parts)


def rewards_of(line: Mapping[str, Any]) -> list[str]:
    """The rewards a line of a staged run has means of; stages differ in them. [] where the run has no stages."""
    if "stage" not in line:
        return []
    return [key[8:-5] for key in line if key.startswith("rewards/") and key.endswith("/mean")]


FIGURES = (
    ("spread in groups", "groups/spread", ".2f"),
    ("groups without spread", "groups/zero_spread", ".0%"),
    ("length", "completions/mean_length", ".0f"),
    ("cut off", "completions/clipped_ratio", ".0%"),
    ("entropy", "entropy", ".2f"),
    ("kl", "kl", ".3f"),
    ("distance", "policy/kl", ".3f"),
    ("held out", "held_out/total", ".2f"),
    ("loss", "loss", ".3f"),
)
"""Label, metric and form, in the order they are shown; the loss last."""


def number(value: Any, form: str = ".2f") -> str:
    """A metric as text; metrics that are no finite number are shown by their name ("nan") or as a dash."""
    if isinstance(value, (int, float)):
        return format(value, form)
    return "-" if value is None else str(value)


def spark(values: list[float]) -> str:
    """A row of bars from the lowest to the highest of the values, at most 40 of them, each the mean of its
    share.
    """
    if not values:
        return ""
    size = max(1, -(-len(values) // WIDTH))
    means = [sum(part) / len(part) for part in (values[at : at + size] for at in range(0, len(values), size))]
    low, high = min(means), max(means)
    if high == low:
        return SPARKS[3] * len(means)
    return "".join(SPARKS[round((mean - low) / (high - low) * (len(SPARKS) - 1))] for mean in means)


def ending(view: View) -> str:
    """How the run ended, and what comes next."""
    at = f"step {view.step} of {view.max_steps}"
    if view.status == "gone" and view.folder.joinpath("stages.json").is_file() is False:
        planned = f" of {view.max_steps}" if view.max_steps else ""
        return f"at step {view.step}{planned} when it was last written{_gain(view)}"
    if view.status == DONE:
        return f"finished: {at}{_gain(view)}; next: reward-workbench merge {view.folder}"
    why = f" ({view.reason})" if view.reason else ""
    if view.status == FAILED:
        return f"failed at {at}{why}"
    if view.status == STOPPED:
        return f"stopped at {at}{why}; go on with --resume"
    return f"the training process is gone at {at}; go on with --resume"


def _gain(view: View) -> str:
    """The mean reward of the first and the last steps: up to ten, at most a quarter of the run."""
    rewards = series(view, "reward")
    if len(rewards) < 2:
        return ""
    count = min(10, max(1, len(rewards) // 4))
    first, last = rewards[:count], rewards[-count:]
    steps = "step" if count == 1 else f"{count} steps"
    return f", reward {sum(first) / count:.2f} -> {sum(last) / count:.2f} (first and last {steps})"


def series(view: View, key: str) -> list[float]:
    """The finite values of a metric over the run."""
    return [float(line[key]) for line in view.lines if isinstance(line.get(key), (int, float))]


def _watch_live(run: RunDir, every: float) -> View:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    view = look(run)
    with Live(table(view), console=console, auto_refresh=False) as live:
        for view in follow(run, every=every):
            live.update(table(view), refresh=True)
    console.print(ending(view), markup=False, highlight=False)
    return view


def table(view: View) -> Any:
    """The run as a rich table.

    Rewards with their course, then the other figures, the note on the loss below.
    """
    from rich.table import Table
    from rich.text import Text

    stage = f"  {view.stage}" if view.stage else ""
    told = "\n".join(diagnosis_text(line) for line in view.diagnoses[-SHOWN:])
    shown = Table(
        title=f"{view.folder.name}  {view.status}{stage}  step {view.step}/{view.max_steps}",
        caption=Text(f"{view.note}\n{told}".strip(), justify="left"),
    )
    shown.add_column("")
    shown.add_column("now", justify="right")
    shown.add_column("from", justify="right")
    shown.add_column("course")
    rows = [("reward", "reward", ".2f")]
    rows += [(f"  {name}", f"rewards/{name}/mean", ".2f") for name in view.rewards if len(view.rewards) > 1]
    for label, key, form in [*rows, *FIGURES]:
        values = series(view, key)
        if values:
            shown.add_row(label, number(values[-1], form), number(values[0], form), spark(values))
    return shown
