"""A trained adapter merged into its base, put in place only once it is proved.

The recipe that loses nothing: the base loaded afresh in float32, the adapter put on it, merged with PEFT's
own finite check, rounded once to the dtype asked for, saved. The tokenizer is not saved again but copied byte
by byte from training. All of it goes to a temporary folder; `merge_proof` examines what lies there, and only
a proved folder is renamed to its place.

A fully fine-tuned model has nothing to merge. It is proved as it lies, or copied in another dtype and proved.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewards.errors import MergeProofError, UsageError
from trainer.merging import proof as merge_proof
from trainer.merging.adapters import is_adapter_folder, read_adapter
from trainer.merging.proof import Subject
from trainer.merging.proof_files import TOKENIZER_FILES, Check, read_json
from trainer.models.folders import replace_folder, temporary_beside
from trainer.models.generation import Prompt
from trainer.models.loading import load_model, save_model, weight_files
from trainer.models.naming import resolve_model
from trainer.reports.card import write_card
from trainer.rundir import RunDir, find_run, write_json
from trainer.runfiles import FACTS, read_facts

DTYPES = ("float32", "bfloat16", "float16")
SHORT = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
PROOF = "merge-proof.json"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Trained:
    """What a training left behind.

    `folder` is the run folder, or a bare output folder of TRL's; `adapter` is None after full fine-tuning,
    `full` None after LoRA. `tokenizer` is the folder of the tokenizer trained with. `prompts` are held-out
    ones.
    """

    folder: Path
    base: Path
    adapter: Path | None
    full: Path | None
    tokenizer: Path
    fingerprint: str | None = None
    prompts: Sequence[Prompt] = field(default=())


@dataclass(frozen=True)
class Merged:
    """A proved model: its folder, the checks, and whether there was something to merge."""

    folder: Path
    checks: list[Check]
    was_adapter: bool


def find_trained(where: str | Path) -> Trained:
    """What lies in a run folder (by path, or by name under runs/) or in a bare TRL output folder.

    Raises:
        UsageError: nothing trained is there; one sentence says what is missing.
    """
    path = Path(where).expanduser()
    if (path / "stages.json").is_file() or not path.exists():
        return _of_run(find_run(where))
    return _of_output(path.resolve())


def _of_run(run: RunDir) -> Trained:
    base = resolve_model(base_of(run)).path
    adapter = run.adapter if is_adapter_folder(run.adapter) else None
    full = run.full_model if weight_files(run.full_model) else None
    if adapter is None and full is None:
        hint = "it is still being trained" if run.is_live() else f"go on with it: {_resuming(run)}"
        raise UsageError(f"{run.path} has no trained model yet (no adapter/); {hint}")
    known = run.environment().get("base_fingerprint")
    prompts = [row["prompt"] for row in run.holdout() if "prompt" in row]
    tokenizer = _with_tokenizer([adapter or full, run.last_checkpoint(), base])
    return Trained(run.path, base, adapter, full, tokenizer, known, prompts)


def _resuming(run: RunDir) -> str:
    """The command that goes on with a run."""
    from trainer.run import resume_line

    known = (run.path / FACTS).is_file()
    return resume_line(run) if known else f"reward-workbench train TARGET --run {run.path} --resume"


def base_of(run: RunDir) -> str:
    """The folder of a run's base model as noted at training; its name where that folder is gone."""
    if (run.path / FACTS).is_file():
        facts = read_facts(run)
        return facts.model_path if Path(facts.model_path).is_dir() else facts.model
    return str(run.manifest().get("train", {}).get("model", ""))


def _of_output(folder: Path) -> Trained:
    places = [folder, *sorted(folder.glob("checkpoint-*"), key=_number, reverse=True)]
    found = next((place for place in places if is_adapter_folder(place)), None)
    if found is None:
        if (folder / "config.json").is_file() and weight_files(folder):
            raise UsageError(
                f"nothing to merge: {folder} holds a whole model, not an adapter (full fine-tuning); use it as it is"
            )
        raise UsageError(
            f"{folder} is neither a run folder nor an output folder of TRL: no adapter_config.json in it"
        )
    adapter = read_adapter(found)
    if adapter.base_name is None:
        raise UsageError(
            f"{found / 'adapter_config.json'} does not name its base model; write its folder or hub name under "
            "base_model_name_or_path"
        )
    base = resolve_model(adapter.base_name, root=folder).path
    return Trained(folder, base, found, None, _with_tokenizer([found, folder, base]))


def _number(path: Path) -> int:
    digits = path.name.rpartition("-")[2]
    return int(digits) if digits.isdigit() else -1


def _with_tokenizer(folders: Sequence[Path | None]) -> Path:
    """The first folder that holds a tokenizer; the last one if none does (its error is the one to tell)."""
    there = [folder for folder in folders if folder is not None]
    return next((folder for folder in there if (folder / "tokenizer_config.json").is_file()), there[-1])


def merge(
    where: str | Path, *, out: Path | None = None, dtype: str | None = None, say: Say = lambda text: None
) -> Merged:
    """Merge what was trained in `where` and prove it; the proof is written to `merge-proof.json` there either
    way.

    Args:
        where: a run folder, or a bare output folder of TRL's.
        out: where the merged model goes; default: `merged/` in that folder, where an earlier merge is replaced.
        dtype: of the merged weights; default: the dtype the base is stored in.
        say: takes each line of progress.

    Raises:
        UsageError: nothing to merge, an unknown dtype, or the place is taken by something else.
        MergeProofError: the proof failed; nothing was put in place.
    """
    trained = find_trained(where)
    wanted = _dtype(dtype, trained.base)
    if trained.adapter is None and out is None and dtype is None and trained.full is not None:
        return _prove_in_place(trained, trained.full, say)
    target = (out or trained.folder / "merged").expanduser().absolute()
    _free(target, replace=out is None and _is_own(trained.folder, target))
    with temporary_beside(target, otherwise="give another --out") as folder:
        _stop_if_hopeless(trained)
        say(f"merging {trained.adapter or trained.full} into {trained.base.name} ({wanted}) ...")
        write_merged(trained, folder, wanted)
        checks = merge_proof.prove(_subject(trained, folder, wanted), say)
        _record(trained, checks, target, wanted)
        replace_folder(folder, target)
    _update_card(trained.folder, target)
    return Merged(target, checks, trained.adapter is not None)


def _dtype(asked: str | None, base: Path) -> str:
    stored = read_json(base / "config.json")
    name = SHORT.get(asked or "", asked) or stored.get("dtype") or stored.get("torch_dtype") or "float32"
    if name not in DTYPES:
        raise UsageError(f"--dtype {name} must be one of {', '.join(DTYPES)}")
    return str(name)


def _prove_in_place(trained: Trained, full: Path, say: Say) -> Merged:
    say("nothing to merge: the run was a full fine-tuning; proving the model as it lies ...")
    stored = read_json(full / "config.json")
    dtype = str(stored.get("dtype") or stored.get("torch_dtype") or "float32")
    checks = merge_proof.prove(_subject(trained, full, dtype), say)
    _record(trained, checks, full, dtype)
    _update_card(trained.folder, full)
    return Merged(full, checks, False)


def _update_card(source: Path, model: Path) -> None:
    """Write the model card anew where `source` is a run's folder, and put it beside the model's weights."""
    if (source / FACTS).is_file():
        card = write_card(RunDir.open(source))
        if model != source / "merged":
            shutil.copyfile(card, model / card.name)


def _subject(trained: Trained, folder: Path, dtype: str) -> Subject:
    return Subject(
        base=trained.base,
        merged=folder,
        tokenizer=trained.tokenizer,
        dtype=dtype,
        adapter=trained.adapter,
        trained=trained.full,
        fingerprint=trained.fingerprint,
        prompts=trained.prompts,
    )


def _stop_if_hopeless(trained: Trained) -> None:
    """Check what can fail before anything is merged: another base, or an adapter with NaN."""
    checks = [merge_proof.check_base(trained.base, trained.fingerprint)]
    if trained.adapter is not None:
        checks.append(merge_proof.check_finite(read_adapter(trained.adapter).tensors, {}))
    if not merge_proof.is_proved(checks):
        earlier = trained.folder / "merged"  # stays known as an earlier merge
        own = earlier.exists() and _is_own(trained.folder, earlier)
        _record(trained, checks, earlier if own else None, None)


def _record(trained: Trained, checks: list[Check], target: Path | None, dtype: str | None) -> None:
    """Write the proof beside the run; raise if it failed."""
    facts = {"base": trained.base, "adapter": trained.adapter, "merged": target, "dtype": dtype}
    try:
        write_json(trained.folder / PROOF, {**facts, **merge_proof.to_json(checks)})
    except OSError as error:
        raise UsageError(
            f"the proof cannot be written to {trained.folder / PROOF}: {error.strerror}"
        ) from error
    failed = [check for check in checks if check.passed is False]
    if failed:
        reasons = "; ".join(f"{check.number} {check.name}: {check.sentence}" for check in failed)
        kept = (
            "nothing was put in place" if target is None or not target.exists() else f"{target} is as it was"
        )
        raise MergeProofError(
            f"the merge is not proved, {kept}: {reasons} (all of it: {trained.folder / PROOF})"
        )


def write_merged(trained: Trained, folder: Path, dtype: str) -> None:
    """Write the merged model and its tokenizer into `folder`.

    Raises:
        UsageError: base and adapter do not fit together.
    """
    import torch

    model = load_model(trained.full or trained.base, dtype="float32")
    if trained.adapter is not None:
        model = _merge_adapter(model, trained.adapter)
    model = model.to(getattr(torch, dtype))
    model.config.dtype = getattr(torch, dtype)
    save_model(model, folder)
    for name in TOKENIZER_FILES:
        if (trained.tokenizer / name).is_file():
            shutil.copyfile(trained.tokenizer / name, folder / name)
    if (trained.base / "generation_config.json").is_file():
        shutil.copyfile(trained.base / "generation_config.json", folder / "generation_config.json")


def _merge_adapter(model: Any, adapter: Path) -> Any:
    """The plain model with the adapter merged into it."""
    from peft import PeftModel

    try:
        return PeftModel.from_pretrained(model, adapter).merge_and_unload(safe_merge=True)
    except (ValueError, RuntimeError, KeyError) as error:
        reason = str(error).strip().splitlines()[0][:300]
        raise UsageError(f"the adapter {adapter} does not fit its base model: {reason}") from error


def _is_own(folder: Path, target: Path) -> bool:
    """Whether `target` is the place of an earlier merge: `merged/` of a run, or what the proof beside it names."""
    if (folder / "stages.json").is_file():
        return True
    return read_json(folder / PROOF).get("merged") == str(target)


def _free(target: Path, *, replace: bool) -> None:
    if target.exists() and not replace and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already; give another --out")
