from __future__ import annotations

import asyncio
from typing import Any

import pytest

from workbench.app.guard import Guard, policy

PAGE = b"<html><script>1</script><script src='x'></script></html>"


async def page(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"content-type", b"text/html"), (b"access-control-allow-origin", b"http://evil.example")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE})


class Answer:
    def __init__(self, messages: list[Any]) -> None:
        self.status = messages[0]["status"]
        self.headers = {k.decode(): v.decode() for k, v in messages[0]["headers"]}
        self.body = b"".join(message["body"] for message in messages[1:]).decode()


def ask(
    guard: Guard, method: str = "GET", path: str = "/", query: str = "", body: bytes = b"", **headers: str
) -> Answer:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "127.0.0.1:7860"} | {name.replace("_", "-"): value for name, value in headers.items()}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    asyncio.run(guard(scope, receive, send))
    return Answer(sent)


@pytest.fixture
def guard() -> Guard:
    return Guard(page, secret="s3cret", session="kept", cookie="rw", login_delay=0)


COOKIE = "other=1; rw=kept"


def test_the_right_cookie_from_the_own_page_passes(guard: Guard) -> None:
    answer = ask(guard, "POST", cookie=COOKIE, origin="http://127.0.0.1:7860", sec_fetch_site="same-origin")
    assert answer.status == 200


@pytest.mark.parametrize("host", ["localhost:9000", "127.0.0.1", "[::1]:7860", "LOCALHOST:1"])
def test_loopback_names_are_served_at_any_port(guard: Guard, host: str) -> None:
    assert ask(guard, cookie=COOKIE, host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7860", "127.0.0.1.evil.example", "", "localhost@evil"]
)
def test_another_host_name_is_refused_with_or_without_cookie(guard: Guard, host: str) -> None:
    answer = ask(guard, cookie=COOKIE, host=host)
    assert answer.status == 421
    assert "--allow-host" in answer.body


def test_a_host_given_with_allow_host_is_served() -> None:
    guard = Guard(page, secret="s", session="kept", cookie="rw", allow_hosts=["bench.example"])
    assert ask(guard, cookie=COOKIE, host="bench.example").status == 200
    assert ask(guard, "POST", cookie=COOKIE, host="127.0.0.1", origin="https://bench.example").status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:3000", "null", "file://", "http://[bad"]
)
def test_another_origin_is_refused_even_on_this_machine(guard: Guard, origin: str) -> None:
    for method in ("GET", "POST"):
        assert ask(guard, method, cookie=COOKIE, origin=origin).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_of_another_site_is_refused_without_an_origin_too(guard: Guard, site: str) -> None:
    assert ask(guard, "POST", cookie=COOKIE, sec_fetch_site=site).status == 403
    assert ask(guard, "GET", cookie=COOKIE, sec_fetch_site=site, sec_fetch_mode="no-cors").status == 403


def test_following_a_link_from_another_site_shows_the_page(guard: Guard) -> None:
    answer = ask(guard, "GET", cookie=COOKIE, sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert answer.status == 200


def test_without_a_cookie_nothing_is_answered(guard: Guard) -> None:
    for path in (
        "/",
        "/rw/state",
        "/gradio_api/queue/join",
        "/gradio_api/component_server",
        "/gradio_api/upload",
    ):
        assert ask(guard, "POST", path=path).status == 403
        assert ask(guard, "GET", path=path).status == 403


@pytest.mark.parametrize("cookie", ["rw=", "rw=kepT", "rw=kept2", "xrw=kept", "rw", "rw=s3cret"])
def test_a_wrong_cookie_is_none(guard: Guard, cookie: str) -> None:
    assert ask(guard, cookie=cookie).status == 403


def test_the_token_is_traded_for_a_strict_cookie_and_leaves_the_address(guard: Guard) -> None:
    answer = ask(guard, query="token=s3cret&__theme=dark")
    assert (answer.status, answer.headers["location"]) == (303, "/?__theme=dark")
    assert answer.headers["set-cookie"] == "rw=kept; Path=/; HttpOnly; SameSite=Strict"


def test_a_wrong_token_shows_the_form(guard: Guard) -> None:
    answer = ask(guard, query="token=guess", accept="text/html")
    assert answer.status == 403
    assert "<form" in answer.body


def test_the_form_takes_the_secret(guard: Guard) -> None:
    wrong = ask(guard, "POST", path="/rw/login", body=b"secret=guess")
    right = ask(guard, "POST", path="/rw/login", body=b"secret=s3cret")
    assert (wrong.status, right.status) == (403, 303)
    assert "not the token" in wrong.body


def test_behind_a_path_the_cookie_and_the_way_back_keep_to_it() -> None:
    guard = Guard(page, secret="s", session="kept", cookie="rw", root_path="/proxy/7860")
    answer = ask(guard, query="token=s")
    assert answer.headers["location"] == "/proxy/7860/"
    assert "Path=/proxy/7860;" in answer.headers["set-cookie"]


def test_answers_carry_the_policy_and_no_cors(guard: Guard) -> None:
    answer = ask(guard, cookie=COOKIE)
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "unsafe-inline" not in policy("n").split("style-src")[0]
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_script_of_a_page_carries_the_nonce_of_its_policy(guard: Guard) -> None:
    first, second = ask(guard, cookie=COOKIE), ask(guard, cookie=COOKIE)
    nonce = first.headers["content-security-policy"].split("'nonce-")[1].split("'")[0]
    assert first.body.count(f'<script nonce="{nonce}"') == 2
    assert int(first.headers["content-length"]) == len(first.body)
    assert nonce not in second.body


def test_other_methods_and_web_sockets_are_refused(guard: Guard) -> None:
    assert ask(guard, "DELETE", cookie=COOKIE).status == 405
    sent: list[Any] = []

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guard({"type": "websocket", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
