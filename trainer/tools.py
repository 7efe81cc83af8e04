"""Tools and environments of a run: functions the model calls while it answers, as GRPOTrainer has them.

`tools = ["tools.py::add"]` and `environment_factory = "game.py::Game"` in `[train]`, seen from the manifest. TRL calls
them while it generates, between one turn and the next, so they run in the trainer's own process (rewards do not);
what a tool raises becomes its answer to the model. Everything is looked at before a run folder is made: the file
loads, a tool says what it takes (type hints and a docstring with `Args:`), the model's chat template can show tools.

An environment's plain attributes reach the rewards as `environments`, one object a completion, as in TRL; a live one
stays where it is.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rewards.errors import LoadError, UsageError
from rewards.fingerprint import local_files
from rewards.packages import USER_FOLDERS
from rewards.targets import did_you_mean
from trainer.settings import Own

PLAIN = (bool, int, float, str, type(None))


def seen_from(own: Own, root: Path) -> Own:
    """The same settings with the files of tools and environment as absolute paths.

    Raises:
        UsageError: one has not the form FILE::NAME, or there is no such file.
    """
    factory = own.environment_factory
    return own.model_copy(
        update={
            "tools": tuple(_absolute(text, root, "tools") for text in own.tools),
            "environment_factory": _absolute(factory, root, "environment_factory") if factory else None,
        }
    )


def _absolute(text: str, root: Path, setting: str) -> str:
    file, separator, name = text.partition("::")
    if not separator or not name:
        raise UsageError(f"{setting}: '{text}' must have the form FILE::NAME, e.g. tools.py::add")
    path = (root / Path(file).expanduser()).resolve()
    if not path.is_file():
        near = [one.name for one in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise UsageError(f"{setting}: there is no file {path}{did_you_mean(path.name, near)}")
    return f"{path}::{name}"


def fingerprint(own: Own) -> str:
    """32 hex digits over the files of tools and environment and all they import beside them; "" where there are none.

    Bytes count, not code alone: a docstring is what the model is told of a tool.
    """
    names = [*own.tools, *([own.environment_factory] if own.environment_factory else [])]
    if not names:
        return ""
    digest = hashlib.sha256()
    for name in names:
        file, _, function = name.partition("::")
        path = Path(file).resolve()
        digest.update(function.encode())
        for part in local_files(path, path.parent):
            digest.update(os.path.relpath(part, path.parent).encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()[:32]


def load_tools(own: Own) -> list[Callable[..., Any]]:
    """The functions themselves.

    Raises:
        LoadError: a file fails while it is loaded.
        UsageError: it has no such function, or one does not say what it takes.
    """
    tools = [_load(name, "tools") for name in own.tools]
    for tool, name in zip(tools, own.tools, strict=True):
        _require_schema(tool, name)
    return tools


def load_factory(own: Own) -> Callable[[], Any] | None:
    """What makes an environment; None where there is none.

    Raises:
        LoadError: its file fails while it is loaded.
        UsageError: there is no such class, it cannot be reset, or it wants to score by itself.
    """
    name = own.environment_factory
    if not name:
        return None
    factory: Callable[[], Any] = _load(name, "environment_factory")
    kind = factory if inspect.isclass(factory) else type(_made(factory, name))
    members = dict(inspect.getmembers(kind, predicate=inspect.isfunction))
    if "reset" not in members:
        raise UsageError(f"environment_factory: {name} has no method reset(), which begins a completion")
    if "get_reward" in members:
        raise UsageError(
            f"environment_factory: {name} has get_reward(), a reward nobody has checked or sealed; make it a reward of "
            "the set that reads `environments`"
        )
    for method, function in members.items():
        if method != "reset" and not method.startswith("_"):
            _require_schema(function, f"{name}.{method}")
    return factory


def require_tools(own: Own, tokenizer: Any, model: str) -> None:
    """See that tools and environment load, that the model can be shown them, and that its calls can be read.

    Raises:
        LoadError, UsageError: what is in the way.
    """
    if not own.tools and not own.environment_factory:
        return
    load_tools(own)
    load_factory(own)
    from trl.chat_template_utils import (
        add_response_schema,
        get_training_chat_template,
        is_chat_template_prefix_preserving,
        supports_tool_calling,
    )

    what = "tools" if own.tools else "environment_factory"
    if not supports_tool_calling(tokenizer):
        raise UsageError(
            f"{what}: the chat template of {model} cannot show a tool's call and answer; use a model that was taught "
            "to call tools (Qwen2.5 and Qwen3 instruct models, Llama 3.1)"
        )
    try:
        if getattr(tokenizer, "response_template", None) is None:
            add_response_schema(copy.deepcopy(tokenizer))
        if not is_chat_template_prefix_preserving(tokenizer):
            get_training_chat_template(tokenizer)
    except ValueError as error:
        raise UsageError(
            f"{what}: TRL cannot read the tool calls of {model}: its chat template is none TRL knows "
            f"({str(error).splitlines()[0]})"
        ) from error


def plain_environments(environments: Sequence[Any]) -> list[SimpleNamespace]:
    """The environments as rewards get them: their attributes that are numbers, texts, lists and tables of them."""
    return [
        SimpleNamespace(**{name: value for name, value in _attributes(one).items() if _stays_plain(value)})
        for one in environments
    ]


def _attributes(one: Any) -> dict[str, Any]:
    """What an object holds, in slots too."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(one).__mro__]
    names = [name for given in slots for name in ([given] if isinstance(given, str) else given)]
    held = {name: getattr(one, name) for name in names if name != "__dict__" and hasattr(one, name)}
    return {**held, **getattr(one, "__dict__", {})}


def _stays_plain(value: Any) -> bool:
    try:
        return _is_plain(value)
    except RecursionError:  # it holds itself
        return False


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, PLAIN)


def _load(text: str, setting: str) -> Any:
    file, _, name = text.partition("::")
    path = Path(file)
    module_name = f"tools_of_run_{hashlib.sha256(file.encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        _find_beside(path.parent)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # what a user's file raises is told in one sentence
            del sys.modules[module_name]
            raise LoadError(f"{setting}: {path} cannot be loaded: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        known = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        raise UsageError(f"{setting}: {path} has no function or class '{name}'{did_you_mean(name, known)}")
    return found


def _find_beside(folder: Path) -> None:
    """Let a file import those that lie beside it; what is installed goes before them, as where rewards are loaded."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
        USER_FOLDERS.append(str(folder))


def _made(factory: Callable[[], Any], name: str) -> Any:
    try:
        return factory()
    except Exception as error:  # as above
        raise LoadError(f"environment_factory: {name} raised {type(error).__name__}: {error}") from error


def _require_schema(tool: Callable[..., Any], name: str) -> None:
    from transformers.utils import get_json_schema
    from transformers.utils.chat_template_utils import DocstringParsingException, TypeHintParsingException

    try:
        get_json_schema(tool)
    except (DocstringParsingException, TypeHintParsingException, ValueError) as error:
        why = " ".join(str(error).split())
        raise UsageError(
            f"tools: {name} does not say what it takes ({why}); give it type hints and a docstring with `Args:`"
        ) from error
