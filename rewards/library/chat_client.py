"""Asking an OpenAI-compatible endpoint: one question, until there is an answer that can be used or no hope of one.

Standard library only: requests are made by `urllib` in threads, so that an event loop can wait for many at a time.
Tried again, after a pause that doubles, are lost connections, timeouts, 408, 409, 425, 429 and 5xx (a server's
`Retry-After` is kept to), and answers that cannot be used. Not tried again is what will not get better: other
statuses, and a 429 that says the quota is used up. Redirects are not followed: the key would travel with them.

Limits hold within one process: several training processes each have their own.
"""

from __future__ import annotations

import asyncio
import email.utils
import functools
import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Verdict = TypeVar("Verdict")

LONGEST_ANSWER = 4 << 20
"""Bytes read of one answer; what is longer is no answer."""

LONGEST_PAUSE_S = 30.0

_AGAIN = frozenset({0, 408, 409, 425, 429, *range(500, 600)})


@dataclass(frozen=True)
class Reply:
    """One exchange: `status` (0: no answer came), the text of the body, and the seconds a server wants to be left."""

    status: int
    text: str
    retry_after: float | None = None


@dataclass(frozen=True)
class Outcome(Generic[Verdict]):
    """What was asked for, or why there is none, and the number of requests it took."""

    value: Verdict | None
    why: str
    requests: int


class Unusable(ValueError):
    """An answer that cannot be used; the question is asked again."""


class Pace:
    """At most so many requests a minute, evenly spread; None: no limit."""

    def __init__(self, per_minute: float | None) -> None:
        self.gap = 60.0 / per_minute if per_minute else 0.0
        self._free = 0.0
        self._lock = threading.Lock()

    def wait_s(self) -> float:
        """Seconds to wait before the request that this call reserves."""
        with self._lock:
            now = time.monotonic()
            at = max(now, self._free)
            self._free = at + self.gap
            return at - now


@functools.cache
def pace_of(url: str, per_minute: float | None) -> Pace:
    """The pace kept towards one endpoint by everybody in this process."""
    return Pace(per_minute)


@dataclass(frozen=True)
class ChatClient:
    """An endpoint and how it is to be treated.

    `url` is the whole address of chat/completions; `key` goes into the Authorization header ("": none);
    `retries`: tries after the first; `timeout_s`: of one try; `pause_s`: before the second try, doubling from there.
    """

    url: str
    key: str = ""
    retries: int = 4
    timeout_s: float = 30.0
    pause_s: float = 0.5
    per_minute: float | None = None

    async def ask(
        self,
        payload: Mapping[str, Any],
        read: Callable[[str], Verdict],
        pool: ThreadPoolExecutor,
        deadline: float,
        *,
        answer: Callable[[str], str] | None = None,
    ) -> Outcome[Verdict]:
        """Ask until `read` takes the answer's text.

        Args:
            payload: the request.
            read: makes a value of the text; raises `Unusable` where it cannot.
            pool: its threads make the requests.
            deadline: `time.monotonic()` after which nothing is started any more.
            answer: takes the text out of an answer's body; default: `answer_text`, which refuses one that was cut off.
        """
        body = json.dumps(payload).encode()
        why = "there was no time to ask"
        for tried in range(self.retries + 1):
            wait = pace_of(self.url, self.per_minute).wait_s()
            if time.monotonic() + wait >= deadline:
                return Outcome(None, why, tried)
            await asyncio.sleep(wait)
            call = functools.partial(self.post, body, min(self.timeout_s, deadline - time.monotonic()))
            reply = await asyncio.get_running_loop().run_in_executor(pool, call)
            if reply.status == 200:
                try:
                    return Outcome(read((answer or answer_text)(reply.text)), "", tried + 1)
                except Unusable as error:
                    why = str(error)
                    continue  # another sample of the same model: there is nothing to wait for
            why = _failure(reply)
            if reply.status not in _AGAIN or "insufficient_quota" in reply.text:
                return Outcome(None, why, tried + 1)
            if tried < self.retries:
                await asyncio.sleep(min(self._pause(tried, reply), max(0.0, deadline - time.monotonic())))
        return Outcome(None, f"{why} ({self.retries + 1} tries)", self.retries + 1)

    def post(self, body: bytes, timeout_s: float) -> Reply:
        """One exchange, over after `timeout_s` however slowly the answer drips in; never raises for the network."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, body, headers, method="POST")
        until = time.monotonic() + timeout_s
        try:
            opener = _opener(urllib.parse.urlsplit(self.url).hostname or "")
            with opener.open(request, timeout=max(timeout_s, 0.001)) as response:
                return Reply(response.status, _body(response, until))
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, _error_body(error, until), _retry_after(error.headers))
        except urllib.error.URLError as error:
            return Reply(0, str(error.reason) or type(error.reason).__name__)
        except (OSError, http.client.HTTPException) as error:
            return Reply(0, str(error) or type(error).__name__)

    def _pause(self, tried: int, reply: Reply) -> float:
        usual = min(LONGEST_PAUSE_S, self.pause_s * 2.0**tried)
        jittered = usual * (
            0.5 + _DICE.random() / 2
        )  # so that those who failed together do not come back together
        return jittered if reply.retry_after is None else max(jittered, reply.retry_after)


_DICE = random.Random()  # of our own: the program's random numbers are the user's


def chat_url(base_url: str) -> str:
    """The address of chat/completions under a base URL such as `http://localhost:8000/v1`.

    Raises:
        ValueError: it is no http or https address.

    >>> chat_url("http://localhost:8000/v1/")
    'http://localhost:8000/v1/chat/completions'
    """
    parts = urllib.parse.urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError(f"base_url={base_url!r} must be an address such as http://localhost:8000/v1")
    bare = base_url.rstrip("/")
    return bare if bare.endswith("/chat/completions") else f"{bare}/chat/completions"


def answer_text(text: str) -> str:
    """What the model said, out of the body of a chat/completions answer.

    Raises:
        Unusable: it is none, or the answer was cut off.

    >>> answer_text('{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}')
    'Hello'
    """
    try:
        choice = json.loads(text)["choices"][0]
        content, finish = choice["message"]["content"], choice.get("finish_reason")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable("the server's answer is no chat completion") from error
    if finish == "length":
        raise Unusable("the answer was cut off at the limit of tokens")
    if not isinstance(content, str) or not content.strip():
        raise Unusable("the answer is empty")
    return content


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@functools.cache
def _opener(host: str) -> urllib.request.OpenerDirector:
    """No redirects; through the environment's proxy, if there is one, but for this very machine."""
    if host == "localhost" or host == "::1" or host.startswith("127."):
        return urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_NoRedirect)


def _body(response: Any, until: float) -> str:
    parts, size = [], 0
    while piece := response.read1(65536):
        parts.append(piece)
        size += len(piece)
        if size > LONGEST_ANSWER:
            raise OSError(f"the answer is longer than {LONGEST_ANSWER} bytes")
        if time.monotonic() > until:
            raise TimeoutError("timed out while the answer came in")
    return b"".join(parts).decode("utf-8", "replace")


def _error_body(error: urllib.error.HTTPError, until: float) -> str:
    try:
        return _body(error, until)
    except (OSError, http.client.HTTPException):
        return ""


def _retry_after(headers: Any) -> float | None:
    value = str(headers.get("Retry-After") or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        moment = email.utils.parsedate_to_datetime(value) if _is_date(value) else None
        seconds = moment.timestamp() - time.time() if moment is not None else -1.0
    return min(seconds, 600.0) if 0 <= seconds < float("inf") else None


def _is_date(value: str) -> bool:
    return email.utils.parsedate_tz(value) is not None


def _failure(reply: Reply) -> str:
    if reply.status == 0:
        return f"no answer: {reply.text}"
    said: Any = reply.text
    try:
        said = json.loads(reply.text)["error"]
        said = said["message"] if isinstance(said, dict) else said
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    told = " ".join(str(said).split())[:200]
    return f"HTTP {reply.status}: {told}" if told else f"HTTP {reply.status}"
