"""Samples read as chat or as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rewards.errors import UsageError
from tests.workbench.tables import samples
from workbench.samples.form import form_named, form_of, read_as

CHAT = [{"role": "user", "content": "1+1?"}]


def test_a_text_becomes_the_single_message_and_comes_back() -> None:
    plain = samples(["a", "b"])
    chat = read_as(plain, "chat")
    assert chat.completions[0] == [{"role": "assistant", "content": "a"}]
    assert (form_of(chat), read_as(chat, "text").completions) == ("chat", plain.completions)
    assert read_as(chat, "text").prompts == plain.prompts


def test_samples_of_the_wanted_form_stay_as_they_are() -> None:
    plain = samples(["a"])
    assert read_as(plain, "text") is plain
    assert read_as(plain, "") is plain


def test_what_a_longer_chat_loses_is_told() -> None:
    several = [[*CHAT, {"role": "assistant", "content": "2"}]]
    chat = replace(samples(["x"]), prompts=[CHAT], completions=several)
    found = read_as(chat, "text")
    assert (found.prompts, found.completions) == (["1+1?"], ["2"])
    assert found.notes == [
        "1 of 1 completions have several messages: read as text they are their last answer"
    ]


def test_another_form_is_refused() -> None:
    with pytest.raises(UsageError, match="--read-as chats: must be chat or text"):
        form_named("chats")
