"""Sets of rewards for the usual tasks, as a starting point: maths, code, summaries, questions and answers.

    from rewards.library.presets import preset

    maths = preset("maths")
    GRPOTrainer(reward_funcs=maths.functions(), args=GRPOConfig(reward_weights=maths.weights, ...), ...)

or `print(maths.to_toml())` into a `rewardset.toml`. A preset is nothing but entries of a manifest: every weight and
parameter can be changed there.

What all of them keep: one reward says what is right and outweighs the others together, so that no layout, length or
style lifts a plainly wrong completion over a right one; a layout is paid once; nothing is paid for being long.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any

from rewards.contract import Reward
from rewards.errors import UsageError
from rewards.manifest import RewardEntry
from rewards.targets import did_you_mean


@dataclass(frozen=True)
class Preset:
    """A named set of rewards: `about` says for what, `columns` which the data need, `notes` what to know of it."""

    name: str
    about: str
    columns: dict[str, str]
    rewards: tuple[RewardEntry, ...]
    notes: tuple[str, ...] = ()

    @property
    def weights(self) -> list[float]:
        """TRL's `reward_weights`, in the order of `functions`."""
        return [entry.weight for entry in self.rewards]

    def functions(self) -> list[Reward]:
        """The rewards as TRL takes them (a list), their parameters bound."""
        return [_bound(entry) for entry in self.rewards]

    def to_toml(self) -> str:
        """The `[[reward]]` tables for a `rewardset.toml`, with what to know as comments."""
        import tomlkit

        lines = [f"# {self.name}: {self.about}"]
        lines += [f"# `{column}`: {what}" for column, what in self.columns.items()]
        lines += [f"# {note}" for note in self.notes]
        for entry in self.rewards:
            table = tomlkit.table()
            for key in ("function", "name", "kind", "weight"):
                table[key] = getattr(entry, key)
            if entry.params:
                params = tomlkit.inline_table()
                params.update(entry.params)
                table["params"] = params
            lines += ["", "[[reward]]", tomlkit.dumps(table).rstrip()]
        return "\n".join(lines) + "\n"


def _entry(function: str, kind: Any, weight: float, **params: Any) -> RewardEntry:
    return RewardEntry(function=function, kind=kind, weight=weight, params=params)


MATHS = Preset(
    name="maths",
    about="reasoning that ends in an answer that can be compared",
    columns={"answer": "the reference: a number, LaTeX, or a worked solution"},
    rewards=(
        _entry("rewards.library:maths_equal", "correctness", 2.0),
        _entry("rewards.library:incremental_format", "format", 0.5, tag_names=["reasoning", "answer"]),
        _entry("rewards.library:repetition_penalty", "style", 0.2),
    ),
    notes=("For numbers alone `rewards.library:numeric` is quicker; its params can allow a tolerance.",),
)

CODE = Preset(
    name="code",
    about="Python programs that pass tests",
    columns={
        "tests": "test cases, as `rewards.library:tests_passed` reads them",
        "entry_point": "the function",
    },
    rewards=(
        _entry("rewards.library:tests_passed", "correctness", 2.0, paid="share"),
        _entry("rewards.library:valid_python", "format", 0.25),
        _entry("rewards.library:code_block_present", "format", 0.25),
    ),
    notes=(
        "Programs run in a sandbox; `reward-workbench doctor` says how well this machine can lock them in.",
    ),
)

SUMMARY = Preset(
    name="summary",
    about="short texts that say what a reference summary says",
    columns={"answer": "a reference summary, or a list of several"},
    rewards=(
        _entry("rewards.library:word_overlap", "correctness", 2.0, answer_forms=["whole"]),
        _entry("rewards.library:max_length", "length", 0.5, longest=60),
        _entry("rewards.library:repetition_penalty", "style", 0.5),
    ),
    notes=(
        "Shared words cannot tell a summary from its denial: look at what is paid, and think of",
        "`rewards.library.judge:judge`, gated on the overlap (`rewards.library.shaping.gate`).",
    ),
)

QA = Preset(
    name="qa",
    about="questions with a known answer",
    columns={"answer": "the reference, or a list of accepted wordings"},
    rewards=(
        _entry("rewards.library:fuzzy_match", "correctness", 2.0),
        _entry("rewards.library:incremental_format", "format", 0.5, tag_names=["reasoning", "answer"]),
        _entry("rewards.library.combined:brief_if_right", "length", 0.2),
    ),
    notes=("Brevity is paid to right answers alone, and length to none.",),
)

PRESETS: dict[str, Preset] = {one.name: one for one in (MATHS, CODE, SUMMARY, QA)}


def preset(name: str) -> Preset:
    """The preset called `name`: "maths", "code", "summary" or "qa".

    Raises:
        UsageError: there is none of that name.

    >>> preset("maths").weights
    [2.0, 0.5, 0.2]
    >>> [entry.name for entry in preset("qa").rewards]
    ['fuzzy_match', 'incremental_format', 'brief_if_right']
    """
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS)
        raise UsageError(f"there is no preset '{name}'{hint}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


def _bound(entry: RewardEntry) -> Reward:
    module, _, name = entry.function.partition(":")
    function: Reward = getattr(importlib.import_module(module), name)
    return functools.partial(function, **entry.params) if entry.params else function
