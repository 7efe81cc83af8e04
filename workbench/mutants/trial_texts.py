"""Completions on which a small change of a reward's code would show: what its own code speaks of.

A change of `> 5` to `>= 5` shows on a text with exactly five of whatever is counted, a dropped `re.DOTALL` on a block
with a line break in it, a changed word where the word stands. So the texts are the samples changed by structure, odd
completions, and samples shaped by the numbers, words and patterns that stand in the code. Nothing is run here.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.checks.odd import odd_completions
from workbench.mutants.pattern_example import example_of
from workbench.mutations import OPERATIONS, Material, mutate

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

LONGEST = 6_000
"""Characters of a made-up text, at most."""
FAST_S = 0.005
LARGEST = 600
"""Words or lines that a number of the code may ask for."""
LAYOUTS = (
    "<think>so it is</think>\n<answer>42</answer>",
    "<think>\nso it is\n</think>\n<answer>\n42\n</answer>",
    "<reasoning>\nso it is\n</reasoning>\n<answer>\n42\n</answer>\n",
    "<think>so it is</think>\n42",
    "so it is \\boxed{42}",
    "so it is\n#### 42",
    "```python\nprint(42)\n```",
    '{"answer": 42}',
    "# So\n\n- it **is**\n- `so`\n\n1. one\n2. two",
    "According to Ito (2019), so it is [1]. Therefore, because of that, it is so: https://example.org",
)
"""Layouts that rewards usually ask for."""


def trial_texts(
    samples: Sequence[str],
    source: str,
    lines: Collection[int] | None = None,
    *,
    answers: Sequence[str] = (),
    words: Sequence[str] = (),
    seed: int = 0,
    most: int = 300,
) -> list[tuple[int, str]]:
    """(index of a sample, text): texts to try under the prompt of that sample; without the samples themselves.

    Args:
        samples: a few completions of different scores.
        source: the text of the reward's file.
        lines: the lines of it that the reward uses; None: all.
        answers: ground truths of other rows.
        words: further words that the reward looks for.
        seed: of the changes by structure.
        most: how many texts, about; each way of making them gets its turn.
    """
    if not samples:
        return []
    spoken, numbers, patterns = spoken_of(source, lines)
    ways: list[Iterable[tuple[int, str]]] = [
        _of_words(samples, [*words, *spoken]),
        _of_numbers(samples, numbers),
        _of_patterns(samples, patterns),
        _of_values(samples, numbers),
        ((0, text) for text in (*LAYOUTS, *_tagged(spoken))),
        ((0, odd.text) for odd in odd_completions(list(samples[:1]))),
        _of_structure(samples, answers, random.Random(seed)),
    ]
    found: dict[tuple[int, str], None] = {}
    known = set(samples)
    open_ways = [iter(way) for way in ways]
    while open_ways and len(found) < most:
        for way in list(open_ways):
            item = next(way, None)
            if item is None:
                open_ways.remove(way)
            elif len(item[1]) <= LONGEST and item[1] not in known:
                found.setdefault(item)
    return list(found)


def affordable_texts(subject: RewardSubject, most: int, seconds: float) -> int:
    """How many texts, at most `most`, a reward scores in about that long; at least two.

    A few rows alone are measured badly (a first call, a busy machine), so they are called once more, and a reward that
    takes under 5 ms a row gets all of them. Fewer come in steps of four times (2, 8, 32, ...), so that what is tried of
    a slow one is the same from run to run.
    """
    rows = subject.few()
    if not rows:
        return 2
    pace = min(subject.base.seconds / len(subject.rows), subject.call(rows).seconds / len(rows))
    return most if pace < FAST_S else min(most, steps_of_four(seconds / pace))


def steps_of_four(count: float) -> int:
    """The largest of 2, 8, 32, 128, ... that is at most `count`; 2 where none is.

    >>> [steps_of_four(count) for count in (0.3, 7.9, 8, 100)]
    [2, 2, 8, 32]
    """
    step = 2
    while 4 * step <= count:
        step *= 4
    return step


def spoken_of(
    source: str, lines: Collection[int] | None = None
) -> tuple[list[str], list[float], list[tuple[str, int]]]:
    """The words, the numbers, and the patterns with their flags that stand in some lines of a file.

    >>> spoken_of("def f(t): return len(t.split()) > 5 and 'so' in t")
    (['so'], [5.0], [])
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return [], [], []
    words: dict[str, None] = {}
    numbers: dict[float, None] = {}
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documented:
            continue
        if lines is not None and node.lineno not in lines:
            continue
        if isinstance(node.value, str) and 0 < len(node.value) <= 120:
            words.setdefault(node.value)
        elif isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            numbers.setdefault(float(node.value))
    return list(words), list(numbers), patterns_of(tree, lines)


def patterns_of(tree: ast.Module, lines: Collection[int] | None = None) -> list[tuple[str, int]]:
    """(pattern, flags) of each call of a function of `re` with a pattern given as text."""
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first = node.args[0]
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        wanted = lines is None or node.lineno in lines
        if of_re and wanted and isinstance(first, ast.Constant) and isinstance(first.value, str):
            flags = 0
            for part in (sub for argument in [*node.args[1:], *node.keywords] for sub in ast.walk(argument)):
                flag = getattr(re, part.attr, None) if isinstance(part, ast.Attribute) else None
                flags |= int(flag) if isinstance(flag, re.RegexFlag) else 0
            found.append((first.value, flags))
    return found


def _of_words(samples: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each word of the code put into a sample, taken out, written otherwise, twice, and by itself."""
    for word in words:
        for place, text in enumerate(samples[:2]):
            if word in text:
                yield place, text.replace(word, "", 1)
                yield place, text.replace(word, word.swapcase())
                yield place, text.replace(word, word + " " + word, 1)
                yield place, text.replace(word, "x" + word + "x", 1)
                yield place, text.replace(word, word + "\n", 1)
            else:
                yield place, f"{text} {word}"
                yield place, f"{word} {text}"
                yield place, f"{text} {word}!"
                yield place, f"{text} {word.swapcase()}"
        yield 0, word


def _tagged(words: Sequence[str]) -> Iterator[str]:
    """Words of the code as names of tags: each by itself, and all after one another with and without line breaks."""
    names = [name for name in dict.fromkeys(word.strip("<>/") for word in words) if name.isidentifier()][:8]
    for between in ("", "\n"):
        yield "\n".join(f"<{name}>{between}so it is{between}</{name}>" for name in names)
    for name in names:
        yield f"<{name}>so it is</{name}>"


def _of_numbers(samples: Sequence[str], numbers: Sequence[float]) -> Iterator[tuple[int, str]]:
    """Samples with so many words, lines, sentences or characters as a number of the code says, one less, one more."""
    for number in numbers:
        if not 0 < number <= LARGEST or number != int(number):
            continue
        for count in (int(number), int(number) - 1, int(number) + 1, 2 * int(number)):
            for text in samples[:1]:
                yield 0, _so_many(text.split() or ["so"], count, " ")
                yield 0, text[:1] * count if not text.strip() else (text * (count // len(text) + 1))[:count]
                yield 0, _so_many(text.splitlines() or ["so"], min(count, 60), "\n")
                yield 0, _so_many(["It is so."], min(count, 60), " ")


def _so_many(parts: Sequence[str], count: int, between: str) -> str:
    return between.join(parts[place % len(parts)] for place in range(max(0, count)))


def _of_patterns(samples: Sequence[str], patterns: Sequence[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """Texts that each pattern matches: alone, inside a sample, with line breaks, in the other case, twice."""
    for pattern, flags in patterns:
        example = example_of(pattern, flags)
        if example is None:
            continue
        sample = samples[0]
        yield 0, example
        yield 0, f"so {example} so"
        yield 0, f"{sample}\n{example}"
        yield 0, f"{example}\n{sample}"
        yield 0, example.replace(" ", "\n")
        yield 0, example.swapcase()
        yield 0, f"{example} {example}"
        yield 0, f"{example}\n"
        yield 0, f"\n{example}"
        broken = example_of(pattern, flags, filler="a\nb")
        if broken is not None:
            yield 0, broken


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _of_values(samples: Sequence[str], numbers: Sequence[float]) -> Iterator[tuple[int, str]]:
    """The last number of a sample moved by what the code calls a tolerance, just inside, at, and just outside."""
    small = [number for number in numbers if 0 < abs(number) <= 1] or [0.01]
    for place, text in enumerate(samples[:2]):
        found = list(_NUMBER.finditer(text))
        if not found:
            continue
        last = found[-1]
        value = float(last.group())
        for step in small[:6]:
            for factor in (0.5, 1.0, 1.5, 3.0):
                for other in (value + step * factor, value * (1 + step * factor), value - step * factor):
                    yield place, text[: last.start()] + f"{other:.10g}" + text[last.end() :]
        for other in (-value, value + 1, value - 1, value * 10, 0.0):
            yield place, text[: last.start()] + f"{other:.10g}" + text[last.end() :]


def _of_structure(
    samples: Sequence[str], answers: Sequence[str], chance: random.Random
) -> Iterator[tuple[int, str]]:
    material = Material(list(samples), list(answers), ("so", "therefore", "correct"))
    for _ in range(12):
        for operation in OPERATIONS:
            for place, text in enumerate(samples[:4]):
                yield place, mutate(text, operation, lambda count: chance.randrange(max(1, count)), material)


__all__ = ["affordable_texts", "patterns_of", "spoken_of", "steps_of_four", "trial_texts"]
