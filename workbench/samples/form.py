"""Chat or text: the two forms a prompt and a completion can have, and samples read in the other one.

TRL hands a reward what the data has: chat messages (`[{"role": "assistant", "content": "..."}]`) or plain text. A
reward is written for one of the two, and samples may have been kept in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rewards.contract import completion_text
from rewards.errors import UsageError
from workbench.samples.records import Samples

FORMS = ("chat", "text")
"""What `--read-as` and `[set] read_as` take."""

WORDS = {"chat": "chat messages", "text": "plain text"}


def form_named(text: str, option: str = "--read-as") -> str:
    """A form as it was given; "" for none.

    Raises:
        UsageError: it is neither chat nor text.
    """
    if text and text not in FORMS:
        raise UsageError(f"{option} {text}: must be chat or text")
    return text


def form_of(samples: Samples) -> str:
    """The form of samples, "chat" or "text"."""
    return "chat" if samples.chat else "text"


def read_as(samples: Samples, form: str) -> Samples:
    """The samples in a form; as they are where they have it already, or `form` is "".

    As chat a text is the single message of the user or the assistant. As text a prompt is its messages' contents, a
    line each, and a completion what its last assistant message says; where more was said a note tells it.
    """
    if form in ("", form_of(samples)):
        return samples
    notes = list(samples.notes)
    longer = 0 if form == "chat" else sum(len(messages) > 1 for messages in samples.completions)
    if longer:
        notes.append(
            f"{longer} of {len(samples)} completions have several messages: read as text they are their last answer"
        )
    return replace(
        samples,
        prompts=[speech(prompt, form, "user") for prompt in samples.prompts],
        completions=[speech(completion, form, "assistant") for completion in samples.completions],
        notes=notes,
    )


def speech(said: Any, form: str, role: str) -> Any:
    """A prompt (`role` "user") or completion ("assistant") in a form."""
    if form == "chat":
        return [{"role": role, "content": said}] if isinstance(said, str) else said
    if isinstance(said, str) or not isinstance(said, list):
        return said
    if role == "assistant":
        return completion_text(said)
    return "\n".join(str(message.get("content") or "") for message in said if isinstance(message, Mapping))
