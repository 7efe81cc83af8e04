"""A reward set in a trainer of one's own: the script stays TRL's, the workbench does the rest.

    from trl import GRPOConfig, GRPOTrainer
    from trainer import attach

    with attach("rewardset.toml") as s:
        trainer = GRPOTrainer(
            model="Qwen/Qwen2.5-0.5B-Instruct",
            reward_funcs=s.reward_funcs,
            args=GRPOConfig(output_dir="out", reward_weights=s.weights),
            train_dataset=dataset,
            callbacks=[s.monitor()],
        )
        trainer.train()

The rewards run in processes of their own, all at once, with deadlines; a row that fails is left out. The seal is
checked first. Into `output_dir` go `completions/`, `samples/`, `metrics.jsonl`, `diagnoses.jsonl` and
`attached.json`; `reward-workbench watch`, `merge` and `compare` take that folder.

A script that is run again goes on where it was: `trainer.train(resume_from_checkpoint=s.last_checkpoint("out"))` takes
the last checkpoint that was written to its end (None: from the start), what was recorded after it is made again. Under
a launcher (`accelerate launch`) rank 0 alone writes the folder; groups are put together from all processes.

What needs the workbench's own trainer: stages, adaptive weights, resuming in the middle of a generation window.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

from rewards.contract import Reward
from rewards.errors import ShortfallError, UsageError
from rewards.running import Crew
from trainer.bare import ATTACHED
from trainer.job import seal_state
from trainer.plan import batching
from trainer.ranks import joined, sharded
from trainer.rewarding.completions import Recorder, ScoredBatch
from trainer.rewarding.wrapped import Scoring, bind
from trainer.rundir import RunDir, checkpoint_step, is_whole_checkpoint, record_checkpoint, write_json
from trainer.watching.callback import as_callback
from trainer.watching.distance import Distance
from trainer.watching.halt import check_halt
from trainer.watching.journal import Journal, Progress, say
from trainer.watching.listener import Listener, restore_states
from trainer.watching.live import LiveMonitor, facts_of
from trainer.watching.samples import Samples
from trainer.watching.thresholds import Thresholds

EVENTS = (
    "on_step_begin",
    "on_pre_optimizer_step",
    "on_step_end",
    "on_log",
    "on_save",
)


def attach(target: str | Path, *, only: Sequence[str] = (), allow_unsealed: bool = False) -> Attached:
    """A reward set ready for a GRPOTrainer. A context manager; leaving it ends the rewards' processes.

    Args:
        target: a project folder, `rewardset.toml`, `rewards.py` or `rewards.py::NAME`.
        only: names of the rewards to use, in this order; none: all.
        allow_unsealed: train a set that is not sealed as it is.

    Raises:
        ShortfallError: the set is not sealed as it is.
        RewardWorkbenchError: the target cannot be loaded, or has no such reward.
    """
    crew = Crew(str(target), only)
    try:
        seal = seal_state(crew.description)
        if not seal.holds and not allow_unsealed:
            raise ShortfallError(
                f"the reward set is not sealed as it is: {'; '.join(seal.problems)}; check it: reward-workbench check "
                f"{target} --seal; or use it all the same: attach(..., allow_unsealed=True)"
            )
        return Attached(crew, sealed=seal.holds)
    except BaseException:
        crew.close()
        raise


class Attached:
    """What `attach` gives: `reward_funcs` and `weights` for TRL, and `monitor()` for its callbacks."""

    def __init__(self, crew: Crew, *, sealed: bool) -> None:
        self.sealed = sealed
        self._crew = crew
        self._recorder: Recorder | None = None
        self._writes = True
        self.parts: _Parts | None = None
        """What listens while a `train()` goes on."""
        description = crew.description
        self.scoring = Scoring(
            bind(description, crew.names),
            crew.call_all,
            group=1,
            aggregation=description.aggregation,
            scale_rewards=description.scale_rewards,
            record=self._record,
            printed=lambda text: say(text.rstrip("\n")),
            warn=say,
        )
        if any(one.entry.adaptive for one in self.scoring.bound):
            say("note: adaptive weights need `reward-workbench train`; here they stay as declared")

    @property
    def reward_funcs(self) -> list[Reward]:
        """One function a reward, for `GRPOTrainer(reward_funcs=...)`."""
        return self.scoring.functions()

    @property
    def weights(self) -> list[float]:
        """For `GRPOConfig(reward_weights=...)`, in the order of `reward_funcs`."""
        return list(self.scoring.weights)

    @property
    def modes(self) -> dict[str, str]:
        """The set's `scale_rewards` and `multi_objective_aggregation`, as keywords of GRPOConfig."""
        description = self._crew.description
        return {
            "scale_rewards": description.scale_rewards,
            "multi_objective_aggregation": description.aggregation,
        }

    def monitor(
        self,
        *,
        thresholds: Mapping[str, float] | None = None,
        halt: bool | Collection[str] = False,
        samples_every: int = 50,
        kl_every: int = 10,
    ) -> Any:
        """The callback that records, watches and writes; to be given to the trainer.

        Args:
            thresholds: where the monitor draws its lines, by the names of `trainer.watching.thresholds.Thresholds`.
            halt: what it stops the run for; True: the usual four; default: nothing.
            samples_every: steps between samples put aside; 0: none.
            kl_every: steps between measurements of the distance from the start where beta is 0; 0: never.
        """
        try:
            lines = Thresholds.model_validate(dict(thresholds or {}))
        except ValueError as error:
            raise UsageError(f"monitor(thresholds=...): {str(error).splitlines()[1]}") from error
        check_halt(halt)
        return _callback(self, _Options(lines, halt, samples_every, kl_every))

    @staticmethod
    def last_checkpoint(folder: str | Path) -> str | None:
        """The last whole checkpoint in an output folder, for `train(resume_from_checkpoint=...)`; None: there is none.

        `resume_from_checkpoint=True` takes the highest number, even of one that a kill cut short.
        """
        numbered = [(checkpoint_step(path) or 0, path) for path in Path(folder).glob("checkpoint-*")]
        whole = [pair for pair in numbered if is_whole_checkpoint(pair[1])]
        return str(max(whole)[1]) if whole else None

    def close(self) -> None:
        """End the rewards' processes, and the record of a training that was left by an error."""
        try:
            if self.parts is not None:
                self.parts.close()
        finally:
            self.parts = None
            self._crew.close()

    def __enter__(self) -> Attached:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _record(self, batch: ScoredBatch) -> None:
        if self._recorder is None:
            raise UsageError("the monitor is not in the trainer: GRPOTrainer(..., callbacks=[s.monitor()])")
        if self._writes:
            self._recorder(batch)

    def prepare(self, arguments: Any) -> None:
        """Take the sizes of groups and the modes from the trainer's GRPOConfig.

        Raises:
            UsageError: its weights or modes are not the set's.
        """
        given = arguments.reward_weights
        in_force = [1.0] * len(self.weights) if given is None else [float(one) for one in given]
        if in_force != [float(one) for one in self.weights]:
            said = "no reward_weights, so all are 1" if given is None else f"reward_weights={list(given)}"
            raise UsageError(
                f"GRPOConfig has {said}; the set's are {self.weights}: pass reward_weights=s.weights"
            )
        for name, mode in self.modes.items():
            if self._crew.description.manifest_path and str(getattr(arguments, name)) != mode:
                raise UsageError(
                    f"GRPOConfig has {name}={str(getattr(arguments, name))!r}, the set {mode!r}: pass **s.modes"
                )
        self.scoring.use_groups(
            int(arguments.num_generations),
            int(getattr(arguments, "num_generations_eval", None) or arguments.num_generations),
            aggregation=str(arguments.multi_objective_aggregation),
            scale_rewards=str(arguments.scale_rewards),
        )

    def record_to(self, folder: Path, *, writes: bool = True) -> Recorder:
        """Record completions from now on; with `writes` False (on other ranks than 0) they are passed over."""
        self._recorder, self._writes = Recorder(folder), writes
        return self._recorder

    def facts(self, max_steps: int, length: int | None, template: Mapping[str, Any] | None) -> dict[str, Any]:
        """What attached.json says; `length`: tokens of the longest completion, `template`: `chat_template_kwargs`."""
        description = self._crew.description
        return {
            "target": str(Path(description.target.partition("::")[0]).resolve())
            + description.target[len(description.target.partition("::")[0]) :],
            "fingerprint": description.fingerprint,
            "sealed": self.sealed,
            "weights": dict(zip(self.scoring.names, self.weights, strict=True)),
            "rewards": list(self._crew.names),
            "max_steps": max_steps,
            "max_completion_length": length,
            "chat_template_kwargs": dict(template or {}),
        }


class _Options:
    """The arguments of `monitor`."""

    def __init__(
        self, thresholds: Thresholds, halt: bool | Collection[str], samples_every: int, kl_every: int
    ) -> None:
        self.thresholds, self.halt = thresholds, halt
        self.samples_every, self.kl_every = samples_every, kl_every


class _OwnJournal(Journal):
    """The journal of a folder that has no stages; what TRL writes there stays TRL's."""

    def saved(self, checkpoint: Path, step: int, *, finite: bool = True) -> None:
        """A checkpoint was written to its end."""
        if checkpoint.is_dir():
            record_checkpoint(checkpoint, finite=finite)


def _callback(attached: Attached, options: _Options) -> Any:
    from transformers import TrainerCallback

    class AttachedCallback(TrainerCallback):
        """Opens the record when training begins, hands events on, closes it at the end."""

        inner: Any = None

        def on_init_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            attached.prepare(args)

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            attached.parts = _Parts(
                attached, options, args, state, kwargs["model"], kwargs["processing_class"]
            )
            self.inner = attached.parts.callback

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if attached.parts is not None:
                attached.parts.close()
            self.inner = attached.parts = None

    def hand_on(event: str) -> Any:
        def handle(self: Any, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if self.inner is not None:
                getattr(self.inner, event)(args, state, control, **kwargs)

        return handle

    for event in EVENTS:
        setattr(AttachedCallback, event, hand_on(event))
    return AttachedCallback()


class _Parts:
    """What listens during one `train()`."""

    def __init__(
        self, attached: Attached, options: _Options, args: Any, state: Any, model: Any, tokenizer: Any
    ) -> None:
        run = RunDir(Path(args.output_dir).absolute())
        done, total = int(state.global_step), int(state.max_steps)
        ranks = joined()
        if ranks.is_main:
            run.path.mkdir(parents=True, exist_ok=True)
            run.completions.mkdir(exist_ok=True)
            run.drop_records(done)
            write_json(
                run.path / ATTACHED,
                attached.facts(total, args.max_completion_length, args.chat_template_kwargs),
            )
        self.recorder = attached.record_to(run.completions, writes=ranks.is_main)
        scoring = attached.scoring
        scoring.ranks = ranks
        scoring.is_training = lambda: bool(model.training)
        trl = {
            name: getattr(args, name, None) for name in ("num_generations", "max_completion_length", "beta")
        }
        ends = {tokenizer.eos_token_id, tokenizer.pad_token_id, *_ids(model.generation_config.eos_token_id)}
        self.listeners: list[Listener] = [
            LiveMonitor(
                facts_of(scoring.bound, total_steps=total, trl=trl),
                run.diagnoses_path,
                thresholds=options.thresholds,
                halt=options.halt,
                ends={one for one in ends if one is not None},
                say=say,
            ),
            Samples(run.samples, options.samples_every),
        ]
        if options.kl_every and not args.beta and not sharded():
            self.listeners.append(Distance(tokenizer, options.kl_every))
        if done and (run.path / f"checkpoint-{done}").is_dir():
            restore_states(self.listeners, run.path / f"checkpoint-{done}")
        if not ranks.is_main:
            self.listeners = []
        scoring.audience[:] = self.listeners
        self.journal = _OwnJournal(
            run,
            total=total,
            window=_window(args, ranks.count),
            names=scoring.names,
            extra=scoring.drain,
            flush=self.recorder.flush,
            progress=Progress(total, done, terminal=False),
        )
        self.callback = as_callback(self.journal, self.listeners, ranks)
        if ranks.is_main:
            self.journal.begin()
        seen = SimpleNamespace(model=model, accelerator=SimpleNamespace(unwrap_model=lambda one: one))
        for listener in self.listeners:
            listener.begin(seen)

    def close(self) -> None:
        """Write what is left."""
        self.journal.end()
        for listener in self.listeners:
            listener.end()
        self.recorder.close()


def _ids(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]


def _window(args: Any, processes: int) -> int:
    names = (
        "per_device_train_batch_size",
        "gradient_accumulation_steps",
        "num_generations",
        "steps_per_generation",
        "num_iterations",
    )
    return batching({name: getattr(args, name, None) for name in names}, processes).window
