"""The parts of one stage put together: rewards, scoring, TRL's trainer. All of it through their arguments alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rewards.errors import ShortfallError
from rewards.running import Crew
from trainer.backends.transformers import Policy
from trainer.data.prompts import order, to_dataset
from trainer.job import Job
from trainer.ranks import ALONE, Ranks
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Scoring, bind
from trainer.settings import build_config
from trainer.tools import load_factory, load_tools
from trainer.watching.curriculum import Curriculum, as_dataset
from trainer.watching.journal import Progress


def crew_of(job: Job) -> Crew:
    """Processes with the job's rewards loaded.

    Raises:
        ShortfallError: the code changed since the job was prepared.
    """
    crew = Crew(job.description.target, job.rewards)
    if crew.description.fingerprint != job.description.fingerprint:
        crew.close()
        raise ShortfallError(
            f"the reward set {job.description.target} changed while the run started; start again"
        )
    return crew


@contextlib.contextmanager
def crew_beside(job: Job) -> Iterator[Future[Crew]]:
    """`crew_of` in a thread, while a model loads; ended with the block.

    The thread stays as long as the block: a process may be made to end with the thread that started it.
    """
    with ThreadPoolExecutor(1, "crew") as pool:
        begun = pool.submit(crew_of, job)
        try:
            yield begun
        finally:
            if begun.exception() is None:
                begun.result().close()


def scoring_of(
    job: Job,
    crew: Crew,
    recorder: Callable[[ScoredBatch], None],
    progress: Progress,
    *,
    offset: int = 0,
    ranks: Ranks = ALONE,
) -> Scoring:
    """The job's rewards as TRL will call them, carried out by `crew`, recorded by `recorder`."""
    return Scoring(
        bind(job.description, job.rewards, job.weights),
        crew.call_all,
        group=job.sizes.group,
        eval_group=job.settings.trl.get("num_generations_eval"),
        aggregation=job.description.aggregation,
        scale_rewards=job.description.scale_rewards,
        record=recorder,
        printed=lambda text: progress.say(text.rstrip("\n")),
        warn=progress.say,
        failure_share=job.settings.own.failure_share,
        failure_window=max(job.settings.own.failure_window, job.sizes.rows),
        offset=offset,
        ranks=ranks,
    )


def order_seed(job: Job, index: int) -> int:
    """What decides the order of a stage's prompts: a later stage sees them in another one."""
    return job.settings.seed + index


def build_trainer(
    folder: Path,
    job: Job,
    policy: Policy,
    scoring: Scoring,
    callbacks: list[Any],
    *,
    index: int = 0,
    curriculum: Curriculum | None = None,
) -> Any:
    """TRL's GRPOTrainer of a job, writing its checkpoints to `folder`; `index` is the stage's.

    Where there is a `curriculum`, it chooses the rows.
    """
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    own = job.settings.own
    seed = order_seed(job, index)
    if curriculum is not None:
        dataset = as_dataset(to_dataset(job.data.train), job.plan.prompts_needed, curriculum)
    else:
        indices = order(len(job.data.train), job.plan.prompts_needed, seed=seed, shuffle=own.shuffle)
        dataset = to_dataset(job.data.train, indices)
    evaluates = str(job.settings.trl.get("eval_strategy", "no")) != "no"
    config = build_config(
        job.settings,
        str(folder),
        max_steps=job.plan.max_steps,
        num_train_epochs=1,
        seed=seed,
        shuffle_dataset=False,
        reward_weights=list(scoring.weights),
        scale_rewards=job.description.scale_rewards,
        multi_objective_aggregation=job.description.aggregation,
    )
    trainer = GRPOTrainer(
        model=policy.model,
        reward_funcs=scoring.functions(),
        args=config,
        train_dataset=dataset,
        eval_dataset=to_dataset(job.data.holdout) if evaluates and job.data.holdout else None,
        processing_class=policy.tokenizer,
        peft_config=policy.peft_config,
        callbacks=callbacks,
        tools=load_tools(own) or None,
        environment_factory=load_factory(own),
    )
    trainer.remove_callback(PrinterCallback)
    scoring.is_training = lambda: bool(trainer.model.training)
    return trainer
