"""One training run, from top to bottom: jobs, folder, stages, adapter. A stage is in `trainer.stage_run`.

What differs from calling TRL's trainer by hand: the rewards are wrapped (`trainer.rewarding.wrapped`), the data is
put in the order of one single pass, checkpoints lie only where nothing generated is left over, and everything the run
knows stands in its folder (`trainer.rundir`), from which `--resume` goes on as if nothing had happened.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rewards.errors import RewardWorkbenchError, ShortfallError, UsageError
from rewards.manifest import read_manifest
from trainer.backends.transformers import policy_tokenizer_of
from trainer.data.prompts import fit_to_model, load_data
from trainer.environment import choose_threads, quiet_libraries
from trainer.job import Job, Request, describe, make_job, prepare_jobs, replan, require_seal, seal_state
from trainer.models.naming import resolve_model
from trainer.ranks import ALONE, Ranks, join, launched
from trainer.reports.stretches import gone_on, read_stretches, record_stretches, stretch_of
from trainer.rewarding.wrapped import TooManyFailures
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
from trainer.runfiles import (
    RunFacts,
    create_run,
    data_fingerprint,
    read_facts,
    settings_of,
    tools_fingerprint,
)
from trainer.stage_run import StageOutcome, run_stage
from trainer.tools import require_tools
from trainer.watching.journal import duration, say

TINY = 5_000_000  # parameters below which a second thread only gets in the way
NOT_IN_A_MODEL = (
    "optimizer",
    "scheduler",
    "scaler",
    "rng_state",
    "trainer_state",
    "training_args",
    "whole.json",
    "listeners.json",
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
    if request.resume:
        return _resume(request)
    jobs = prepare_jobs(request)
    require_seal(jobs[0], request)
    ranks = join(cpu=jobs[0].settings.device == "cpu")
    folder = ranks.from_main(lambda: choose_run_folder(jobs[0].root, jobs[0].description.name, request.run))
    model, tokenizer, jobs = _fit(jobs, ranks)

    def make() -> tuple[RunDir, RunFacts]:
        threads = choose_threads(jobs[0].settings.own.threads, tiny=_tiny(model))
        facts = RunFacts.of(jobs, request, model=model, threads=threads)
        return create_run(folder, jobs, facts), facts

    run, facts = ranks.from_main(make)
    _announce(jobs, run)
    with _locked(run, ranks):
        return _go(run, jobs, facts, tokenizer, ranks)


def _resume(request: Request) -> Outcome:
    if request.sets or request.model:
        raise UsageError(
            "a run goes on under its own settings: --set and --model cannot stand beside --resume"
        )
    run = _run_to_resume(request)
    if run.is_finished():
        step = steps_made(run)
        say(f"run {run.path} is finished ({step} steps); nothing to do")
        return Outcome(run, DONE, step)
    facts = read_facts(run)
    if facts.processes != launched():
        raise UsageError(
            f"the run was started with {facts.processes} process{'es' if facts.processes > 1 else ''}, and its batches "
            f"are cut for them; resume it with as many, not {launched()}"
        )
    ranks = join(cpu=facts.device == "cpu")
    with _locked(run, ranks):
        jobs = _jobs_of(run, request, facts)
        _, tokenizer, jobs = _fit(jobs, ranks)
        if data_fingerprint(jobs) != facts.data_fingerprint:
            raise UsageError(
                f"the training data changed since the run started ({jobs[0].data.source}); a run goes on only with "
                "the same"
            )
        if tools_fingerprint(jobs) != facts.tools_fingerprint:
            raise UsageError(
                "the files of tools or environment_factory changed since the run started; a run goes on only with the "
                "same"
            )
        facts = ranks.from_main(lambda: _go_on_under(run, jobs, facts, _go_back(run)))
        return _go(run, jobs, facts, tokenizer, ranks)


@contextmanager
def _locked(run: RunDir, ranks: Ranks) -> Iterator[None]:
    """The run held by rank 0 for all."""
    with ExitStack() as stack:
        ranks.from_main(lambda: stack.enter_context(run.locked()))
        yield


def _go_on_under(run: RunDir, jobs: Sequence[Job], facts: RunFacts, step: int) -> RunFacts:
    """The facts of a run that goes on after `step`; where its rewards are others now, that is written down and said."""
    if step >= sum(stage.max_steps for stage in run.stages()):
        return facts  # no step is left that they could pay
    before = read_stretches(run, facts)
    stretches = gone_on(before, stretch_of(jobs, run, step + 1))
    if stretches == before and stretches[-1].fingerprint == facts.fingerprint:
        return facts
    changed = record_stretches(run, facts, stretches)
    if not changed.sealed:
        say(f"warning: the run is not sealed, as its card will say: {'; '.join(changed.unsealed_because)}")
    return changed


def _go_back(run: RunDir) -> int:
    """To the last whole checkpoint of the stage that is not done: what came after it is made again. Its step."""
    stages = run.stages()
    index = next(number for number, stage in enumerate(stages) if stage.status != DONE)
    checkpoint = run.stage_checkpoint(index)
    at = (checkpoint_step(checkpoint) if checkpoint else 0) or 0
    step = run.offset(index) + at
    dropped = run.drop_after(step, index)
    for target in (run.adapter, run.full_model):
        for left_over in run.path.glob(f".{target.name}-*"):
            shutil.rmtree(left_over)  # of a copy that a kill cut short
    run.update_stage(index, step=at)
    again = f"; {dropped} logged steps after it are made again" if dropped else ""
    if checkpoint or index:
        say(f"resuming {run.path} from step {step}{again}")
    else:
        say(f"resuming {run.path} from the start: no whole checkpoint was written yet{again}")
    return step


def _run_to_resume(request: Request) -> RunDir:
    if request.run is not None:
        return find_run(request.run)
    description, _ = describe(request.target)
    found = latest_run(description.root, description.name)
    if found is None:
        raise UsageError(f"there is no run to resume under {description.root / 'runs'}; name one with --run")
    return RunDir.open(found)


def _jobs_of(run: RunDir, request: Request, facts: RunFacts) -> tuple[Job, ...]:
    """The run's jobs: its own settings and data, and the reward set as it is now, which has to be the same."""
    description, own = describe(request.target)
    if description.fingerprint != facts.fingerprint and not request.allow_unsealed:
        differs = "; ".join(seal_state(description).problems) or "the target is another one than the run's"
        raise ShortfallError(
            f"the reward set is not the one the run started with ({differs}); undo the change, start a new run, or go "
            f"on all the same: --resume --run {run.path} --allow-unsealed"
        )
    manifest = read_manifest(run.manifest_path)
    settings = settings_of(run, facts)
    data = load_data(manifest.data, run.path, seed=settings[0].seed)
    return tuple(
        make_job(own, description, one, manifest.data, data, stage)
        for one, stage in zip(settings, manifest.train.stage, strict=True)
    )


def _fit(jobs: Sequence[Job], ranks: Ranks) -> tuple[Path, Any, tuple[Job, ...]]:
    """The model's folder, its tokenizer, and the jobs over the prompts that fit it."""
    find = partial(resolve_model, jobs[0].settings.model, root=jobs[0].root, say=say)
    ranks.from_main(lambda: find().path)  # what has to be fetched or built is so once
    model = find().path
    tokenizer = policy_tokenizer_of(model, jobs[0].settings)
    for job in jobs:
        require_tools(job.settings.own, tokenizer, job.settings.model)
    fitted = [
        replan(job, fit_to_model(job.data, tokenizer, job.settings.own.max_prompt_length)) for job in jobs
    ]
    return model, tokenizer, tuple(fitted)


def _announce(jobs: Sequence[Job], run: RunDir) -> None:
    job = jobs[0]
    for note in dict.fromkeys(note for one in jobs for note in one.settings.notes):
        say(f"note: {note}")
    for every in dict.fromkeys(one.settings.own.held_out_every for one in jobs):
        if every and not job.data.holdout:
            say(f"note: held_out_every={every} evaluates nothing: no rows are held out (holdout in [data])")
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
    for one in jobs:
        passes = f", {one.plan.epochs:.1f} passes" if one.plan.epochs > 1 else ""
        name = f", stage {one.stage}" if len(jobs) > 1 else ""
        say(
            f"run {run.path}{name}: {one.plan.max_steps} steps of {one.sizes.prompts} prompts x {one.sizes.group} "
            f"completions over {len(one.data.train)} prompts{passes}; {len(one.data.holdout)} held out"
        )


def _go(run: RunDir, jobs: Sequence[Job], facts: RunFacts, tokenizer: Any, ranks: Ranks = ALONE) -> Outcome:
    """Make the stages that are left one after the other, then leave adapter and card behind."""
    for index, job in enumerate(jobs):
        stage = ranks.share(run.stages()[index])
        if stage.status == DONE:
            continue
        if len(jobs) > 1:
            say(f"stage {index + 1} of {len(jobs)}, {job.stage}: rewards {', '.join(job.rewards)}")
        begun = {"status": RUNNING, "reason": None, "started": stage.started or now()}
        ranks.from_main(partial(run.update_stage, index, **begun))
        try:
            ended = ranks.share(run_stage(run, index, job, facts, tokenizer, ranks))
            after = partial(_end_stage if ended.done else _stopped, run, index, job, ended)
            outcome = ranks.from_main(after)
        except BaseException as error:
            if ranks.is_main:
                _note_failure(run, index, error)
            raise
        if outcome is not None:
            return outcome
    ranks.from_main(partial(_finish, run, jobs))
    return Outcome(run, DONE, steps_made(run))


def _stopped(run: RunDir, index: int, job: Job, ended: StageOutcome) -> Outcome | None:
    run.update_stage(index, status=STOPPED, step=ended.step, reason=ended.reason)
    step = run.offset(index) + ended.step
    why = "" if ended.signal else f" ({ended.reason})"
    say(f"stopped after step {step}{why}; go on with: {resume_line(run)}")
    return Outcome(run, STOPPED, step, ended.signal)


def _end_stage(run: RunDir, index: int, job: Job, ended: StageOutcome) -> Outcome | None:
    """Put the trained weights in place and mark the stage done; None: the run goes on."""
    checkpoint = run.stage_checkpoint(index)
    if checkpoint is None:
        raise ShortfallError(
            f"the run made its steps but left no whole checkpoint in {run.checkpoints_of(index)}; is the disk full?"
        )
    save_model(checkpoint, run.adapter if job.settings.lora else run.full_model)
    summary = {"summary": ended.summary} if ended.summary else {}
    run.update_stage(index, status=DONE, step=ended.step, reason=ended.reason, finished=now(), **summary)
    if ended.reason:
        say(f"stage '{job.stage}' ended after {ended.step} steps: {ended.reason}")
    return None


def _finish(run: RunDir, jobs: Sequence[Job]) -> None:
    """Write the model card and say what comes next."""
    write_card(run)
    times = [(stage.summary or {}).get("train_runtime") for stage in run.stages()]
    known = [float(taken) for taken in times if isinstance(taken, (int, float))]
    took = f" in {duration(sum(known))}" if len(known) == len(times) else ""
    lora = jobs[-1].settings.lora
    what, target = ("adapter", run.adapter) if lora else ("model", run.full_model)
    say(f"finished: {steps_made(run)} steps{took}; {what} in {target}")
    if lora:
        say(f"next: reward-workbench merge {run.path}")


def steps_made(run: RunDir) -> int:
    """The steps of all stages together."""
    return sum(stage.step for stage in run.stages())


def save_model(checkpoint: Path, target: Path) -> None:
    """Copy the model's part of a checkpoint to `target`, whole or not at all."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    for file in checkpoint.iterdir():
        if file.is_file() and not file.name.startswith(NOT_IN_A_MODEL) and file.name != "README.md":
            shutil.copy2(file, temporary / file.name)
    _put_in_order(temporary / "adapter_config.json")
    temporary.chmod(0o755)
    if target.exists():
        shutil.rmtree(target)
    temporary.rename(target)


def _put_in_order(config: Path) -> None:
    """Sort the modules an adapter names: peft writes them as a set, in another order in every process."""
    if not config.is_file():
        return
    values = json.loads(config.read_text(encoding="utf-8"))
    for name in ("target_modules", "modules_to_save", "exclude_modules"):
        if isinstance(values.get(name), list):
            values[name] = sorted(values[name])
    config.write_text(json.dumps(values, indent=2, sort_keys=True), encoding="utf-8")


def write_card(run: RunDir) -> None:
    """The run's README.md and report.html; where they cannot be written that is said, and the run is finished."""
    from importlib import import_module, util

    if util.find_spec("trainer.reports.card") is not None:
        try:
            import_module("trainer.reports.card").write_card(run)
        except RewardWorkbenchError as error:
            say(f"the weights are in place; {error}")


def _note_failure(run: RunDir, index: int, error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt):
        run.update_stage(index, status=STOPPED, reason="interrupted")
        return
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    run.update_stage(index, status=FAILED, reason=reason)
    if isinstance(error, (TooManyFailures, ShortfallError)) and run.last_checkpoint():
        say(f"the run can go on from its last checkpoint: {resume_line(run)}")


def resume_line(run: RunDir) -> str:
    """The command that goes on with a run; with several processes the launcher's own options stand before it."""
    facts = read_facts(run)
    words = f"train {facts.target} --run {run.path} --resume"
    if facts.processes > 1:
        return f"accelerate launch ... --num_processes {facts.processes} -m trainer {words}"
    return f"reward-workbench {words}"


def _tiny(model: Path) -> bool:
    from trainer.models.loading import weight_files

    return sum(file.stat().st_size for file in weight_files(model)) < TINY * 4


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def describe_outcome(outcome: Outcome) -> str:
    """One line of JSON for standard output: run folder, status, step."""
    return strict_json({"run": str(outcome.run.path), "status": outcome.status, "step": outcome.step})
