"""Inside the worker: the laws that a project has, and whether a reward keeps them on given completions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rewards.contract import call, completion_text, describe_exception, unwrap
from rewards.loading import load_file
from workbench.checks.observing import batch_of, reward_named
from workbench.laws import MARK, is_law

FILE = "laws.py"


def found(context: Any, *, reward: str) -> list[dict[str, Any]]:
    """The laws that concern a reward: `name`, `line`, `examples`, first line of the docstring."""
    return [
        {
            "name": name,
            "line": inspect.unwrap(function).__code__.co_firstlineno,
            "file": Path(inspect.unwrap(function).__code__.co_filename).name,
            "examples": getattr(function, MARK)["examples"],
            "says": (inspect.getdoc(function) or "").partition("\n")[0],
        }
        for name, function in _laws(context, reward).items()
    ]


def _laws(context: Any, reward: str) -> dict[str, Callable[..., Any]]:
    """Laws of the reward's own file, and of `laws.py` in the target's folder; loaded once for each worker."""
    known: dict[str, dict[str, Callable[..., Any]]] = vars(context).setdefault("laws", {})
    if reward not in known:
        function, _ = reward_named(context, reward)
        inner = unwrap(function)
        modules = [sys.modules.get(getattr(inner, "__module__", "") or type(inner).__module__)]
        names = getattr(inner, "__globals__", None) or (vars(modules[0]) if modules[0] else {})
        there = {name: value for name, value in names.items() if is_law(value)}
        file = Path(context.rewardset.root) / FILE
        if file.is_file():
            there.update({name: value for name, value in vars(load_file(file)).items() if is_law(value)})
        known[reward] = {
            name: value
            for name, value in sorted(there.items())
            if not getattr(value, MARK)["rewards"] or reward in getattr(value, MARK)["rewards"]
        }
    return known[reward]


def keeps(context: Any, *, reward: str, law: str, items: list[tuple[int, str]], chat: bool) -> list[str]:
    """For each (row, text): "" where the law holds, why not where it is broken, "! ..." where it raised."""
    function = _laws(context, reward)[law]
    return [_keeps(context, reward, function, row, text, chat) for row, text in items]


def _keeps(context: Any, reward: str, law: Callable[..., Any], row: int, text: str, chat: bool) -> str:
    function, entry = reward_named(context, reward)
    scores: list[float] = []

    def score(completion: Any, **columns: Any) -> float:
        shaped = (
            [{"role": "assistant", "content": completion}]
            if chat and isinstance(completion, str)
            else completion
        )
        batch = batch_of(context, [row], [shaped])
        batch.columns.update({name: [value] for name, value in columns.items()})
        result = call(function, batch, params=entry.params)
        if result.errors:
            raise AssertionError(f"the reward failed: {result.errors[0]}")
        scores.append(float(result.scores[0]))
        return scores[-1]

    try:
        verdict = law(**_arguments(context, law, row, text, score))
    except AssertionError as error:
        return str(error) or f"an assertion failed (scores {_shown(scores)})"
    except Exception as error:  # noqa: BLE001 - the user's own law
        return f"! {describe_exception(error)}"
    return f"the law returned False (scores {_shown(scores)})" if verdict is False else ""


def _arguments(
    context: Any, law: Callable[..., Any], row: int, text: str, score: Callable[..., float]
) -> dict[str, Any]:
    batch = context.batch
    mates = [place for place, group in enumerate(batch.groups) if group == batch.groups[row] and place != row]
    known: dict[str, Any] = {
        **{name: values[row] for name, values in batch.columns.items()},
        "score": score,
        "completion": text,
        "prompt": batch.prompts[row],
        "other": completion_text(batch.completions[mates[0] if mates else row]),
    }
    return {name: known[name] for name in inspect.signature(law).parameters if name in known}


def _shown(scores: list[float]) -> str:
    return ", ".join(f"{score:.4g}" for score in scores)


__all__ = ["found", "keeps"]
