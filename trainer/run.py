"""One training run, from top to bottom: job, folder, model, rewards, steps, adapter.

What differs from calling TRL's trainer by hand: the rewards are wrapped (`trainer.rewarding`), the data is put in the
order of one single pass, checkpoints lie only where nothing generated is left over, and everything the run knows stands
in its folder (`trainer.rundir`), from which `--resume` goes on as if nothing had happened.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rewards.errors import ShortfallError, UsageError
from rewards.manifest import read_manifest
from rewards.running import Crew
from trainer.backends.transformers import Policy, load_policy, policy_tokenizer_of
from trainer.completions import Recorder
from trainer.data import fit_to_model, load_data, order, to_dataset
from trainer.environment import choose_threads, quiet_libraries, require_one_process, use_threads
from trainer.job import (
    Job,
    Request,
    describe,
    make_job,
    prepare_job,
    replan,
    require_seal,
    seal_state,
    the_stage,
)
from trainer.journal import Journal, Progress, as_callback, duration, say
from trainer.models import resolve_model
from trainer.rewarding import Scoring, TooManyFailures, bind
from trainer.rundir import (
    DONE,
    FAILED,
    RUNNING,
    STOPPED,
    RunDir,
    checkpoint_step,
    choose_run_folder,
    find_run,
    latest_run,
    strict_json,
)
from trainer.runfiles import RunFacts, create_run, read_facts, settings_of
from trainer.settings import build_config

TINY = 5_000_000  # parameters below which a second thread only gets in the way
NOT_IN_A_MODEL = (
    "optimizer",
    "scheduler",
    "scaler",
    "rng_state",
    "trainer_state",
    "training_args",
    "whole.json",
)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: its folder, `status` done or stopped, the step reached, and the signal that stopped it."""

    run: RunDir
    status: str
    step: int
    signal: str | None = None


def train(request: Request) -> Outcome:
    """Train, from the start or from the last checkpoint.

    Raises:
        RewardWorkbenchError: wrong use, an unsealed set, or a run that had to stop; one sentence.
    """
    quiet_libraries()
    require_one_process()
    if request.resume:
        return _resume(request)
    job = prepare_job(request)
    require_seal(job, request)
    folder = choose_run_folder(job.root, job.description.name, request.run)
    model, tokenizer, job = _fit(job)
    facts = RunFacts.of(
        job, request, model=model, threads=choose_threads(job.settings.own.threads, tiny=_tiny(model))
    )
    run = create_run(folder, job, facts)
    _announce(job, run)
    with run.locked():
        return _go(run, job, facts, tokenizer)


def _resume(request: Request) -> Outcome:
    if request.sets or request.model:
        raise UsageError(
            "a run goes on under its own settings: --set and --model cannot stand beside --resume"
        )
    run = _run_to_resume(request)
    step = run.stages()[0].step
    if run.is_finished():
        say(f"run {run.path} is finished ({step} steps); nothing to do")
        return Outcome(run, DONE, step)
    with run.locked():
        facts = read_facts(run)
        job = _job_of(run, request, facts)
        _, tokenizer, job = _fit(job)
        if job.data.fingerprint != facts.data_fingerprint:
            raise UsageError(
                f"the training data changed since the run started ({job.data.source}); a run goes on only with the same"
            )
        checkpoint = run.last_checkpoint()
        at = checkpoint_step(checkpoint) if checkpoint else 0
        dropped = run.drop_after(at or 0)
        again = f"; {dropped} logged steps after it are made again" if dropped else ""
        where = f"from step {at}" if checkpoint else "from the start: no whole checkpoint was written yet"
        say(f"resuming {run.path} {where}{again}")
        return _go(run, job, facts, tokenizer)


def _run_to_resume(request: Request) -> RunDir:
    if request.run is not None:
        return find_run(request.run)
    description, _ = describe(request.target)
    found = latest_run(description.root, description.name)
    if found is None:
        raise UsageError(f"there is no run to resume under {description.root / 'runs'}; name one with --run")
    return RunDir.open(found)


def _job_of(run: RunDir, request: Request, facts: RunFacts) -> Job:
    """The run's job: its own settings and data, and the reward set as it is now, which has to be the same."""
    description, own = describe(request.target)
    if description.fingerprint != facts.fingerprint and not request.allow_unsealed:
        differs = "; ".join(seal_state(description).problems) or "the target is another one than the run's"
        raise ShortfallError(
            f"the reward set is not the one the run started with ({differs}); undo the change, start a new run, or go "
            f"on all the same: --resume --run {run.path} --allow-unsealed"
        )
    manifest = read_manifest(run.manifest_path)
    settings = settings_of(run, facts)
    data = load_data(manifest.data, run.path, seed=settings.seed)
    return make_job(own, description, settings, manifest.data, data, the_stage(manifest.train))


def _fit(job: Job) -> tuple[Path, Any, Job]:
    """The model's folder, its tokenizer, and the job over the prompts that fit it."""
    model = resolve_model(job.settings.model, root=job.root, say=say).path
    tokenizer = policy_tokenizer_of(model)
    data = fit_to_model(job.data, tokenizer, job.settings.own.max_prompt_length)
    return model, tokenizer, replan(job, data)


def _announce(job: Job, run: RunDir) -> None:
    for note in job.settings.notes:
        say(f"note: {note}")
    for sentence in job.data.skipped[:5]:
        say(f"left out: {sentence}")
    if len(job.data.skipped) > 5:
        say(f"left out: {len(job.data.skipped) - 5} more rows")
    if not job.seal.holds:
        say(f"warning: training an unsealed set, as asked: {'; '.join(job.seal.problems)}")
    elif job.seal.seal is not None and job.seal.seal.strength == "weak":
        say(
            "warning: the seal's evidence is weak: no labelled right and wrong completions were among the samples"
        )
    passes = f", {job.plan.epochs:.1f} passes" if job.plan.epochs > 1 else ""
    say(
        f"run {run.path}: {job.plan.max_steps} steps of {job.sizes.prompts} prompts x {job.sizes.group} completions "
        f"over {len(job.data.train)} prompts{passes}; {len(job.data.holdout)} held out"
    )


def _go(run: RunDir, job: Job, facts: RunFacts, tokenizer: Any) -> Outcome:
    """Make the steps that are left, then leave adapter and card behind."""
    checkpoint = run.last_checkpoint()
    done = checkpoint_step(checkpoint) if checkpoint else 0
    run.update_stage(0, status=RUNNING, step=done, reason=None, started=run.stages()[0].started or now())
    try:
        if (done or 0) < job.plan.max_steps:
            outcome = _steps(run, job, facts, tokenizer, checkpoint)
            if outcome.status == STOPPED:
                return outcome
        _finish(run, job)
    except BaseException as error:
        _note_failure(run, error)
        raise
    return Outcome(run, DONE, job.plan.max_steps)


def _steps(run: RunDir, job: Job, facts: RunFacts, tokenizer: Any, checkpoint: Path | None) -> Outcome:
    with crew_of(job) as crew:
        return _steps_with(crew, run, job, facts, tokenizer, checkpoint)


def _steps_with(
    crew: Crew, run: RunDir, job: Job, facts: RunFacts, tokenizer: Any, checkpoint: Path | None
) -> Outcome:
    use_threads(facts.threads)
    say(f"loading {job.settings.model} on {job.settings.device}, {facts.threads} CPU threads")
    policy = load_policy(Path(facts.model_path), job.settings, tokenizer)
    done = (checkpoint_step(checkpoint) if checkpoint else 0) or 0
    progress = Progress(job.plan.max_steps, done)
    recorder = Recorder(run.completions)
    scoring = scoring_of(job, crew, recorder, progress)
    journal = Journal(
        run,
        total=job.plan.max_steps,
        window=job.sizes.window,
        names=scoring.names,
        extra=scoring.drain,
        flush=recorder.flush,
        progress=progress,
    )
    trainer = build_trainer(run, job, policy, scoring, [as_callback(journal)])
    scoring.is_training = lambda: bool(trainer.model.training)
    journal.begin()
    try:
        with journal.listening():
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except _out_of_memory() as error:
        raise ShortfallError(
            f"out of GPU memory at step {trainer.state.global_step + 1}: {_smaller(job)}"
        ) from error
    except OSError as error:
        raise ShortfallError(f"stopped at step {trainer.state.global_step + 1}: {error}") from error
    finally:
        journal.end()
        recorder.close()
    step = int(trainer.state.global_step)
    if step < job.plan.max_steps:
        return _stopped(run, step, journal.stopping)
    run.update_stage(0, summary=journal.summary)
    return Outcome(run, RUNNING, step)


def build_trainer(run: RunDir, job: Job, policy: Policy, scoring: Scoring, callbacks: list[Any]) -> Any:
    """TRL's GRPOTrainer of a job: used through its arguments alone."""
    from transformers import PrinterCallback
    from trl import GRPOTrainer

    own = job.settings.own
    indices = order(len(job.data.train), job.plan.prompts_needed, seed=job.settings.seed, shuffle=own.shuffle)
    evaluates = str(job.settings.trl.get("eval_strategy", "no")) != "no"
    config = build_config(
        job.settings,
        str(run.checkpoints),
        max_steps=job.plan.max_steps,
        num_train_epochs=1,
        shuffle_dataset=False,
        reward_weights=scoring.weights,
        scale_rewards=job.description.scale_rewards,
        multi_objective_aggregation=job.description.aggregation,
    )
    trainer = GRPOTrainer(
        model=policy.model,
        reward_funcs=scoring.functions(),
        args=config,
        train_dataset=to_dataset(job.data.train, indices),
        eval_dataset=to_dataset(job.data.holdout) if evaluates and job.data.holdout else None,
        processing_class=policy.tokenizer,
        peft_config=policy.peft_config,
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


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


def scoring_of(job: Job, crew: Crew, recorder: Recorder, progress: Progress) -> Scoring:
    """The job's rewards as TRL will call them, carried out by `crew`, recorded by `recorder`."""
    return Scoring(
        bind(job.description, job.rewards),
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
    )


def _stopped(run: RunDir, step: int, signal_name: str | None) -> Outcome:
    run.update_stage(0, status=STOPPED, step=step, reason=f"stopped by {signal_name or 'its settings'}")
    say(f"stopped after step {step}, checkpoint written; go on with: {resume_line(run)}")
    return Outcome(run, STOPPED, step, signal_name)


def _finish(run: RunDir, job: Job) -> None:
    """Put the trained weights in place, mark the stage done, write the model card."""
    checkpoint = run.last_checkpoint()
    if checkpoint is None:
        raise ShortfallError(
            f"the run made its steps but left no whole checkpoint in {run.checkpoints}; is the disk full?"
        )
    target = run.adapter if job.settings.lora else run.full_model
    save_model(checkpoint, target)
    stage = run.update_stage(0, status=DONE, step=job.plan.max_steps, finished=now())
    write_card(run)
    runtime = (stage.summary or {}).get("train_runtime")
    took = f" in {duration(runtime)}" if isinstance(runtime, (int, float)) else ""
    say(
        f"finished: {job.plan.max_steps} steps{took}; {'adapter' if job.settings.lora else 'model'} in {target}"
    )
    if job.settings.lora:
        say(f"next: reward-workbench merge {run.path}")


def save_model(checkpoint: Path, target: Path) -> None:
    """Copy the model's part of a checkpoint to `target`, whole or not at all."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    for file in checkpoint.iterdir():
        if file.is_file() and not file.name.startswith(NOT_IN_A_MODEL) and file.name != "README.md":
            shutil.copy2(file, temporary / file.name)
    temporary.chmod(0o755)
    if target.exists():
        shutil.rmtree(target)
    temporary.rename(target)


def write_card(run: RunDir) -> None:
    """The run's README.md."""
    from importlib import import_module, util

    if util.find_spec("trainer.card") is not None:
        import_module("trainer.card").write_card(run)


def _note_failure(run: RunDir, error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt):
        run.update_stage(0, status=STOPPED, reason="interrupted")
        return
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    run.update_stage(0, status=FAILED, reason=reason)
    if isinstance(error, (TooManyFailures, ShortfallError)) and run.last_checkpoint():
        say(f"the run can go on from its last checkpoint: {resume_line(run)}")


def resume_line(run: RunDir) -> str:
    """The command that goes on with a run."""
    return f"reward-workbench train {read_facts(run).target} --run {run.path} --resume"


def _tiny(model: Path) -> bool:
    from trainer.loading import weight_files

    return sum(file.stat().st_size for file in weight_files(model)) < TINY * 4


def _out_of_memory() -> type[BaseException]:
    import torch

    error: type[BaseException] = torch.OutOfMemoryError
    return error


def _smaller(job: Job) -> str:
    trl = job.settings.trl
    rows, length = trl.get("per_device_train_batch_size", 8), trl.get("max_completion_length", 256)
    steps = []
    if rows > 1:
        steps.append(
            f"--set per_device_train_batch_size={rows // 2} with twice the gradient_accumulation_steps"
        )
    if not trl.get("gradient_checkpointing", True):
        steps.append("--set gradient_checkpointing=true")
    steps.append(f"--set max_completion_length={max(length // 2, 1)}")
    return "try " + ", or ".join(steps)


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def describe_outcome(outcome: Outcome) -> str:
    """One line of JSON for standard output: run folder, status, step."""
    return strict_json({"run": str(outcome.run.path), "status": outcome.status, "step": outcome.step})


def command_line() -> str:
    """How this process was started."""
    return " ".join(sys.argv)
