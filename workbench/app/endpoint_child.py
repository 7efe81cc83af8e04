"""The process that asks an OpenAI-compatible endpoint for completions, several at a time.

    python -m workbench.app.endpoint_child      a task on standard input, JSON lines on standard output

Task: `url`, `model`, `key_env`, `prompts`, `each`, `temperature`, `max_tokens`. Messages: `answer` [prompt's number,
text] as they come, `lost` [how many did not come, why the last one did not], then `result` or `error`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rewards.library.chat_client import ChatClient, Unusable, chat_url

AT_ONCE = 4
PATIENCE_S = 24 * 3600.0
TRY_S = 300.0
"""Seconds one answer may take: models on a small machine are slow."""
HOPELESS = 4
"""Answers that may fail before anything came; more mean that nothing will come."""


def main() -> int:
    """Read the task, ask, say what comes; ends when the other side is gone."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_stdin, daemon=True).start()
    why, came = asyncio.run(_ask_all(task))
    if came:
        say(result=came)
    else:
        say(error=f"no completion came: {why or 'there was nothing to ask'}")
    return 0


def say(**message: Any) -> None:
    """One message, in one piece."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _leave_with_stdin() -> None:
    while sys.stdin.readline():
        pass
    os._exit(1)


async def _ask_all(task: Mapping[str, Any]) -> tuple[str, int]:
    key = os.environ.get(task["key_env"], "").strip() if task["key_env"] else ""
    client = ChatClient(chat_url(task["url"]), key=key, timeout_s=TRY_S, retries=3)
    found = {"lost": 0, "came": 0}
    why = ""
    places = asyncio.Semaphore(AT_ONCE)
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="endpoint") as pool:

        async def one(at: int) -> None:
            nonlocal why
            async with places:
                if found["lost"] >= HOPELESS and not found["came"]:
                    return
                outcome = await client.ask(
                    payload_of(task, at), str, pool, time.monotonic() + PATIENCE_S, answer=said_text
                )
            if outcome.value is not None:
                found["came"] += 1
                say(answer=[at, outcome.value])
            else:
                found["lost"], why = found["lost"] + 1, outcome.why
                say(lost=[found["lost"], why])

        await asyncio.gather(*(one(at) for at in range(len(task["prompts"])) for _ in range(task["each"])))
    return why, found["came"]


def payload_of(task: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The request for one completion of a prompt; a text is the user's message."""
    prompt = task["prompts"][at]
    return {
        "model": task["model"],
        "messages": [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt,
        "temperature": task["temperature"],
        "max_tokens": task["max_tokens"],
    }


def said_text(text: str) -> str:
    """What the model said, out of the body of an answer; cut off or empty it is a completion all the same.

    Raises:
        Unusable: it is no chat completion.

    >>> said_text('{"choices": [{"message": {"content": "<think>"}, "finish_reason": "length"}]}')
    '<think>'
    """
    try:
        content = json.loads(text)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise Unusable("the server's answer is no chat completion") from error
    if not isinstance(content, str):
        raise Unusable("the server's answer has no text")
    return content


if __name__ == "__main__":
    sys.exit(main())
