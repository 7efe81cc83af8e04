"""The part that every adapter has: the rewards as data, loading the user's files, one call as TRL makes it.

It is written out as text and needs nothing but Python (and what the user's files need), so that an export works where
this product is not installed.
"""

from __future__ import annotations

import pprint

from workbench.export.plan import Exported, Plan, table_of

HEAD = '''\
"""{about}

Made by `reward-workbench export`. The reward files beside this one are unchanged; README.md says what carries over.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import importlib.util
import inspect
import math
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent

CHAT = {chat!r}
"""Whether the rewards read chat messages, [{{"role": "assistant", "content": ...}}], or plain text."""

GOLD = {gold!r}
"""The column of the rewards that a single ground truth becomes."""

REWARDS = {rewards}
'''

CALLING = '''

def load(reference):
    """The function behind `FILE.py::NAME` (beside this file) or `package.module:NAME`."""
    where, _, name = reference.replace("::", ":").partition(":")
    if str(HERE) not in sys.path:
        sys.path.append(str(HERE))
    if where.endswith(".py"):
        module = _file(HERE / where)
    else:
        module = importlib.import_module(where)
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _file(path):
    """A file as a module under a name of its own, so that it is in nobody's way."""
    name = "_exported_" + "_".join(path.relative_to(HERE).with_suffix("").parts)
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


FUNCTIONS = {reward["name"]: load(reward["function"]) for reward in REWARDS}
'''

SCORING = '''

def as_text(value):
    """A prompt or completion as text: the last message's content."""
    if isinstance(value, str):
        return value
    content = value[-1].get("content") if value else ""
    return content if isinstance(content, str) else ""


def as_chat(value, role):
    """A prompt or completion as chat messages."""
    return [{"role": role, "content": value}] if isinstance(value, str) else list(value)


def scores(reward, prompts, completions, columns):
    """What one reward gives to each completion, in one call as TRL makes it: a number, or None for no opinion.

    `columns` maps names to lists, one value a completion.
    """
    rows = [row for row in range(len(completions)) if _applies(reward["when"], columns, row)]
    given = [None] * len(completions)
    if not rows:
        return given
    keywords = {name: [values[row] for row in rows] for name, values in columns.items()}
    keywords.update(reward["params"])
    texts = [as_text(completions[row]) for row in rows]
    keywords.update(
        prompts=[as_chat(prompts[row], "user") if CHAT else as_text(prompts[row]) for row in rows],
        completions=[as_chat(completions[row], "assistant") if CHAT else texts[at] for at, row in enumerate(rows)],
        completion_ids=[list(text.encode("utf-8", "surrogatepass")) for text in texts],
        trainer_state=types.SimpleNamespace(global_step=0, max_steps=0, epoch=0.0, log_history=[]),
        log_extra=lambda *_: None,
        log_metric=lambda *_: None,
    )
    result = FUNCTIONS[reward["name"]](**keywords)
    if inspect.isawaitable(result):
        result = _wait(result)
    result = list(result)
    if len(result) != len(rows):
        raise ValueError(f"reward '{reward['name']}' gave {len(result)} scores for {len(rows)} completions")
    for row, value in zip(rows, result):
        given[row] = None if value is None else float(value)
    return given


def _applies(when, columns, row):
    """Whether the columns of a row have the values that the reward asks for."""
    for name, value in when.items():
        if name not in columns or columns[name][row] not in (value if isinstance(value, list) else [value]):
            return False
    return True


def _wait(awaitable):
    """The result of an async reward, also where an event loop runs already."""

    async def finished():
        return await awaitable

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, finished()).result()


def total(parts):
    """The weighted sum of the scores of one completion; what has no opinion (None, NaN) adds nothing, as in TRL."""
    known = [
        (reward["weight"], parts[reward["name"]])
        for reward in REWARDS
        if parts.get(reward["name"]) is not None and not math.isnan(parts[reward["name"]])
    ]
    return float(sum(weight * value for weight, value in known))
'''


def head(plan: Plan, about: str, rewards: list[Exported]) -> str:
    """The beginning of an adapter, with the rewards as data."""
    tables = pprint.pformat([table_of(reward) for reward in rewards], width=100, sort_dicts=False)
    return HEAD.format(about=about, chat=plan.chat, gold=plan.gold, rewards=tables) + CALLING


__all__ = ["CALLING", "SCORING", "head"]
