"""What a local model answers for the workbench."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.errors import RewardWorkbenchError
from trainer.models.answering import answer

TASK = {
    "model": "toy",
    "prompts": ["1 + 1 =", "2 + 2 ="],
    "each": 2,
    "temperature": 1.0,
    "max_tokens": 3,
    "seed": 1,
}


def test_every_prompt_is_answered_as_often_as_asked_and_each_answer_is_said() -> None:
    said: list[dict[str, Any]] = []
    assert answer(TASK, lambda **message: said.append(message)) == 4
    answers = [message["answer"] for message in said if "answer" in message]
    assert [at for at, _ in answers] == [0, 0, 1, 1]
    assert all(isinstance(text, str) for _, text in answers)


def test_a_model_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(RewardWorkbenchError, match="no-such-folder"):
        answer({**TASK, "model": "./no-such-folder"}, lambda **_: None)
