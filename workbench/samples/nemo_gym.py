"""NeMo Gym's rollouts: a request and its response in OpenAI's Responses layout, with tool calls.

Tool calls become an assistant's message with `tool_calls` and a tool's message, as TRL has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.samples.format import Draft, Raw, RowError, Shape, Values

OF_THE_RUN = ("responses_create_params", "response", "reward_components", "agent_ref")


def _matches(values: Values) -> bool:
    return "responses_create_params" in values and "response" in values


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    request, response = raw.values.get("responses_create_params"), raw.values.get("response")
    asked = request.get("input") if isinstance(request, dict) else None
    said = response.get("output") if isinstance(response, dict) else None
    if not isinstance(asked, (str, list)) or not isinstance(said, list):
        raise RowError("no `input` in the request, or no `output` in the response")
    prompt = asked if isinstance(asked, str) else [_message(item) for item in asked]
    completion = [message for item in said for message in _spoken(item)]
    if not completion:
        raise RowError("the response holds no message")
    columns, recorded = {}, {}
    for name, value in raw.values.items():
        if name in OF_THE_RUN or name.startswith("_ng_"):
            continue
        if isinstance(value, (int, float)):
            recorded[name] = float(value)
        else:
            columns[name] = value
    yield Draft(
        raw.line,
        prompt,
        completion,
        columns,
        group=raw.values.get("_ng_task_index"),
        id=response.get("id") if isinstance(response, dict) else None,
        recorded={**recorded},
    )


def _spoken(item: Any) -> list[dict[str, Any]]:
    """The chat messages of one output item; reasoning that is not shown gives none."""
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "message":
        return [_message(item)]
    if kind == "function_call":
        call = {"name": item.get("name"), "arguments": item.get("arguments")}
        return [{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]}]
    if kind == "function_call_output":
        return [{"role": "tool", "content": str(item.get("output") or "")}]
    return []


def _message(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict) or "role" not in item:
        raise RowError("a message without a `role`")
    content = item.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return {"role": item["role"], "content": content or ""}


NEMO_GYM = Shape("NeMo Gym rollouts", _matches, _drafts, foreign=True)
