"""Names of columns: `[data] columns`, and the guess offered where a needed one is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rewards.targets import did_you_mean
from workbench.samples.format import Values

LIKELY = {
    "completion": (
        "response", "output", "generated_text", "generation", "model_output", "model_response", "prediction",
        "completions", "responses", "generations", "text", "answer",
    ),
    "prompt": ("question", "input", "instruction", "query", "problem", "prompts", "messages", "text"),
}  # fmt: skip
"""Names people and tools give to the two columns every row needs, likeliest first."""

SHOWN = 12  # column names a sentence can hold


def mapped_values(values: Values, columns: Mapping[str, str]) -> Values:
    """The record under the names of `columns` (source = target); a source that it lacks is left alone."""
    moved = {source: target for source, target in columns.items() if source in values}
    if not moved:
        return values
    targets = set(moved.values())
    kept = {name: value for name, value in values.items() if name not in moved and name not in targets}
    return {**kept, **{target: values[source] for source, target in moved.items()}}


def likely_column(needed: str, present: Iterable[str], taken: Iterable[str] = ()) -> str | None:
    """The column of `present` that is likeliest meant for `needed`: same word, else a usual name for it."""
    spent = set(taken)
    free = {name.casefold().strip(): name for name in present if name not in spent}
    for guess in (needed, *LIKELY.get(needed, ())):
        if guess in free:
            return free[guess]
    return None


def missing_columns_sentence(missing: Iterable[str], present: Iterable[str]) -> str:
    """What to do about missing `prompt` or `completion`: the columns there are, and the likely mapping."""
    there = list(present)
    taken: list[str] = []
    mapping: list[str] = []
    given: list[str] = []
    for needed in missing:
        guess = likely_column(needed, there, taken)
        if guess is not None:
            taken.append(guess)
            mapping.append(f'{_key(guess)} = "{needed}"')
            given.append(f"{guess}={needed}" if _key(guess) == guess else f"'{guess}={needed}'")
    lacking = " and no ".join(f"`{needed}`" for needed in missing)
    advice = (
        f"; if they are meant, say --columns {','.join(given)}, or write `columns = {{ {', '.join(mapping)} }}` under "
        "[data] in rewardset.toml"
        if mapping
        else ""
    )
    if not there:
        return f"no {lacking} column: its rows are empty objects, `{{}}`"
    return f"no {lacking} column; the columns are {_named(there)}{advice}"


def unmet_column_sentence(source: str, target: str, present: Iterable[str]) -> str:
    """What to do about a name to change that no row has."""
    there = list(present)
    return (
        f"columns {source}={target}: no row has a column '{source}'{did_you_mean(source, there)}; "
        f"the columns are {_named(there)}"
    )


def _named(there: list[str]) -> str:
    return ", ".join(there[:SHOWN]) + (f" and {len(there) - SHOWN} more" if len(there) > SHOWN else "")


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else f'"{name}"'
