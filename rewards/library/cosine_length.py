"""Length scaled by correctness along half a cosine: a right answer is worth more the shorter it is."""

from __future__ import annotations

import math
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.parameters import number, whole_number
from rewards.library.references import not_scored, tell_unread
from rewards.library.rightness import right_rows
from rewards.marks import reward


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def cosine_length(
    completions: list[Any],
    completion_ids: list[Any],
    answer: Any = None,
    correct: Any = None,
    *,
    max_tokens: int = 1000,
    right_short: float = 1.0,
    right_long: float = 0.75,
    wrong_short: float = 0.0,
    wrong_long: float = 0.0,
    graded_by: str = "numeric",
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward right answers, the more the shorter they are.

    From no tokens to `max_tokens` the value of a right completion goes along half a cosine from `right_short` to
    `right_long`, that of a wrong one from `wrong_short` to `wrong_long`; beyond `max_tokens` it stays. With
    `wrong_long` above `wrong_short` a wrong answer is worth more the longer it tried.

    Args:
        completions: chat or plain text.
        completion_ids: token ids, one list a completion.
        answer: column with the references.
        correct: column with verdicts, true or false, which are taken instead of judging the answer.
        max_tokens: where the cosine ends.
        right_short: value of a right completion without length.
        right_long: value of a right one of `max_tokens`.
        wrong_short: value of a wrong one without length.
        wrong_long: value of a wrong one of `max_tokens`.
        graded_by: who says what is right: a key of `rewards.library.rightness.GRADERS`.
        log_metric: TRL's; told the share of rows that cannot be scored, where there are any.

    Returns:
        A value in [0, 1] per completion; None where it cannot be told whether it is right.

    Raises:
        ValueError: if a parameter is not what it should be, or a wrong answer could be worth more than a right one.

    >>> cosine_length(["7", "7", "8"], [[0] * 10, [0] * 20, [0] * 10], answer=["7"] * 3, max_tokens=20)
    [0.875, 0.75, 0.0]
    """
    longest = whole_number("cosine_length", "max_tokens", max_tokens)
    ends = {
        name: number("cosine_length", name, value, 0.0, 1.0)
        for name, value in (
            ("right_short", right_short),
            ("right_long", right_long),
            ("wrong_short", wrong_short),
            ("wrong_long", wrong_long),
        )
    }
    if max(ends["wrong_short"], ends["wrong_long"]) > min(ends["right_short"], ends["right_long"]):
        raise ValueError(
            f"reward 'cosine_length': {', '.join(f'{name}={end:g}' for name, end in ends.items())}: "
            "a wrong completion could be worth more than a right one; keep the wrong ones below"
        )
    right = right_rows("cosine_length", graded_by, completions, answer, correct)
    scores = [
        not_scored(None, "a reference")
        if is_right is None
        else _score(completion_text(completion), len(ids), is_right, longest, ends)
        for completion, ids, is_right in zip(completions, completion_ids, right, strict=True)
    ]
    tell_unread(log_metric, "cosine_length", scores)
    return scores


def _score(text: str, tokens: int, is_right: bool, longest: int, ends: dict[str, float]) -> float:
    word = "right" if is_right else "wrong"
    short, long = ends[f"{word}_short"], ends[f"{word}_long"]
    progress = min(1.0, tokens / longest)
    points = long + 0.5 * (short - long) * (1.0 + math.cos(math.pi * progress))
    points = min(max(points, min(short, long)), max(short, long))
    note = f"{tokens} tokens of {longest}"
    return credit(f"a {word} answer of this length", points, of=1.0, span=(0, len(text)), note=note)
