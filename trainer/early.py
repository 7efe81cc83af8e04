"""What is wrong with the options of a training, told before torch is loaded and before anything is checked or sealed.

Names and types of TRL's settings are read from the sources of the installed TRL and transformers, without importing
them; presets, manifest, batch arithmetic and the name of the model are ours. Whatever cannot be told so is left to
`trainer.settings.check_with_trl`, which has the last word.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from rewards.manifest import Stage, TrainSettings, read_manifest
from rewards.targets import did_you_mean, parse_target
from trainer.models.naming import foresee_model
from trainer.ranks import launched
from trainer.rundir import RunDir, find_run, latest_run
from trainer.settings import Device, Own, parse_sets, resolve, translate

CONFIGS = (
    ("trl", "trainer/grpo_config.py", "GRPOConfig"),
    ("trl", "trainer/base_config.py", "_BaseConfig"),
    ("transformers", "training_args.py", "TrainingArguments"),
)
"""Where the fields of TRL's `GRPOConfig` are written: package, file, class."""

NUMBERS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
BESIDE = frozenset([*Own.model_fields, "preset", "model", "lora", "max_steps"])


def refuse_early(target: str, *, model: str | None = None, sets: Iterable[str] = ()) -> None:
    """See that the options of `train` can be used, as far as that can be told without torch.

    Args:
        target: the target; a manifest's `[train]` counts.
        model: `--model`.
        sets: the `key=value` texts of `--set`.

    Raises:
        TargetError, ManifestError: there is no such target.
        UsageError: an unknown setting, a value of the wrong type, batches that hold no whole groups, or a model that
            is not there; one sentence, with the nearest that would do.
    """
    parsed = parse_target(target)
    manifest = read_manifest(parsed.path) if parsed.kind == "project" else None
    train = manifest.train if manifest else TrainSettings()
    values = {name: value for name, value in parse_sets(sets).items() if not name.startswith("data.")}
    for layer in (train.settings, *(stage.settings for stage in train.stage), values):
        _check_names_and_types(layer)
    for one in train.stage or (None,):
        _check_batches(train, model, one, values)
    chosen = str(values.get("model") or model or train.model)
    foresee_model(chosen, parsed.root)


ALIASES = {
    "steps": "max_steps",
    "epochs": "num_train_epochs",
    "lr": "learning_rate",
    "group_size": "num_generations",
}
"""What settings are often called."""


def setting_advice(error: Any) -> str:
    """`; as a setting: --set max_steps=...` for an unknown option of a command with --set, else ""."""
    command = getattr(getattr(error, "ctx", None), "command", None)
    option = str(getattr(error, "option_name", "") or "")
    if not option.startswith("--") or not any("--set" in one.opts for one in getattr(command, "params", ())):
        return ""
    name = option.removeprefix("--").replace("-", "_")
    known = [*trl_fields(), *BESIDE]
    near = name if name in known else ALIASES.get(name) or next(iter(get_close_matches(name, known, 1)), "")
    return f"; settings of a training are given by --set: --set {near}=..." if near else ""


def model_beside_resume(target: str, *, model: str, run: Path | None) -> None:
    """See that `--model` beside `--resume` names the model that the run trains.

    Raises:
        UsageError: it names another, or there is no such run.
    """
    parsed = parse_target(target)
    if run is None:
        manifest = read_manifest(parsed.path) if parsed.kind == "project" else None
        name = (manifest.set.name if manifest else "") or parsed.name or parsed.root.name
        found = latest_run(parsed.root, name)
        if found is None:
            return  # told by the resuming itself
        resumed = RunDir.open(found)
    else:
        resumed = find_run(run)
    own = str(resumed.manifest()["train"]["model"])
    if own != model and not _same_folder(own, model, parsed.root):
        raise UsageError(
            f"the run {resumed.path} trains the model '{own}': --model {model} cannot stand beside --resume; leave it "
            "out, or start another run"
        )


def _same_folder(own: str, model: str, root: Path) -> bool:
    """Whether two names mean one folder or file, from here or from the project."""
    places = [{(base / name).resolve() for base in (Path.cwd(), root)} for name in (own, model)]
    return any(place.exists() for place in places[0] & places[1])


def _check_names_and_types(layer: Mapping[str, Any]) -> None:
    fields = trl_fields()
    plain = {name: value for name, value in layer.items() if "." not in name and name not in BESIDE}
    named = {**translate(plain, []), **{name: layer[name] for name in ("max_steps",) if name in layer}}
    for name, value in named.items() if fields else ():
        if name not in fields and name not in BESIDE:
            hint = did_you_mean(name, [*fields, *BESIDE])
            raise UsageError(f"there is no setting '{name}'{hint}; see GRPOConfig of TRL for all names")
        wanted = NUMBERS.get(fields.get(name, ""))
        if wanted is not None and value is not None and not _fits(fields[name], value):
            raise UsageError(f"{name}={value!r} ({type(value).__name__}) must be {wanted}")


def _check_batches(
    train: TrainSettings, model: str | None, stage: Stage | None, sets: Mapping[str, Any]
) -> None:
    """What `resolve` refuses, on whatever the run will compute."""

    def refusal(device: Device) -> UsageError | None:
        try:
            resolve(train, device=device, model=model, stage=stage, sets=sets, processes=launched())
        except UsageError as error:
            return error
        return None

    found = refusal("cpu")
    if found is not None and (not _may_compute_elsewhere() or str(refusal("cuda")) == str(found)):
        raise found


def _may_compute_elsewhere() -> bool:
    return sys.platform == "darwin" or any(Path("/dev").glob("nvidia*")) or Path("/dev/kfd").exists()


@functools.cache
def trl_fields() -> dict[str, str]:
    """The settings of the installed `GRPOConfig` and the plain type of each: int, float, bool, or "" for another.

    {} where they cannot be read, so that nothing is refused on their account.
    """
    found: dict[str, str] = {}
    for package, file, name in CONFIGS:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            return {}
        try:
            tree = ast.parse((Path(next(iter(spec.submodule_search_locations))) / file).read_bytes())
        except (OSError, SyntaxError, ValueError):
            return {}
        written = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
        if written is None:
            return {}
        for node in written.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.setdefault(node.target.id, _plain_type(node.annotation))
    return found


def _plain_type(annotation: ast.expr) -> str:
    names = set(re.findall(r"\w+", ast.unparse(annotation))) - {"None", "Optional", "Union"}
    if names == {"int", "float"}:
        return "float"
    return names.pop() if len(names) == 1 and names <= NUMBERS.keys() else ""


def _fits(kind: str, value: Any) -> bool:
    """Whether TRL could take the value for a number of a kind; texts that hold one are taken too."""
    if kind == "bool":
        return isinstance(value, bool) or str(value).lower() in ("true", "false", "yes", "no", "1", "0")
    if isinstance(value, bool):
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return (
        kind == "float" or number == int(number) if number == number and abs(number) != float("inf") else True
    )


__all__ = ["model_beside_resume", "refuse_early", "setting_advice", "trl_fields"]
