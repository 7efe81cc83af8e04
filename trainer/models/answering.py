"""The process that lets a local model answer prompts for the workbench, a few prompts at a time.

    python -P -m trainer.models.answering      a task on standard input, JSON lines on standard output

Task: `model`, `prompts`, `each`, `temperature`, `max_tokens`, `seed`. Messages: `step` (what is being done), `answer`
[prompt's number, text] as they come, then `result` or `error`. It ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from rewards.errors import RewardWorkbenchError

TOGETHER = 32
"""Completions made together; after each such part the answers are said."""

Say = Callable[..., None]


def main() -> int:
    """Read the task, load the model, say what it answers."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not look like a message

    def say(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_stdin, daemon=True).start()
    try:
        say(result=answer(task, say))
    except RewardWorkbenchError as error:
        say(error=str(error))
    return 0


def answer(task: Mapping[str, Any], say: Say) -> int:
    """Say `each` answers to every prompt; the number of answers.

    Raises:
        UsageError: no such model.
    """
    from trainer.environment import find_device, prepare_process, quiet_libraries
    from trainer.models.generation import Sampling, complete
    from trainer.models.loading import load_model, load_tokenizer
    from trainer.models.naming import resolve_model

    prepare_process()
    quiet_libraries()
    prompts, each = task["prompts"], int(task["each"])
    say(step=f"loading {task['model']}")
    folder = resolve_model(task["model"], say=lambda line: say(step=line)).path
    model = load_model(folder, dtype="auto").to(find_device())
    tokenizer = load_tokenizer(folder)
    say(step="answering")
    part, said = max(1, TOGETHER // each), 0
    for start in range(0, len(prompts), part):
        sampling = Sampling(
            temperature=float(task["temperature"]),
            top_p=1.0,
            max_new_tokens=int(task["max_tokens"]),
            seed=int(task["seed"]) * 100_003 + start,
        )
        few = prompts[start : start + part]
        replies = complete(model, tokenizer, few, samples=each, sampling=sampling, rows=TOGETHER)
        for at, group in enumerate(replies, start):
            for one in group:
                said += 1
                say(answer=[at, one.text])
    return said


def _leave_with_stdin() -> None:
    while sys.stdin.readline():
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
