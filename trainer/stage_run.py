"""One stage of a run, from top to bottom: rewards, policy, what listens, steps."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewards.errors import RewardWorkbenchError, ShortfallError, UsageError
from rewards.running import Crew
from trainer.assembly import build_trainer, crew_beside, order_seed, scoring_of
from trainer.backends.transformers import load_policy
from trainer.bounds import completion_tokens
from trainer.data.held_out import prompt_key
from trainer.diagnoses import out_of_memory
from trainer.environment import counted_threads, use_threads
from trainer.job import Job
from trainer.models.generation import end_tokens
from trainer.ranks import ALONE, GONE, AnotherEnded, Ranks, lost_another, sharded
from trainer.rewarding.completions import Recorder, ScoredBatch
from trainer.rewarding.wrapped import Scoring
from trainer.rundir import RunDir, checkpoint_step
from trainer.runfiles import RunFacts
from trainer.stages import Ending, beginning_of
from trainer.watching.callback import Weights, as_callback
from trainer.watching.curriculum import Curriculum
from trainer.watching.distance import Distance
from trainer.watching.evaluation import HeldOut
from trainer.watching.journal import Journal, Progress, say
from trainer.watching.listener import Listener, restore_states
from trainer.watching.live import LiveMonitor, facts_of
from trainer.watching.samples import Samples
from trainer.watching.weights import AdaptiveWeights

NO_PROBABILITIES = "probability tensor contains either"
"""What torch says where it is to sample from logits that are not finite."""


@dataclass(frozen=True)
class StageOutcome:
    """How a stage ended: the step it reached, and why if not by making all its steps.

    `done` is False where it is to be gone on with (`signal`: the one that stopped it).
    """

    step: int
    done: bool
    reason: str | None = None
    signal: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)


def run_stage(
    run: RunDir, index: int, job: Job, facts: RunFacts, tokenizer: Any, ranks: Ranks = ALONE
) -> StageOutcome:
    """Make the steps of a stage that are left.

    Raises:
        ShortfallError: out of memory or disk, weights that are not finite, or too many completions could not be
            scored.
        UsageError: TRL or PEFT refuses the settings.
    """
    checkpoint = ranks.share(run.stage_checkpoint(index))
    done = (checkpoint_step(checkpoint) if checkpoint else 0) or 0
    if done >= job.plan.max_steps:
        return StageOutcome(done, done=True)
    ending = _ending(run, index, job)
    if ranks.share(ending.already_met(run.offset(index) + done)):
        return StageOutcome(done, done=True, reason="its until was reached")
    with crew_beside(job) as crew:
        return StageRun(run, index, job, facts, tokenizer, crew, checkpoint, ending, ranks).go()


def _ending(run: RunDir, index: int, job: Job) -> Ending:
    offset = run.offset(index)
    lines = [line for line in run.metrics() if line["step"] > offset]
    return Ending(job.until, lines, window=job.sizes.window, offset=offset)


@contextlib.contextmanager
def _nothing_old_is_garbage() -> Iterator[None]:
    """What was loaded before the first step stays until the last: no step looks through all of it for garbage.

    TRL's trainer collects garbage at every step, which takes as long as there are objects: modules, model, libraries.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class StageRun:
    """The parts of a stage while it runs."""

    def __init__(
        self,
        run: RunDir,
        index: int,
        job: Job,
        facts: RunFacts,
        tokenizer: Any,
        crew: Future[Crew],
        checkpoint: Path | None,
        ending: Ending,
        ranks: Ranks,
    ) -> None:
        self.run, self.index, self.job, self.checkpoint = run, index, job, checkpoint
        self.ranks = ranks
        self.name = job.stage if len(run.stages()) > 1 else None
        self.offset = run.offset(index)
        use_threads(facts.threads)
        say(f"loading {job.settings.model} on {job.settings.device}, {counted_threads(facts.threads)}")
        self.policy = load_policy(
            Path(facts.model_path), job.settings, tokenizer, start=beginning_of(run, index)
        )
        done = (checkpoint_step(checkpoint) if checkpoint else 0) or 0
        self.progress = Progress(job.plan.max_steps, done)
        self.recorder = Recorder(run.completions)
        self.scoring = scoring_of(
            job, crew.result(), self._record, self.progress, offset=self.offset, ranks=ranks
        )
        self.weights = _Weights(self.scoring)
        self.monitor = self._monitor()
        self.ending = ending
        self.curriculum = self._curriculum()
        self.listeners = self._listeners() if ranks.is_main else []
        everywhere = [self.curriculum] if self.curriculum is not None else []
        self.listeners += [one for one in everywhere if ranks.is_main]
        self.scoring.audience.extend(self.listeners if ranks.is_main else everywhere)
        self.journal = Journal(
            run,
            total=job.plan.max_steps,
            window=job.sizes.window,
            names=self.scoring.names,
            extra=self.scoring.drain,
            flush=self.recorder.flush,
            progress=self.progress,
            index=index,
            offset=self.offset,
            stage=self.name,
        )
        self.callback = as_callback(self.journal, self.listeners, ranks, self.weights)

    def _record(self, batch: ScoredBatch) -> None:
        if self.ranks.is_main:
            self.recorder(batch)

    def go(self) -> StageOutcome:
        """Build TRL's trainer, train, say how it ended."""
        trainer = self._built()
        self.weights.trainer = trainer
        try:
            if self.checkpoint is not None:
                restore_states(self.listeners or [self.curriculum or Listener()], self.checkpoint)
            self.weights.put(self.ranks.share(self.weights.get()))
            if self.ranks.is_main:
                self.journal.begin()
            for listener in self.listeners:
                listener.begin(trainer)
            with self.journal.listening(), _nothing_old_is_garbage():
                trainer.train(resume_from_checkpoint=str(self.checkpoint) if self.checkpoint else None)
        except _out_of_memory() as error:
            raise self._memory_was_full(trainer, error) from error
        except OSError as error:
            raise ShortfallError(f"stopped at step {self._step(trainer) + 1}: {error}") from error
        except AnotherEnded as error:
            raise self._another_ended(trainer) from error
        except RuntimeError as error:
            if self.ranks.count > 1 and lost_another(error):
                raise self._another_ended(trainer) from error
            if NO_PROBABILITIES in str(error):
                raise self._blown_up(trainer) from error
            raise
        finally:
            self.journal.end()
            for listener in self.listeners:
                listener.end()
            self.recorder.close()
        return self._outcome(int(trainer.state.global_step))

    def _built(self) -> Any:
        """TRL's trainer; what it or PEFT refuses is the user's to change."""
        try:
            return build_trainer(
                self.run.checkpoints_of(self.index),
                self.job,
                self.policy,
                self.scoring,
                [self.callback],
                index=self.index,
                curriculum=self.curriculum,
            )
        except RewardWorkbenchError:
            raise
        except (ValueError, ImportError) as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise UsageError(f"TRL cannot train under these settings: {why[:400]}") from error

    def _outcome(self, step: int) -> StageOutcome:
        summary = self.journal.summary
        if step >= self.job.plan.max_steps:
            return StageOutcome(step, done=True, summary=summary)
        if self.ending.met and self.callback.reason == self.ending.reason_to_stop():
            return StageOutcome(step, done=True, reason=self.callback.reason, summary=summary)
        reason = self.callback.reason or f"stopped by {self.journal.stopping or 'its settings'}"
        return StageOutcome(step, done=False, reason=reason, signal=self.journal.stopping, summary=summary)

    def _monitor(self) -> LiveMonitor:
        own, trl = self.job.settings.own, self.job.settings.trl
        tokenizer = self.policy.tokenizer
        return LiveMonitor(
            facts_of(self.scoring.bound, total_steps=self.job.plan.max_steps, trl=trl),
            self.run.diagnoses_path,
            thresholds=own.monitor,
            halt=own.halt,
            offset=self.offset,
            stage=self.name,
            ends=[*end_tokens(self.policy.model, tokenizer), tokenizer.pad_token_id],
            say=self.progress.say,
        )

    def _listeners(self) -> list[Listener]:
        job, own = self.job, self.job.settings.own
        listeners: list[Listener] = [self.monitor]
        if any(one.entry.adaptive for one in self.scoring.bound):
            listeners.append(AdaptiveWeights(self.scoring.bound, self.weights.put))
        if own.samples_every:
            listeners.append(Samples(self.run.samples, own.samples_every, offset=self.offset))
        alone = not sharded()
        if own.kl_every and not job.settings.trl.get("beta") and job.settings.lora and alone:
            listeners.append(Distance(self.policy.tokenizer, own.kl_every))
        rows = list({prompt_key(row["prompt"]): row for row in self.run.holdout()}.values())
        if (own.held_out_every or own.kl_every) and not alone:
            self.progress.say(
                "note: the model's weights lie spread over the processes: no held-out evaluations, and no distance "
                "from the start (beta above 0 gives TRL's own kl)"
            )
        if own.held_out_every and rows and alone:
            listeners.append(
                HeldOut(
                    self.run.path,
                    rows[: own.held_out_prompts],
                    self.scoring,
                    self.policy.tokenizer,
                    every=own.held_out_every,
                    last=self.offset + job.plan.max_steps,
                    length=completion_tokens(job.settings.trl),
                    seed=job.settings.seed,
                    stage=self.name,
                )
            )
        return [*listeners, self.ending]

    def _curriculum(self) -> Curriculum | None:
        job, own = self.job, self.job.settings.own
        if not own.skip_dead:
            return None
        return Curriculum(
            job.data.train,
            per_batch=job.sizes.prompts,
            group=job.sizes.group,
            seed=order_seed(job, self.index),
            shuffle=own.shuffle,
            skip_dead=own.skip_dead,
            retry_dead=own.retry_dead,
            path=self.run.curriculum_path if self.ranks.is_main else None,
            offset=self.offset,
        )

    def _step(self, trainer: Any) -> int:
        return self.offset + int(trainer.state.global_step)

    def _memory_was_full(self, trainer: Any, error: BaseException) -> ShortfallError:
        phase = self.monitor.clock.phase
        diagnosis = out_of_memory(
            self.job.settings.trl, None if phase == "rewards" else phase, processes=self.ranks.count
        )
        step = self._step(trainer) + 1
        self.monitor.tell(step, diagnosis)
        gc.collect()
        return ShortfallError(f"out of memory at step {step}: {diagnosis.seen}; {diagnosis.advice}")

    def _blown_up(self, trainer: Any) -> ShortfallError:
        return ShortfallError(
            f"stopped at step {self._step(trainer) + 1}: the policy gives no probabilities any more, its weights or "
            "logits are not finite; lower learning_rate or max_grad_norm, or train in bfloat16 or float32 instead of "
            "float16; a resume goes on from the last checkpoint whose weights are finite"
        )

    def _another_ended(self, trainer: Any) -> ShortfallError:
        return ShortfallError(f"stopped at step {self._step(trainer) + 1}: {GONE}")


class _Weights(Weights):
    """TRL's weights and, with them, those of the totals and advantages in the record."""

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self.trainer: Any = None
        """TRL's, once it is built."""

    def get(self) -> list[float]:
        """The weights in force."""
        return list(self._scoring.weights)

    def put(self, weights: list[float]) -> None:
        """Weigh with these from now on."""
        import torch

        self._scoring.weights = list(weights)
        self.trainer.reward_weights = torch.tensor(weights, dtype=torch.float32)


def _out_of_memory() -> tuple[type[BaseException], ...]:
    import torch

    return (torch.OutOfMemoryError, MemoryError)
