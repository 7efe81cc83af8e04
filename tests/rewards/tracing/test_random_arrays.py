"""Random rewards written twice, text by text and with masks, matrices and tables: the credits are the same ones."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import Explainer, RewardExplanation

NEEDLES = ["<a>", "</a>", "42", "so", "\\n", "?"]
TEXTS = ["<a>42</a>", "so 42?", "", "<a>\n</a> so", "no", "so\n<a>?"]

HEAD = """import numpy as np
import pandas as pd


def has(texts, needle):
    return np.array([needle in text for text in texts])


"""

SCALAR: dict[str, Callable[[str, float], list[str]]] = {
    "add": lambda needle, points: [f'if "{needle}" in text:', f"    score += {points}"],
    "either": lambda needle, points: [f'score += {points} if "{needle}" in text else -0.5'],
    "weigh": lambda needle, points: [f'score += {points} * ("{needle}" in text)'],
    "set": lambda needle, points: [f'if "{needle}" in text:', f"    score = {points}"],
    "scale": lambda needle, points: ["score = score * 2"],
    "halve": lambda needle, points: [f'if "{needle}" in text:', "    score *= 0.5"],
    "least": lambda needle, points: ["score = max(score, -0.25)"],
}

ARRAY: dict[str, Callable[[str, float], str]] = {
    "add": lambda needle, points: f's[has(completions, "{needle}")] += {points}',
    "either": lambda needle, points: f's += np.where(has(completions, "{needle}"), {points}, -0.5)',
    "weigh": lambda needle, points: f's = s + has(completions, "{needle}") * {points}',
    "set": lambda needle, points: f's[has(completions, "{needle}")] = {points}',
    "scale": lambda needle, points: "s = s * 2",
    "halve": lambda needle, points: f's[has(completions, "{needle}")] *= 0.5',
    "least": lambda needle, points: "s = np.maximum(s, -0.25)",
}

TABLE: dict[str, Callable[[str, float], str]] = {
    "add": lambda needle, points: f't.loc[has(completions, "{needle}"), "s"] += {points}',
    "either": lambda needle, points: f't["s"] += np.where(has(completions, "{needle}"), {points}, -0.5)',
    "weigh": lambda needle, points: f't["s"] = t["s"] + {points} * pd.Series(has(completions, "{needle}"))',
    "set": lambda needle, points: f't.loc[has(completions, "{needle}"), "s"] = {points}',
    "scale": lambda needle, points: 't["s"] = t["s"] * 2',
    "halve": lambda needle, points: f't.loc[has(completions, "{needle}"), "s"] *= 0.5',
    "least": lambda needle, points: 't["s"] = np.maximum(t["s"], -0.25)',
}


CHANGES = {
    "and": ("m &= {}", "({}) & ({})"),
    "or": ("m |= {}", "({}) | ({})"),
    "exclusive": ("m ^= {}", "({}) ^ ({})"),
    "replaced": ("m[:] = {}", None),
    "out": ("np.logical_and(m, {}, out=m)", "({}) & ({})"),
}
"""A mask that is changed after its use, and what it is for one text; None: the new test alone."""


def _other(needle: str) -> str:
    return NEEDLES[(NEEDLES.index(needle) + 1) % len(NEEDLES)]


def _changed_scalar(how: str, needle: str, points: float) -> list[str]:
    first, second = f'"{needle}" in text', f'"{_other(needle)}" in text'
    words = CHANGES[how][1]
    both = words.format(first, second) if words is not None else second
    return [f"if {first}:", f"    score += {points}", f"if {both}:", f"    score += {points}"]


def _changed_mask(target: str, how: str, needle: str, points: float) -> str:
    change = CHANGES[how][0].format(f'has(completions, "{_other(needle)}")')
    put = f"{target} += {points}"
    lines = [f'm = has(completions, "{needle}")', put, change, put, "m[:] = False", "m |= True"]
    return "\n    ".join(lines)


for _how in CHANGES:
    SCALAR[_how] = functools.partial(_changed_scalar, _how)
    ARRAY[_how] = functools.partial(_changed_mask, "s[m]", _how)
    TABLE[_how] = functools.partial(_changed_mask, 't.loc[m, "s"]', _how)


def three_times(seed: int) -> str:
    """One random reward: `scalar`, `array` and `table`."""
    dice = random.Random(seed)
    steps = [
        (dice.choice(sorted(SCALAR)), dice.choice(NEEDLES), dice.choice([0.25, 0.5, -0.125, 1.0]))
        for _ in range(dice.randint(1, 6))
    ]
    scalar = ["def scalar(completions, **kwargs):", "    scores = []", "    for text in completions:",
              "        score = 0.0"]  # fmt: skip
    array = ["def array(completions, **kwargs):", "    s = np.zeros(len(completions))"]
    table = [
        "def table(completions, **kwargs):",
        '    t = pd.DataFrame({"text": completions})',
        '    t["s"] = 0.0',
    ]
    for kind, needle, points in steps:
        scalar += ["        " + line for line in SCALAR[kind](needle, points)]
        array.append("    " + ARRAY[kind](needle, points))
        table.append("    " + TABLE[kind](needle, points))
    scalar += ["        scores.append(score)", "    return scores"]
    array.append(dice.choice(["    return s", "    return s.tolist()", "    return list(s)"]))
    table.append(
        dice.choice(['    return t["s"].tolist()', '    return list(t["s"])', '    return t["s"].values'])
    )
    return HEAD + "\n\n\n".join("\n".join(lines) for lines in (scalar, array, table)) + "\n"


def told(explanation: RewardExplanation) -> list[tuple[float, tuple[tuple[int, int], ...]]]:
    """What the credits say, whatever their lines and words."""
    return sorted((round(one.points, 9), one.spans) for one in explanation.credits if one.points)


@pytest.mark.parametrize("seed", range(40))
def test_arrays_and_tables_are_told_of_as_loops_are(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "r.py"
    file.write_text(three_times(seed))
    explainer = Explainer(functools.partial(RewardSet.load, file))
    batch = Batch(["p"] * len(TEXTS), TEXTS, groups=["g"] * len(TEXTS))
    for row in range(len(TEXTS)):
        by_loop = explainer.explain("scalar", batch, row)
        assert by_loop.exact
        for name in ("array", "table"):
            other = explainer.explain(name, batch, row)
            assert other.exact, (name, row, file.read_text())
            assert told(other) == told(by_loop), (name, row, file.read_text())
