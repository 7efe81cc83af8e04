"""OpenAI's layouts: a chat as one list of messages, several completions of one prompt, a batch's output.

A batch's output file does not hold the prompts; its rows have an empty one and are grouped by `custom_id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, RowError, Shape, Values, kind_of

ASKING = ("system", "developer", "user")


def split_chat(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    """A whole chat as prompt and completion: the completion is all that follows the last question.

    Raises:
        RowError: nothing follows it, or it is no list of messages.
    """
    if not all(isinstance(message, dict) for message in messages):
        raise RowError("`messages` is a list of something else than chat messages with a `role`")
    asked = [place for place, message in enumerate(messages) if message.get("role") in ASKING]
    end = asked[-1] + 1 if asked else 0
    if not messages[end:]:
        raise RowError("`messages` ends with a question: there is no assistant's message to judge")
    return messages[:end], messages[end:]


def _is_chat(values: Values) -> bool:
    return isinstance(values.get("messages"), list) and "completion" not in values


def _chat_drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    messages = raw.values.get("messages")
    if not isinstance(messages, list):
        raise RowError(f"`messages` is {kind_of(messages)}, not a list of chat messages")
    prompt, completion = split_chat(messages)
    rest = {name: value for name, value in raw.values.items() if name != "messages"}
    yield flat_draft(Raw(raw.line, {**rest, "prompt": prompt, "completion": completion}), mapped)


def _has_choices(values: Values) -> bool:
    return isinstance(values.get("completions"), list) and "prompt" in values and "completion" not in values


def _choice_drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    completions = raw.values.get("completions")
    if not isinstance(completions, list):
        raise RowError(f"`completions` is {kind_of(completions)}, not a list")
    rest = {name: value for name, value in raw.values.items() if name != "completions"}
    for index, completion in enumerate(completions):
        draft = flat_draft(Raw(raw.line, {**rest, "completion": completion}), mapped)
        draft.sample = index
        if draft.id is not None:
            draft.id = f"{draft.id}-{index}"
        yield draft


def _is_batch_output(values: Values) -> bool:
    return "custom_id" in values and "response" in values


def _batch_drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    response, fault = raw.values.get("response"), raw.values.get("error")
    body = response.get("body") if isinstance(response, dict) else None
    choices = body.get("choices") if isinstance(body, dict) else None
    if fault or not isinstance(choices, list):
        raise RowError(f"the request has no completion{f': {fault}' if fault else ''}")
    name = raw.values.get("custom_id")
    for index, choice in enumerate(choices):
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise RowError(f"choice {index} has no message")
        content = {"role": "assistant", "content": message.get("content") or ""}
        label = name if len(choices) == 1 else f"{name}-{index}"
        yield Draft(raw.line, "", [content], columns={}, group=name, id=label)


OPENAI_CHAT = Shape("chat", _is_chat, _chat_drafts)
OPENAI_CHOICES = Shape("completions of one prompt", _has_choices, _choice_drafts)
OPENAI_BATCH = Shape("batch output", _is_batch_output, _batch_drafts, foreign=True)
