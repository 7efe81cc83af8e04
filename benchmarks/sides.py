"""One training through Reward Workbench or with plain TRL: same model, data, functions and settings."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).resolve().parent.parent / "workbench" / "templates" / "arithmetic"
Taken = tuple[float, float]


def run_side(side: str, project: Path, steps: int, folder: Path) -> list[Taken]:
    """Wall and CPU seconds of each step but the first of a fresh training."""
    from trainer.backends.transformers import load_policy, policy_tokenizer_of
    from trainer.environment import use_threads
    from trainer.job import Request, prepare_job
    from trainer.models.naming import resolve_model

    request = Request(
        str(project), model="toy", sets=(f"max_steps={steps}", f"save_steps={steps}"), allow_unsealed=True
    )
    job = prepare_job(request)
    model = resolve_model("toy").path
    tokenizer = policy_tokenizer_of(model)
    use_threads(1)
    clock = Clock()
    if side == "plain":
        policy = load_policy(model, job.settings, tokenizer)
        plain_trainer(job, policy, folder, [clock.callback()]).train()
    else:
        run_ours(job, request, model, tokenizer, folder, clock)
    return clock.steps()


def run_ours(job: Any, request: Any, model: Path, tokenizer: Any, folder: Path, clock: Clock) -> None:
    """A stage as `train` runs it, with everything that listens: monitor, samples, distance, record."""
    from trainer.assembly import crew_beside
    from trainer.ranks import ALONE
    from trainer.runfiles import RunFacts, create_run
    from trainer.stage_run import StageRun
    from trainer.stages import Ending
    from trainer.watching.listener import Listener

    class Tick(Listener):
        def step_begins(self, step: int) -> None:
            clock.tick()

    facts = RunFacts.of([job], request, model=model, threads=1)
    run = create_run(folder, [job], facts)
    ending = Ending(None, [], window=job.sizes.window, offset=0)
    with crew_beside(job) as crew:
        stage = StageRun(run, 0, job, facts, tokenizer, crew, None, ending, ALONE)
        stage.listeners.insert(0, Tick())
        stage.go()


def plain_trainer(job: Any, policy: Any, folder: Path, callbacks: list[Any]) -> Any:
    """What a user of TRL would write: the functions as they are."""
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    from rewards.rewardset import RewardSet
    from trainer.data.prompts import order, to_dataset
    from trainer.settings import build_config

    indices = order(len(job.data.train), job.plan.prompts_needed, seed=job.settings.seed, shuffle=True)
    config = build_config(
        job.settings,
        str(folder),
        max_steps=job.plan.max_steps,
        shuffle_dataset=False,
        reward_weights=job.description.weights,
    )
    trainer = GRPOTrainer(
        model=policy.model,
        reward_funcs=list(RewardSet.load(job.description.target).functions),
        args=config,
        train_dataset=to_dataset(job.data.train, indices),
        processing_class=policy.tokenizer,
        peft_config=policy.peft_config,
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class Clock:
    """Notes when each step begins; a step lasts until the next begins, so what happens after it counts too."""

    def __init__(self) -> None:
        self.begun: list[Taken] = []

    def callback(self) -> Any:
        from transformers import TrainerCallback

        clock = self

        class Tick(TrainerCallback):
            def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
                clock.tick()

        return Tick()

    def tick(self) -> None:
        """A step begins."""
        self.begun.append((time.perf_counter(), time.process_time()))

    def steps(self) -> list[Taken]:
        pairs = zip(self.begun[1:], self.begun[2:], strict=False)
        return [(after[0] - before[0], after[1] - before[1]) for before, after in pairs]
