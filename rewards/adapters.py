"""Rewards written for other training systems, called as TRL calls one.

    verl        compute_score(data_source, solution_str, ground_truth, extra_info=None), a row at a time; for its batch
                manager compute_score(data_sources, solution_strs, ground_truths, extra_infos)
    OpenRLHF    reward_func(queries, prompts, labels), a batch; a query is a prompt with its completion
    verifiers   a function of a rubric: any of prompt, completion, answer, state, info, task, a row at a time

The columns keep the names the function gives them (`ground_truth`, `labels`, `answer` ...); samples that call them
otherwise are read with `--columns answer=ground_truth`. Sources: verl's reward manager, OpenRLHF's remote reward model,
verifiers' Rubric, as their documentation describes them.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewards.contract import Reward, completion_text

ROLLOUT = frozenset(["prompt", "completion", "answer", "state", "info", "task"])
"""What verifiers hands to the functions of a rubric."""


class Adapted:
    """A function of another system as a reward; `func` is that function, as with `functools.partial`."""

    def __init__(self, function: Callable[..., Any], system: str) -> None:
        self.func = function
        self.keywords: dict[str, Any] = {}
        self.system = system
        own = inspect.signature(function).parameters
        self._takes = frozenset(own)
        made = MADE[system]
        columns = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
            for name, one in own.items()
            if name not in made and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        ]
        both = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in ("prompts", "completions")
        ]
        rest = inspect.Parameter("columns", inspect.Parameter.VAR_KEYWORD)
        self.__signature__ = inspect.Signature([*both, *columns, rest])

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Any:
        """A score for each completion; of a coroutine function an awaitable of them."""
        calls = [self._given(call, columns) for call in CALLS[self.system](prompts, completions, columns)]
        if inspect.iscoroutinefunction(self.func):
            return self._awaited(calls)
        return self._joined([self.func(**call) for call in calls])

    async def _awaited(self, calls: list[dict[str, Any]]) -> list[Any]:
        return self._joined(list(await asyncio.gather(*(self.func(**call) for call in calls))))

    def _given(self, made: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of one call: what the system makes, and the columns the function names."""
        at = made.get("at")
        named = {name: values for name, values in columns.items() if name in self._takes and name not in made}
        if at is not None:
            named = {name: values[at] for name, values in named.items()}
        return {**named, **{name: value for name, value in made.items() if name in self._takes}}

    def _joined(self, results: list[Any]) -> list[Any]:
        if self.system in BATCHED:
            [whole] = results
            whole = _score(whole, "rewards")
            results = whole.tolist() if hasattr(whole, "tolist") else list(whole)
        return [_score(result, "score") for result in results]


def adapted(function: Reward) -> Reward:
    """`function` itself where it takes `completions` or is of no system known here, else an `Adapted`."""
    system = system_of(function)
    return function if system is None else Adapted(function, system)


def system_of(function: Any) -> str | None:
    """The system that a function is written for by its parameters, None for a reward of TRL and for anything else.

    >>> def compute_score(data_source, solution_str, ground_truth, extra_info=None): ...
    >>> system_of(compute_score)
    'verl'
    """
    try:
        names = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    if "completions" in names:
        return None
    if {"solution_str", "ground_truth"} <= names:
        return "verl"
    if {"solution_strs", "ground_truths"} <= names:
        return "verl batch"
    if "queries" in names and names & {"prompts", "labels"}:
        return "openrlhf"
    return "verifiers" if "completion" in names and _is_of_a_rubric(function) else None


def _is_of_a_rubric(function: Any) -> bool:
    """Whether all that a function cannot do without is what a rubric hands over."""
    parameters = inspect.signature(function).parameters.values()
    needed = {
        one.name for one in parameters
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }  # fmt: skip
    return needed <= ROLLOUT


def _score(result: Any, key: str) -> Any:
    """A dictionary's score, and anything else as it is."""
    if not isinstance(result, Mapping):
        return result
    if key not in result:
        raise ValueError(f"it returned a dictionary without '{key}': {', '.join(map(str, result))}")
    return result[key]


def _text(prompt: Any) -> str:
    """A prompt's text: of a chat the contents of its messages, a line each."""
    if isinstance(prompt, str):
        return prompt
    return "\n".join(completion_text([{**message, "role": "assistant"}]) for message in prompt)


def _verl(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    sources = columns.get("data_source") or [""] * len(completions)
    infos = columns.get("extra_info") or [None] * len(completions)
    return [
        {
            "at": at,
            "data_source": sources[at] or "",
            "solution_str": completion_text(one),
            "extra_info": infos[at],
        }
        for at, one in enumerate(completions)
    ]


def _verl_batch(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    return [
        {
            "data_sources": list(columns.get("data_source") or [""] * len(completions)),
            "solution_strs": [completion_text(one) for one in completions],
            "extra_infos": list(columns.get("extra_info") or [None] * len(completions)),
        }
    ]


def _openrlhf(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    texts = [_text(prompt) for prompt in prompts]
    queries = [text + completion_text(one) for text, one in zip(texts, completions, strict=True)]
    return [{"queries": queries, "prompts": texts}]


def _verifiers(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    return [
        {"at": at, "prompt": prompt, "completion": one, "state": {}, "info": _of(columns, "info", at, {}),
         "task": _of(columns, "task", at, "default")}
        for at, (prompt, one) in enumerate(zip(prompts, completions, strict=True))
    ]  # fmt: skip


def _of(columns: Mapping[str, Any], name: str, at: int, otherwise: Any) -> Any:
    return columns[name][at] if name in columns else otherwise


CALLS = {"verl": _verl, "verl batch": _verl_batch, "openrlhf": _openrlhf, "verifiers": _verifiers}
"""For each system the keywords it makes for each call; `at` is the row of a call with one."""

MADE = {
    "verl": frozenset(["data_source", "solution_str", "extra_info"]),
    "verl batch": frozenset(["data_sources", "solution_strs", "extra_infos"]),
    "openrlhf": frozenset(["queries", "prompts"]),
    "verifiers": frozenset(["prompt", "completion", "state", "info", "task"]),
}
"""Parameters that are no data column."""

BATCHED = ("verl batch", "openrlhf")

__all__ = ["Adapted", "adapted", "system_of"]
