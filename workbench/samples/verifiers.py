"""verifiers' results: `results.jsonl` of its releases up to 0.1, `traces.jsonl` since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, RowError, Shape, Values

OF_THE_RUN = (
    "example_id", "reward", "error", "timing", "is_completed", "is_truncated", "stop_condition", "metrics",
    "tool_defs", "token_usage",
)  # fmt: skip
OF_THE_TASK = (
    "idx", "prompt", "skills", "network_allow", "network_block", "artifacts", "artifact_max_bytes", "timeout",
    "resources",
)  # fmt: skip
"""What a trace's task says about where it runs; the rest is ground truth."""


def _is_results(values: Values) -> bool:
    return all(name in values for name in ("example_id", "prompt", "completion", "reward"))


def _result_drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    draft = flat_draft(raw, mapped)
    metrics = _object(raw.values.get("metrics"))
    scores = {"reward": raw.values.get("reward"), **metrics}
    for name in (*OF_THE_RUN, *metrics):
        draft.columns.pop(name, None)
    draft.recorded = _numbers(scores)
    draft.group = raw.values.get("example_id") if draft.group is None else draft.group
    yield draft


def _is_traces(values: Values) -> bool:
    traces = values.get("traces")
    return isinstance(traces, list) and all(isinstance(trace, dict) and "nodes" in trace for trace in traces)


def _trace_drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft | RowError]:
    traces = raw.values.get("traces")
    if not isinstance(traces, list):
        raise RowError("no list under `traces`")
    for trace in traces:
        if not isinstance(trace, dict) or not isinstance(trace.get("nodes"), list):
            yield RowError("a trace without its `nodes`")
            continue
        chain = _chain(trace["nodes"])
        first = next((place for place, node in enumerate(chain) if node.get("sampled")), None)
        if first is None:
            yield RowError("a trace in which the model said nothing")
            continue
        messages = [_message(node) for node in chain]
        task = _object(trace.get("task"))
        data = _object(task.get("data"))
        scores = {name: _object(value).get("score") for name, value in _object(trace.get("rewards")).items()}
        yield Draft(
            raw.line,
            messages[:first],
            messages[first:],
            columns={name: value for name, value in data.items() if name not in OF_THE_TASK},
            group=data.get("idx", task.get("key")),
            id=trace.get("id"),
            recorded=_numbers({**scores, **_object(trace.get("metrics"))}),
        )


def _chain(nodes: list[Any]) -> list[dict[str, Any]]:
    """The messages from the first to the last one, along their parents."""
    chain: list[dict[str, Any]] = []
    place: Any = len(nodes) - 1
    while isinstance(place, int) and 0 <= place < len(nodes) and len(chain) < len(nodes):
        node = nodes[place]
        if not isinstance(node, dict):
            break
        chain.append(node)
        place = node.get("parent")
    return chain[::-1]


def _message(node: dict[str, Any]) -> dict[str, Any]:
    message = node.get("message")
    return message if isinstance(message, dict) else {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _numbers(values: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: float(value) for name, value in values.items() if isinstance(value, (int, float))}


VERIFIERS_RESULTS = Shape("verifiers results", _is_results, _result_drafts, foreign=True)
VERIFIERS_TRACES = Shape("verifiers traces", _is_traces, _trace_drafts, foreign=True)
