"""Instruction following: the share of the prompt's checkable instructions that a response keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.instructions.kinds import check
from rewards.library.instructions.verdict import UnreadableInstruction, Verdict
from rewards.library.parameters import flag
from rewards.library.references import tell_unread
from rewards.marks import reward


@reward(kind="format", weight=1.0, range=(0.0, 1.0), scope="row", abstains=True)
def follows_instructions(
    completions: list[Any],
    instruction_id_list: list[Any],
    kwargs: list[Any],
    *,
    require_all: bool = False,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward responses that keep the instructions their prompt gives about form.

    The columns are those of IFEval: for each prompt a list of kinds and, beside it, a list with the arguments of
    each. All 25 kinds are known (`rewards.library.instructions.kinds`). The score is the share of them that is
    kept; a blank response keeps none.

    Args:
        completions: chat or plain text.
        instruction_id_list: column with a list of kinds, such as "length_constraints:number_words".
        kwargs: column with a list of arguments for each kind, such as {"relation": "at least", "num_words": 300}.
        require_all: pay only where every instruction is kept.
        log_metric: TRL's; told the share of rows that cannot be scored, where there are any.

    Returns:
        A value in [0, 1] per completion; None where there is no instruction, or one that cannot be read (a kind
        or language that is not known, a missing argument).

    Raises:
        ValueError: if `require_all` is neither true nor false.

    >>> follows_instructions(
    ...     ["yes, no", "yes"],
    ...     instruction_id_list=[["punctuation:no_comma", "change_case:english_lowercase"], ["punctuation:no_comma"]],
    ...     kwargs=[[{}, {}], [{}]],
    ... )
    [0.0, 1.0]
    """
    all_needed = flag("follows_instructions", "require_all", require_all)
    scores = [
        _score(completion_text(completion), kinds, arguments, all_needed)
        for completion, kinds, arguments in zip(completions, instruction_id_list, kwargs, strict=True)
    ]
    tell_unread(log_metric, "follows_instructions", scores)
    return scores


def _score(text: str, kinds: Any, arguments: Any, all_needed: bool) -> float | None:
    try:
        verdicts = verdicts_of(text, kinds, arguments)
    except UnreadableInstruction as error:
        credit("not scored", 0.0, of=0.0, note=str(error))
        return None
    if not verdicts:
        credit("not scored", 0.0, of=0.0, note="there is no instruction")
        return None
    kept = sum(verdict.followed for _, verdict in verdicts)
    if all_needed and kept < len(verdicts):
        kept = 0
    for kind, verdict in verdicts:
        points = 1 / len(verdicts) if verdict.followed and kept else 0.0
        credit(kind, points, of=1 / len(verdicts), span=verdict.spans, note=verdict.note)
    return kept / len(verdicts)


def verdicts_of(text: str, kinds: Any, arguments: Any) -> list[tuple[str, Verdict]]:
    """Each instruction with what it says about a response.

    Raises:
        UnreadableInstruction: an instruction cannot be read, or the two lists do not fit together.

    >>> [verdict.followed for _, verdict in verdicts_of("yes", ["punctuation:no_comma"], [None])]
    [True]
    """
    names, values = _listed(kinds), _listed(arguments)
    if len(names) != len(values):
        raise UnreadableInstruction(f"{len(names)} kinds, but arguments for {len(values)}")
    return [
        (str(name), check(str(name), text, value if isinstance(value, Mapping) else {}))
        for name, value in zip(names, values, strict=True)
    ]


def _listed(value: Any) -> list[Any]:
    """A column's value as a list; JSON text is read."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UnreadableInstruction(f"{value[:40]!r} is no list") from error
    return list(value) if isinstance(value, (list, tuple)) or hasattr(value, "tolist") else []
