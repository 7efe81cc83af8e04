"""What Reward Workbench adds to a training step: within one training, its part is switched on and off.

    python benchmarks/step_overhead.py [--steps 600] [--model toy]

A step of the toy model takes anything from 170 to 260 ms on one and the same machine, minutes apart; two trainings
compared say nothing about three percent. So one training of the arithmetic template goes on, and of every six steps
three are made with everything that is ours (rewards in processes of their own, record, monitor, samples, distance,
progress, the frozen garbage collector) and three as plain TRL would: the functions called as they are, nobody
listening, all garbage looked through. A step lasts from its begin to the next one's. Prints the medians of wall and CPU
time, and the mean difference of neighbouring threes with its standard error (goal: a ratio of at most 1.03).
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sides import TEMPLATE

from trainer.environment import prepare_process, quiet_libraries

BLOCK = 3
"""Steps in a row that are alike."""

GOAL = 1.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--model", default="toy")
    options = parser.parse_args()
    prepare_process()
    quiet_libraries()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(TEMPLATE, project)
        switch = Switch()
        train(project, options.model, options.steps, Path(folder) / "run", switch)
    result = {"wall": compare(switch.steps(0)), "cpu": compare(switch.steps(1))}
    print(json.dumps(result))
    return 0 if result["wall"]["ratio"] <= GOAL else 1


class Switch:
    """Whether our part is on, and when each step began."""

    def __init__(self) -> None:
        self.ours = True
        self.begun: list[tuple[float, float]] = []

    def step_begins(self, step: int) -> None:
        """Note the time; turn over after every `BLOCK` steps (counted from 0)."""
        self.begun.append((time.perf_counter(), time.process_time()))
        ours = step // BLOCK % 2 == 0
        if ours != self.ours:
            (gc.freeze if ours else gc.unfreeze)()
            self.ours = ours

    def steps(self, clock: int) -> list[float]:
        """Milliseconds of each step but those of the first two blocks, which warm up."""
        pairs = zip(self.begun, self.begun[1:], strict=False)
        return [(after[clock] - before[clock]) * 1000 for before, after in pairs][2 * BLOCK :]


def compare(steps: list[float]) -> dict[str, float]:
    """Steps with our part and without, which take turns by the block, beginning with ours."""
    blocks = [steps[at : at + BLOCK] for at in range(0, len(steps) - BLOCK + 1, BLOCK)]
    ours, plain = ([step for block in blocks[side::2] for step in block] for side in (0, 1))
    pairs = zip(blocks[::2], blocks[1::2], strict=False)
    differences = [statistics.fmean(mine) - statistics.fmean(other) for mine, other in pairs]
    error = statistics.stdev(differences) / len(differences) ** 0.5
    return {
        "ours_ms": round(statistics.median(ours), 1),
        "plain_ms": round(statistics.median(plain), 1),
        "ratio": round(statistics.median(ours) / statistics.median(plain), 4),
        "ratio_of_means": round(statistics.fmean(ours) / statistics.fmean(plain), 4),
        "difference_ms": round(statistics.fmean(differences), 2),
        "standard_error_ms": round(error, 2),
        "steps": len(ours),
    }


def train(project: Path, model_name: str, steps: int, folder: Path, switch: Switch) -> None:
    """A stage as `train` runs it, with everything that listens, where the switch is on."""
    from trainer.assembly import crew_beside
    from trainer.backends.transformers import policy_tokenizer_of
    from trainer.environment import use_threads
    from trainer.job import Request, prepare_job
    from trainer.models.naming import resolve_model
    from trainer.ranks import ALONE
    from trainer.runfiles import RunFacts, create_run
    from trainer.stage_run import StageRun
    from trainer.stages import Ending

    sets = (f"max_steps={steps}", f"save_steps={steps}")
    request = Request(str(project), model=model_name, sets=sets, allow_unsealed=True)
    job = prepare_job(request)
    model = resolve_model(model_name).path
    use_threads(1)
    facts = RunFacts.of([job], request, model=model, threads=1)
    run = create_run(folder, [job], facts)
    ending = Ending(None, [], window=job.sizes.window, offset=0)
    with crew_beside(job) as crew:
        stage = StageRun(run, 0, job, facts, policy_tokenizer_of(model), crew, None, ending, ALONE)
        switch_rewards(stage, job.description.target, switch)
        for event in ("on_step_begin", "on_pre_optimizer_step", "on_step_end", "on_log"):
            setattr(stage.callback, event, switched(event, getattr(stage.callback, event), switch))
        stage.go()


def switch_rewards(stage: Any, target: Path, switch: Switch) -> None:
    """Where the switch is off, the functions are called as plain TRL calls them."""
    import numpy as np

    from rewards.rewardset import RewardSet

    functions = RewardSet.load(target).functions
    in_crew = stage.scoring._score_call

    def score(keywords: dict[str, Any]) -> Any:
        if switch.ours:
            return in_crew(keywords)
        return np.array([function(**keywords) for function in functions], dtype=float).T

    stage.scoring._score_call = score


def switched(event: str, hear: Callable[..., None], switch: Switch) -> Callable[..., None]:
    def heard(args: Any, state: Any, control: Any, **keywords: Any) -> None:
        if event == "on_step_begin":
            switch.step_begins(state.global_step)
        if switch.ours:
            hear(args, state, control, **keywords)

    return heard


if __name__ == "__main__":
    sys.exit(main())
