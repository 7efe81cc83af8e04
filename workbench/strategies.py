"""Hypothesis strategies for property tests of rewards, learned from your own samples.

    from hypothesis import given
    from workbench.strategies import completions

    @given(completions("samples.jsonl"))
    def test_reward_is_a_number(completion):
        [score] = my_reward(completions=[completion], answer=["42"])
        assert 0 <= score <= 1

`completions` gives real completions, changed by their structure: parts dropped, repeated, moved, nested, cut and
renamed, white space and letters changed, numbers in other forms, answers of other rows, the answer in another form.
Failures shrink towards a short sample with few changes. `prompts` and `batches` give what a reward is called with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from rewards.contract import Batch, completion_text
from workbench.answer_form import find_slot, gold_text
from workbench.mutations import OPERATIONS, Material, mutate

if TYPE_CHECKING:
    from workbench.samples.records import Samples

PLAIN = ("", "Yes.", "<answer>42</answer>", "So it is \\boxed{42}.", "#### 42", "Answer: B", '{"answer": 42}')
"""Completions to start from where there are no samples."""

MOST_TEXTS = 60
"""Completions of the samples that are changed; the shortest of each label."""
MOST_CHANGES = 4


def texts(samples: Samples | str | Path | Sequence[str] | None = None) -> st.SearchStrategy[str]:
    """Completions as plain text: those of the samples, with up to four changes.

    Args:
        samples: `Samples`, the path of a sample file, or a list of completion texts; None: a few plain ones.

    Returns:
        A strategy of texts that shrinks towards short samples and few changes.
    """
    known, material = _learned(samples)
    operations = list(OPERATIONS)

    @st.composite
    def changed(draw: st.DrawFn) -> str:
        text = draw(st.sampled_from(known))
        for operation in draw(st.lists(st.sampled_from(operations), max_size=MOST_CHANGES)):
            text = mutate(text, operation, _picker(draw), material)
        return text

    return changed()


def completions(samples: Samples | str | Path | Sequence[str] | None = None) -> st.SearchStrategy[Any]:
    """Completions in the samples' own shape: message lists where the samples are chat, else text.

    Args:
        samples: as in `texts`.
    """
    read = _read(samples)
    if read is not None and not _is_texts(read) and read.chat:
        return texts(read).map(_message)
    return texts(read)


def prompts(samples: Samples | str | Path | Sequence[str] | None = None) -> st.SearchStrategy[Any]:
    """Prompts of the samples, or short questions where there are none; also with more white space, and empty.

    Args:
        samples: as in `texts`; of a list of texts, the texts are the prompts.
    """
    read = _read(samples)
    if read is None:
        asked = st.sampled_from(["What is 2 plus 2?", "Name a fruit.", "Why is the sky blue?"])
        return asked.map(lambda text: [{"role": "user", "content": text}])
    if _is_texts(read):
        return st.sampled_from(list(read))
    unique = {str(prompt): prompt for prompt in read.prompts}
    return st.sampled_from(sorted(unique.values(), key=lambda prompt: len(str(prompt))))


def batches(
    samples: Samples | str | Path | Sequence[str] | None = None, *, min_size: int = 1, max_size: int = 8
) -> st.SearchStrategy[Batch]:
    """Batches as a reward is called with: rows of the samples, each with its own or a changed completion.

    The columns of a row stay together with its prompt. Use `rewards.contract.call(reward, batch)` on one.

    Args:
        samples: as in `texts`.
        min_size, max_size: how many rows.

    Raises:
        ValueError: `min_size` is below 1 or above `max_size`.
    """
    if not 1 <= min_size <= max_size:
        raise ValueError(f"batches: min_size={min_size} must be at least 1 and at most max_size={max_size}")
    read = _read(samples)
    if read is None or _is_texts(read):
        rows = st.lists(st.tuples(prompts(None), texts(read)), min_size=min_size, max_size=max_size)
        return rows.map(_plain_batch)
    whole = read.batch()
    kept = completions(read)

    @st.composite
    def drawn(draw: st.DrawFn) -> Batch:
        rows = draw(st.lists(st.integers(0, len(whole) - 1), min_size=min_size, max_size=max_size))
        taken = whole.rows(rows)
        changed = [draw(kept) if draw(st.booleans()) else own for own in taken.completions]
        return Batch(taken.prompts, changed, [], taken.columns, taken.groups)

    return drawn()


def _picker(draw: st.DrawFn) -> Callable[[int], int]:
    def pick(choices: int) -> int:
        return int(draw(st.integers(0, max(0, choices - 1))))

    return pick


def _message(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def _is_texts(samples: Any) -> bool:
    return isinstance(samples, (list, tuple))


def _read(samples: Any) -> Any:
    if isinstance(samples, (str, Path)):
        from workbench.samples import read_samples

        return read_samples([Path(samples)])
    return samples


def _learned(samples: Any) -> tuple[list[str], Material]:
    """The texts to start from, the shortest first, and what can be brought into them."""
    read = _read(samples)
    if read is None or len(read) == 0:
        return list(PLAIN), Material(PLAIN, ("42", "7", "B", "unknown"), ("therefore", "correct"))
    if _is_texts(read):
        known = sorted({str(text) for text in read}, key=len)
        return known, Material(known, (), ("therefore", "correct"))
    by_label: dict[str | None, list[str]] = {}
    for label, completion in zip(read.labels, read.completions, strict=True):
        by_label.setdefault(label, []).append(completion_text(completion))
    share = max(4, MOST_TEXTS // len(by_label))
    known = sorted({text for own in by_label.values() for text in sorted(own, key=len)[:share]}, key=len)
    words = sorted({word for text in known[:20] for word in text.split() if word.isalpha()})[:40]
    return known, Material(known[:20], answers_of(read), words)


def answers_of(samples: Samples) -> list[str]:
    """The ground truths that stand as answers in the samples' completions, as text; learned from all columns."""
    rows = [row for row, label in enumerate(samples.labels) if label == "right"] or list(range(len(samples)))
    for values in samples.columns.values():
        known = [row for row in rows[:40] if isinstance(values[row], (str, int, float))]
        found = [row for row in known if find_slot(completion_text(samples.completions[row]), values[row])]
        if known and 2 * len(found) >= len(known):
            return list(
                dict.fromkeys(
                    gold_text(values[row]) for row in range(len(samples)) if values[row] is not None
                )
            )[:20]
    return []


def _plain_batch(rows: Sequence[tuple[Any, str]]) -> Batch:
    asked = [prompt for prompt, _ in rows]
    return Batch(asked, [_message(text) for _, text in rows], [], {}, [str(prompt) for prompt in asked])


__all__ = ["answers_of", "batches", "completions", "prompts", "texts"]
