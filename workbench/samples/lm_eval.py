"""lm-eval's `--log_samples` files: one line a document and filter, with all responses.

Every filter repeats the same responses; a response becomes one row, with the metrics of each filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.samples.format import Draft, Raw, RowError, Shape, Values


def _matches(values: Values) -> bool:
    return all(name in values for name in ("doc", "arguments", "resps", "target"))


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    values = raw.values
    prompts, responses = _prompts(values.get("arguments")), values.get("resps")
    if not prompts or not isinstance(responses, list):
        raise RowError("no prompt under `arguments`, or no list under `resps`")
    document = values["doc"] if isinstance(values.get("doc"), dict) else {}
    name = values.get("filter", "none")
    metrics = values["metrics"] if isinstance(values.get("metrics"), list) else []
    recorded = {
        f"{metric}, {name}": float(values[metric])
        for metric in metrics
        if isinstance(metric, str) and _number(values.get(metric))
    }
    index = 0
    for place, repeats in enumerate(responses):
        for text in repeats if isinstance(repeats, list) else [repeats]:
            yield Draft(
                raw.line,
                prompts[min(place, len(prompts) - 1)],
                text,
                columns={**document, "target": values.get("target")},
                group=values.get("doc_id"),
                id=f"{values.get('doc_id')}-{index}",
                recorded=dict(recorded),
            )
            index += 1


def _prompts(arguments: Any) -> list[Any]:
    """The prompts of a line: `{"gen_args_0": {"arg_0": ...}}`, in older releases `[[prompt, settings]]`."""
    if isinstance(arguments, dict):
        return [
            value["arg_0"] for value in arguments.values() if isinstance(value, dict) and "arg_0" in value
        ]
    if isinstance(arguments, list):
        return [value[0] for value in arguments if isinstance(value, list) and value]
    return []


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _one_row_a_response(drafts: list[Draft], *_: object) -> tuple[str, ...]:
    """Fold the rows of the other filters into the first one's."""
    first: dict[tuple[Any, str], Draft] = {}
    for draft in drafts:
        known = first.setdefault((draft.id, str(draft.completion)), draft)
        known.recorded.update(draft.recorded)
    drafts[:] = list(first.values())
    return ()


LM_EVAL = Shape("lm-eval samples", _matches, _drafts, _one_row_a_response, foreign=True)
