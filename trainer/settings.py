"""The settings of a run: one typed object, resolved from preset, manifest and command line.

From weak to strong: the preset, the manifest's `[train]`, the stage, `--set`. Besides a few settings of ours
(`OWN`), every setting of TRL's `GRPOConfig` can be given by its own name. Names and values of older guides
are translated to what the installed TRL takes, each with a note. Nothing here imports torch; `check_with_trl`
alone loads TRL, to let its own class have the last word before any model is loaded.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from rewards.errors import MissingExtraError, UsageError
from rewards.manifest import Stage, TrainSettings, explain_validation
from rewards.targets import did_you_mean
from trainer.backends.choice import Backend, fit_backend, lora_defaults, prepare
from trainer.bounds import check_bounds
from trainer.plan import batching, check_evaluation
from trainer.presets import ALL_LINEAR, TOY, find_preset
from trainer.saving import Saves, aligned, every_of, fitting, who_said
from trainer.watching.halt import check_halt
from trainer.watching.thresholds import Thresholds

Device = Literal["cpu", "cuda", "mps"]

NEUTRAL: dict[str, Any] = {
    "seed": 42,
    "report_to": "none",
    "logging_steps": 1,
    "log_completions": False,
    "num_completions_to_print": 0,
    "logging_nan_inf_filter": False,
    "disable_tqdm": True,
    "remove_unused_columns": False,
    "save_strategy": "steps",
}
"""Our own defaults under every preset: our record of completions replaces TRL's, a NaN loss is shown as
NaN."""

NOT_SETTABLE = {
    "output_dir": "the run folder is chosen with --run",
    "resume_from_checkpoint": "a run is continued with --resume",
    "reward_weights": "weights belong to the reward set: weight = ... of the [[reward]] table",
    "scale_rewards": "it belongs to the reward set: scale_rewards = ... in [set]",
    "multi_objective_aggregation": "it belongs to the reward set: aggregation = ... in [set]",
    "shuffle_dataset": "the trainer orders the data itself, so that a resumed run is exact: shuffle = true | false",
    "auto_find_batch_size": "GRPO needs whole groups; give a smaller per_device_train_batch_size",
    "save_only_model": "a run must be able to resume, which needs the optimizer's state",
    "load_best_model_at_end": "the result is the model of the last step",
    "ignore_data_skip": "a resumed run would train again on the prompts it began with",
    "logging_strategy": "the record, adaptive weights and `until` go by steps: logging_steps = ...",
}

RENAMED = {
    "evaluation_strategy": "eval_strategy",
    "no_cuda": "use_cpu",
    "use_transformers_paged": "use_transformers_continuous_batching",
    "vllm_max_model_len": "vllm_max_model_length",
    "vllm_guided_decoding_regex": "vllm_structured_outputs_regex",
    "vllm_importance_sampling_cap": "vllm_importance_sampling_clip_max",
    "wandb_log_unique_prompts": "log_unique_prompts",
    "torch_dtype": "dtype",
    "attn_implementation": "attention",
}
GONE = {
    "overwrite_output_dir": "a run never overwrites another",
    "save_safetensors": "safetensors is the only format now",
    "logging_dir": "TRL keeps tracker files beside the checkpoints",
    "group_by_length": "TRL's GRPO never used it",
    "use_liger_loss": "TRL chooses the fused loss itself",
    "vllm_device": "vLLM runs colocated or as a server (vllm_mode)",
}
CHOICES: dict[str, tuple[str, ...]] = {
    "loss_type": ("grpo", "dr_grpo", "dapo", "bnpo", "cispo", "sapo", "luspo", "vespo"),
    "vllm_mode": ("colocate", "server"),
    "importance_sampling_level": ("token", "sequence"),
}
TRACKERS = {"tensorboard": "tensorboard", "trackio": "trackio", "wandb": "wandb"}


class Lora(BaseModel):
    """A LoRA adapter: `r` is its rank, `alpha / r` its scale, `targets` the linear layers it sits on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    r: int = Field(16, ge=1)
    alpha: float = Field(32, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    targets: str | tuple[str, ...] = ALL_LINEAR

    @field_validator("targets", mode="after")
    @classmethod
    def _no_head(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if value == ALL_LINEAR:
            return value
        parts = value.split(",") if isinstance(value, str) else value
        named = tuple(part.strip() for part in parts if part.strip())
        if any(part.rpartition(".")[2] == "lm_head" for part in named):
            raise ValueError("must not name lm_head: with tied embeddings it cannot be merged")
        return named


class Own(BaseModel):
    """The settings of ours that stand beside TRL's.

    `backend`: what holds the policy and generates. `load_in_4bit`: whether the base's weights are held in 4
    bits (None: with Unsloth). `max_prompt_length`: tokens; longer prompts are left out of training (None:
    none is). `failure_share`: the run stops when more than this share of the last `failure_window`
    completions could not be scored.
    `threads`: CPU threads (0: chosen by the machine's load). `dtype`: of the weights; `attention`:
    implementation; auto = by the device. `shuffle`: whether training prompts are shuffled.
    `monitor`: where the monitor draws its lines. `halt`: what it stops the run for; true = the usual four.
    `kl_every`: steps between measurements of the distance from the starting model where beta is 0 (0: never).
    `samples_every`: steps between samples put aside (0: none). `held_out_every`: steps between evaluations on
    `held_out_prompts` held-out prompts (0: none).
    `skip_dead`: a prompt without an advantage at its last so many visits is passed over (0: none is), and tried
    again after `retry_dead` steps.
    `tools`: functions the model may call, `FILE::NAME`; `environment_factory`: what makes the environment of a
    completion, likewise; both as in GRPOTrainer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    backend: Backend = "transformers"
    load_in_4bit: bool | None = None
    max_prompt_length: int | None = Field(None, ge=1)
    failure_share: float = Field(0.2, ge=0, le=1)
    failure_window: int = Field(64, ge=1)
    threads: int = Field(0, ge=0)
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    attention: str = "auto"
    shuffle: bool = True
    monitor: Thresholds = Thresholds()
    halt: bool | tuple[str, ...] = False
    kl_every: int = Field(10, ge=0)
    samples_every: int = Field(50, ge=0)
    held_out_every: int = Field(0, ge=0)
    held_out_prompts: int = Field(16, ge=1)
    skip_dead: int = Field(0, ge=0)
    retry_dead: int = Field(100, ge=1)
    tools: tuple[str, ...] = ()
    environment_factory: str | None = None

    @field_validator("halt", "tools", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value


class Settings(BaseModel):
    """Everything a run is trained under. `trl` holds keywords of GRPOConfig (all but output_dir); `notes`
    what was translated; `saves` who said `save_steps`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str
    model: str
    device: Device
    lora: Lora | None
    own: Own
    trl: dict[str, Any]
    notes: tuple[str, ...] = ()
    saves: Saves = "said"

    def planned(self, steps: int, window: int) -> Settings:
        """These settings with checkpoints where a run of so many steps needs them (`trainer.saving`)."""
        line = 1 if self.saves == "said" else self.trl.get("logging_steps")
        every = aligned(fitting(every_of(self.trl), steps, self.saves), window, line)
        if every == self.trl.get("save_steps"):
            return self
        return self.model_copy(update={"trl": {**self.trl, "save_steps": every}})

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.trl.get("seed", NEUTRAL["seed"]))  # None is TRL's own, which is the same

    def to_manifest(self) -> dict[str, Any]:
        """The `[train]` table that gives these settings again; None is left out (TOML has none)."""
        table: dict[str, Any] = {"preset": self.preset, "model": self.model}
        table["lora"] = self.lora.model_dump(mode="json") if self.lora else False
        own = self.own.model_dump(mode="json")
        own["monitor"] = self.own.monitor.model_dump(mode="json", exclude_defaults=True) or None
        table.update({name: value for name, value in {**own, **self.trl}.items() if value is not None})
        return table

    @classmethod
    def from_manifest(cls, table: Mapping[str, Any], *, device: str, notes: Iterable[str] = ()) -> Settings:
        """The settings `to_manifest` wrote; nothing is looked up or filled in."""
        values = dict(table)
        preset, model, lora = values.pop("preset"), values.pop("model"), values.pop("lora")
        own = {name: values.pop(name) for name in Own.model_fields if name in values}
        try:
            return cls.model_validate(
                {
                    "preset": preset,
                    "model": model,
                    "device": device,
                    "lora": lora or None,
                    "own": own,
                    "trl": values,
                    "notes": tuple(notes),
                }
            )
        except ValidationError as error:
            raise UsageError(f"[train]: {_explain(error, cls)}") from error


def parse_sets(texts: Iterable[str]) -> dict[str, Any]:
    """The `key=value` texts of `--set`; values are read as TOML, anything else as text, `none` as None.

    Raises:
        UsageError: a text without `=`.
    """
    values: dict[str, Any] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--set {text!r} must have the form key=value, e.g. --set learning_rate=1e-4")
        values[key.strip()] = _value(value.strip())
    return values


def _value(text: str) -> Any:
    if text.lower() in ("none", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return {"True": True, "False": False}.get(text, text)


def resolve(
    train: TrainSettings,
    *,
    device: Device,
    model: str | None = None,
    stage: Stage | None = None,
    sets: Mapping[str, Any] | None = None,
    processes: int = 1,
) -> Settings:
    """The settings of a run from preset, manifest, stage and command line, checked as far as possible without
    TRL.

    Args:
        train: the manifest's `[train]` (or its defaults).
        device: what the run computes on.
        model: `--model`; wins over the manifest.
        stage: one `[[train.stage]]`.
        sets: `--set`, from `parse_sets`. `preset`, `model`, `lora`, `lora.r` ... are keys too.
        processes: training processes started together.

    Raises:
        UsageError: a value or a combination that cannot work; one sentence.
    """
    sets = dict(sets or {})
    preset = find_preset(str(sets.pop("preset", train.preset)))
    chosen = str(sets.pop("model", None) or model or train.model)
    if not chosen:
        raise UsageError("no model is named: give --model (toy needs no download), or model = ... in [train]")
    given = train.settings
    staged = dict(stage.settings) if stage else {}
    for name in ("model", "lora", "preset"):
        if name in staged:
            name_of = stage.name if stage else ""
            raise UsageError(f"stage '{name_of}': {name} cannot change within a run; put it in [train]")
    if stage and stage.max_steps is not None:
        staged["max_steps"] = stage.max_steps
    toy_last = chosen == "toy" and train.model != "toy"
    layers: list[Mapping[str, Any]] = [NEUTRAL, preset.settings, given, staged]
    if chosen == "toy":
        layers.insert(4 if toy_last else 2, TOY.settings)
    notes = list(preset.notes) if preset.name != "cpu" else []
    if toy_last:
        notes.append("the toy model trains under its own batch, learning rate and LoRA, not the manifest's")
    plain_sets = {key: value for key, value in sets.items() if not key.startswith(("lora", "monitor."))}
    merged = _merge([*(translate(layer, notes) for layer in layers), translate(plain_sets, notes)])
    saves = who_said((given, staged, sets))
    if isinstance(merged.get("max_steps"), int):
        merged["save_steps"] = fitting(every_of(merged), merged["max_steps"], saves)
    lines = {key.removeprefix("monitor."): sets[key] for key in sets if key.startswith("monitor.")}
    if lines:
        merged["monitor"] = {**(merged.get("monitor") or {}), **lines}
    start = lora_defaults(str(merged.get("backend")), dict(preset.lora))
    lora = _lora(train.lora, start, sets, toy=chosen == "toy", toy_last=toy_last)
    merged.setdefault("max_prompt_length", preset.max_prompt_length if chosen != "toy" else None)
    own = _own({name: merged.pop(name) for name in Own.model_fields if name in merged})
    gpu = device == "cuda" and not _on_cpu(merged, device, preset.name)
    check_halt(own.halt)
    own = fit_backend(own, merged, gpu=gpu, lora=lora is not None, notes=notes)
    trl = _for_device(merged, device, preset.name, notes)
    if own.skip_dead and trl.get("dataloader_num_workers"):
        raise UsageError(
            "skip_dead chooses prompts by what was scored, which a loader's own process does not see; leave "
            "dataloader_num_workers at 0"
        )
    if processes > 1:
        # every trained weight is used at every step; looking for others costs a walk over the graph
        trl.setdefault("ddp_find_unused_parameters", False)
    _check(trl, processes, notes)
    return Settings(
        preset=preset.name,
        model=chosen,
        device="cpu" if trl.get("use_cpu") else device,
        lora=lora,
        own=own,
        trl=trl,
        notes=tuple(dict.fromkeys(notes)),
        saves=saves,
    )


def translate(values: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """`values` under today's names; what was changed is added to `notes`.

    Raises:
        UsageError: a setting that is decided elsewhere.
    """
    result: dict[str, Any] = {}
    for name, value in values.items():
        if name in NOT_SETTABLE:
            raise UsageError(f"{name} cannot be set here: {NOT_SETTABLE[name]}")
        if name in GONE:
            notes.append(f"{name} no longer exists: {GONE[name]}")
        elif name == "warmup_ratio":
            notes.append(f"warmup_ratio={value} is written warmup_steps={value} in today's TRL")
            result["warmup_steps"] = value
        elif name == "max_steps" and value is None:
            notes.append("max_steps=None is written max_steps=-1 in today's TRL")
            result["max_steps"] = -1
        elif name in RENAMED:
            notes.append(f"{name} is called {RENAMED[name]} now")
            result[RENAMED[name]] = str(value).removeprefix("torch.") if name == "torch_dtype" else value
        else:
            result[name] = value
    return result


def _merge(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Later layers win; a length given in epochs replaces a weaker one given in steps, and so for batch
    sizes."""
    merged: dict[str, Any] = {}
    for layer in layers:
        if layer.get("num_train_epochs") is not None and "max_steps" not in layer:
            merged.pop("max_steps", None)
        if layer.get("generation_batch_size") is not None and "steps_per_generation" not in layer:
            merged.pop("steps_per_generation", None)
        merged.update(layer)
    return {name: value for name, value in merged.items() if value is not None or name in Own.model_fields}


def _lora(
    stated: bool | Mapping[str, Any],
    preset: Mapping[str, Any],
    sets: dict[str, Any],
    *,
    toy: bool,
    toy_last: bool,
) -> Lora | None:
    values = {**preset, **(TOY.lora if toy else {})}
    wanted = stated is not False
    if isinstance(stated, Mapping) and not toy_last:
        values.update(stated)
    whole = False if "lora" in sets and sets["lora"] is None else sets.get("lora")
    if isinstance(whole, bool):
        wanted = whole
    elif isinstance(whole, Mapping):
        wanted, values = True, {**values, **whole}
    elif whole is not None:
        raise UsageError(f"lora={whole!r} must be true, false or a table such as {{ r = 8 }}")
    values.update(
        {key.removeprefix("lora."): value for key, value in sets.items() if key.startswith("lora.")}
    )
    unknown = [key for key in sets if key.startswith("lora") and key != "lora" and "." not in key]
    if unknown:
        raise UsageError(
            f"there is no setting '{unknown[0]}'; LoRA has lora.r, lora.alpha, lora.dropout, lora.targets"
        )
    if not wanted:
        return None
    renamed = {"lora_alpha": "alpha", "lora_dropout": "dropout", "target_modules": "targets"}
    try:
        return Lora(**{renamed.get(key, key): value for key, value in values.items()})
    except ValidationError as error:
        raise UsageError(f"lora: {_explain(error, Lora)}") from error


def _own(values: Mapping[str, Any]) -> Own:
    try:
        return Own(**values)
    except ValidationError as error:
        raise UsageError(_explain(error, Own)) from error


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    problem = error.errors()[0]
    if problem["type"] == "extra_forbidden":
        key = str(problem["loc"][-1])
        known = list((Thresholds if "monitor" in problem["loc"][:-1] else model).model_fields)
        return f"there is no setting '{key}'{did_you_mean(key, known)}; known: {', '.join(known)}"
    return explain_validation(error)


def _on_cpu(trl: Mapping[str, Any], device: Device, preset: str) -> bool:
    """Whether the run leaves every accelerator alone."""
    return device == "cpu" or preset == "cpu" or bool(trl.get("use_cpu"))


def _for_device(values: Mapping[str, Any], device: Device, preset: str, notes: list[str]) -> dict[str, Any]:
    """The TRL settings as this device can take them."""
    trl = dict(values)
    on_cpu = _on_cpu(trl, device, preset)
    if on_cpu and device != "cpu":
        notes.append("there is a GPU here that this run leaves alone: preset small-gpu or large-gpu uses it")
    if on_cpu:
        trl["use_cpu"] = True
        trl["dataloader_pin_memory"] = False
        if preset != "cpu" and trl.get("bf16"):
            notes.append("the CPU is used, so bf16 is off")
            trl["bf16"] = False
        trl.setdefault("bf16", False)
    if trl.get("use_vllm") and (on_cpu or device != "cuda"):
        notes.append("vLLM needs a GPU: generation is done by transformers")
        trl["use_vllm"] = False
    eight_bit = str(trl.get("optim", "")) in ("adamw_8bit", "adamw_bnb_8bit", "paged_adamw_8bit")
    if eight_bit and (on_cpu or importlib.util.find_spec("bitsandbytes") is None):
        why = "needs a GPU" if on_cpu else "needs the package bitsandbytes, which is not installed"
        notes.append(f"optim={trl['optim']} {why}: adamw_torch is used, which takes more memory")
        trl["optim"] = "adamw_torch"
    return trl


def _check(trl: dict[str, Any], processes: int, notes: list[str]) -> None:
    check_bounds(trl)
    sizes = batching(trl, processes)
    check_evaluation(trl, processes)
    for name, known in CHOICES.items():
        if name in trl and trl[name] not in known:
            hint = did_you_mean(str(trl[name]), known)
            raise UsageError(f"{name}={trl[name]!r} is unknown{hint}; it is one of {', '.join(known)}")
    temperature = trl.get("temperature", 1.0)
    if not isinstance(temperature, (int, float)) or temperature <= 0:
        raise UsageError(
            f"temperature={temperature!r} must be above 0: at 0 all completions of a prompt are the same"
        )
    if trl.get("remove_unused_columns"):
        raise UsageError("remove_unused_columns=true would take the answer columns away from the rewards")
    if trl.get("save_strategy") != "steps":
        raise UsageError(
            f"save_strategy={trl.get('save_strategy')!r} must be 'steps': a run must be able to resume"
        )
    _check_trackers(trl)
    _align_saves(trl, sizes.window, notes)


def _check_trackers(trl: dict[str, Any]) -> None:
    names = trl.get("report_to") or "none"
    for name in [names] if isinstance(names, str) else names:
        if name == "none":
            continue
        if name not in TRACKERS:
            hint = did_you_mean(str(name), [*TRACKERS, "none"])
            raise UsageError(f"report_to={name!r} is unknown{hint}; it is none, {', '.join(TRACKERS)}")
        if importlib.util.find_spec(TRACKERS[name]) is None:
            if name == "tensorboard":
                raise UsageError("report_to=tensorboard needs its package: pip install tensorboard")
            raise MissingExtraError(name, str(name), f"report_to={name}")


def _align_saves(trl: dict[str, Any], window: int, notes: list[str]) -> None:
    """Checkpoints only where no generated batch is half used: TRL does not save the rest of it."""
    every = every_of(trl)
    trl["save_steps"] = aligned(every, window)
    if trl["save_steps"] != every:
        notes.append(
            f"save_steps={every} became {trl['save_steps']}: checkpoints lie at the end of a generation window, "
            f"which is {window} steps"
        )
    if trl.get("save_total_limit") == 1:
        trl["save_total_limit"] = 2
        notes.append(
            "save_total_limit=1 became 2: the last checkpoint goes before the next one is known to be whole; a kill "
            "in between would leave none"
        )


def check_with_trl(settings: Settings) -> Settings:
    """The same settings with every value in TRL's own type, after the installed GRPOConfig has accepted them.

    Loads TRL (and torch with it), but no model.

    Raises:
        UsageError: an unknown setting (with the likely one), or a value TRL refuses.
        MissingExtraError: TRL, or what the backend needs, is not installed.
    """
    prepare(settings)
    config_class = _grpo_config()
    hints = _field_types(config_class)
    typed: dict[str, Any] = {}
    for name, value in settings.trl.items():
        if name not in hints:
            known = [*hints, *Own.model_fields, "preset", "model", "lora"]
            hint = did_you_mean(name, known)
            raise UsageError(f"there is no setting '{name}'{hint}; see GRPOConfig of TRL for all names")
        typed[name] = _typed(name, value, hints[name])
    checked = settings.model_copy(update={"trl": typed})
    build_config(checked, "unused")
    return checked


def build_config(settings: Settings, output_dir: str, **more: Any) -> Any:
    """TRL's GRPOConfig of these settings, writing to `output_dir`.

    Raises:
        UsageError: TRL refuses the settings.
    """
    config_class = _grpo_config()
    keywords = {**settings.trl, **more}
    for new in ("activation_checkpointing", "activation_checkpointing_kwargs"):
        old = new.replace(
            "activation", "gradient"
        )  # transformers 5.24 renamed them and warns at the old names
        if old in keywords and new in _field_types(config_class):
            keywords.setdefault(new, keywords.pop(old))
    try:
        return config_class(output_dir=output_dir, **keywords)
    except (ValueError, TypeError, ImportError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(f"TRL refuses the settings: {lines[0]}") from error


def _grpo_config() -> Any:
    try:
        from trl import GRPOConfig
    except ImportError as error:
        raise MissingExtraError("trl", "train", "training") from error
    return GRPOConfig


def _field_types(config_class: Any) -> dict[str, Any]:
    import dataclasses
    import typing

    hints = typing.get_type_hints(config_class)
    return {field.name: hints[field.name] for field in dataclasses.fields(config_class) if field.init}


def _typed(name: str, value: Any, hint: Any) -> Any:
    from pydantic import TypeAdapter

    if hint is bool and not isinstance(value, bool):
        raise UsageError(f"{name}={value!r} ({type(value).__name__}) must be true or false")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True))
        checked = adapter.validate_python(value)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Input ").replace("should be", "must be")
        raise UsageError(f"{name}={value!r} ({type(value).__name__}) {message}") from error
    if isinstance(checked, bool) or not isinstance(checked, (int, float)):
        return value
    return value if isinstance(value, (int, float)) and value == checked else checked
