"""Who may talk to an app that runs code: an ASGI wrapper around everything the server answers.

A web server on a loopback address can be reached by any page the user's browser has open. So every request is
examined before anything else sees it:

1. `Host` must name this machine (any port, so that tunnels and notebook proxies work) or a host given with
   `--allow-host`; another name is how DNS rebinding looks, and is answered 421.
2. What a browser says about the origin (`Origin`, `Sec-Fetch-Site`) must be this very page, else 403.
3. A secret must be shown: `?token=...` once, from then on an HttpOnly, SameSite=Strict cookie. Where the app
   listens on other than loopback addresses the secret is the user's password, asked for by a form.

Answers carry a content security policy (own origin only, a fresh nonce for each page's scripts), may not be
framed, and never any CORS permission. A public app, which changes and runs nothing for its visitors, asks for no
secret and may be framed by the Hub. Not covered: encryption, which is for the proxy in front.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
HUB = "https://huggingface.co https://*.hf.space"
"""Who may frame a public app: a Space is shown inside the Hub's page."""
NOBODY = "'none'"
OWN_ROUTES = "/rw/"
LOGIN_PATH = "/rw/login"
MAX_LOGIN_BYTES = 4096

LOGIN_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Reward Workbench</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:15px/1.5 system-ui,sans-serif;margin:16vh auto 0;max-width:26rem;padding:0 1rem;color:#1e293b;
background:#f8fafc}h1{font-size:1.2rem}input,button{font:inherit;padding:.45rem .6rem;border:1px solid #94a3b8;
border-radius:6px}button{background:#334e9c;color:#fff;border-color:#334e9c}p.no{color:#a13d00}
@media(prefers-color-scheme:dark){body{background:#0f172a;color:#e2e8f0}input{background:#1e293b;color:inherit}
p.no{color:#fdba74}}</style>
<h1>Reward Workbench</h1><p>This app runs code on the machine it was started on. Open the address that
<code>reward-workbench serve</code> printed (it carries a token), or enter the token or password here.</p>
<!--refused--><form method="post" action="rw/login"><label>Token or password<br>
<input type="password" name="secret" autofocus autocomplete="current-password"></label>
<button>Open</button></form></html>"""
REFUSED = '<p class="no" role="alert">That is not the token or password of this server.</p>'


class Guard:
    """Wraps an ASGI app so that only the person who started the server, from its own page, reaches it."""

    def __init__(
        self,
        app: App,
        *,
        secret: str,
        session: str,
        cookie: str = "reward-workbench",
        allow_hosts: Iterable[str] = (),
        root_path: str = "",
        login_delay: float = 1.0,
        public: bool = False,
    ) -> None:
        self.app = app
        self.secret = secret
        self.cookie = cookie
        self.hosts = LOOPBACK | {host.lower() for host in allow_hosts}
        self.extra_hosts = frozenset(host.lower() for host in allow_hosts)
        self.root_path = root_path.rstrip("/")
        self.login_delay = login_delay
        self.public = public
        self.session = session  # what the cookie holds, so that a password never lies in the browser

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to the app."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # nothing here speaks WebSocket
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        refusal = self.refusal(scope["method"], headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        if self.public:
            await self._show(scope, receive, send)
            return
        if scope["path"].endswith(LOGIN_PATH) and scope["method"] == "POST":
            await self._login(receive, send)
            return
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        offered = dict(query).get("token")
        if offered is not None and self._matches(offered, self.secret):
            rest = [(name, value) for name, value in query if name != "token"]
            where = self.root_path + scope["path"] + (f"?{urlencode(rest)}" if rest else "")
            await self._admit(send, where)
            return
        if not self._has_cookie(headers):
            page = LOGIN_PAGE if scope["method"] == "GET" and "text/html" in headers.get("accept", "") else ""
            kind = "text/html; charset=utf-8" if page else "text/plain; charset=utf-8"
            await _answer(send, 403, page or "the token of this server is needed", kind)
            return
        await self._pass(scope, receive, send)

    async def _show(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a visitor who may only look: nobody is admitted to more, and only our own routes are posted to."""
        path = scope["path"].removeprefix(self.root_path)
        if scope["method"] not in SAFE_METHODS and not path.startswith(OWN_ROUTES):
            await _answer(send, 403, "this server only shows")
            return
        await self._pass(scope, receive, send)

    def refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and sentence if the request cannot come from this app's own page; None if it may."""
        host = headers.get("host", "").lower()
        if _name(host) not in self.hosts and not (self.public and _is_address(_name(host))):
            return 421, f"host {host!r} is not served here; start with --allow-host to permit it"
        origin = headers.get("origin")
        if origin is not None and not self._own_origin(origin, host):
            return 403, f"a request from {origin!r} is not accepted"
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin"):
            navigating = method in SAFE_METHODS and headers.get("sec-fetch-mode") == "navigate"
            if not navigating:
                return 403, "a request from another site is not accepted"
        if method not in SAFE_METHODS and method != "POST":
            return 405, f"{method} is not used here"
        return None

    def _own_origin(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin.lower())
        except ValueError:
            return False
        if parts.scheme not in ("http", "https"):
            return False
        # A proxy in front may rewrite Host, but then the name was given with --allow-host.
        return parts.netloc == host or _name(parts.netloc) in self.extra_hosts

    def _matches(self, offered: str, secret: str) -> bool:
        return hmac.compare_digest(offered.encode("utf-8", "replace"), secret.encode("utf-8"))

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return morsel is not None and self._matches(morsel.value, self.session)

    async def _admit(self, send: Send, where: str) -> None:
        path = self.root_path or "/"
        cookie = f"{self.cookie}={self.session}; Path={path}; HttpOnly; SameSite=Strict"
        extra = [(b"set-cookie", cookie.encode()), (b"location", where.encode("ascii", "replace"))]
        await _answer(send, 303, "", extra=extra)

    async def _login(self, receive: Receive, send: Send) -> None:
        body = b""
        while len(body) <= MAX_LOGIN_BYTES:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        offered = dict(parse_qsl(body[:MAX_LOGIN_BYTES].decode("utf-8", "replace"))).get("secret", "")
        if self._matches(offered, self.secret):
            await self._admit(send, self.root_path + "/")
            return
        await asyncio.sleep(self.login_delay)  # a password must not be guessed at full speed
        page = LOGIN_PAGE.replace("<!--refused-->", REFUSED).replace('action="rw/login"', 'action="login"')
        await _answer(send, 403, page, "text/html; charset=utf-8")

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        nonce = secrets.token_urlsafe(16)
        page = _Page(send, nonce, framed=self.public)
        # The page is rewritten on its way out, so it must come uncompressed.
        if scope["path"] in ("/", ""):
            kept = [(k, v) for k, v in scope["headers"] if k.lower() != b"accept-encoding"]
            scope = {**scope, "headers": kept}
        await self.app(scope, receive, page.send)


class _Page:
    """Adds the protective headers to an answer, and its nonce to every script tag of a page."""

    def __init__(self, send: Send, nonce: str, *, framed: bool = False) -> None:
        self._send = send
        self._framed = framed
        self._nonce = nonce
        self._start: Message | None = None
        self._body: list[bytes] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = _protected(message.get("headers", []), self._nonce, framed=self._framed)
            kind = next((v for k, v in headers if k == b"content-type"), b"")
            encoded = any(k == b"content-encoding" for k, _ in headers)
            message = {**message, "headers": headers}
            if kind.startswith(b"text/html") and not encoded:
                self._start = message
                return
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body.append(message.get("body", b""))
            if not message.get("more_body"):
                await self._flush(self._start)
            return
        await self._send(message)

    async def _flush(self, start: Message) -> None:
        body = b"".join(self._body).replace(b"<script", b'<script nonce="%s"' % self._nonce.encode())
        headers = [(k, v) for k, v in start["headers"] if k != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def policy(nonce: str, *, framed: bool = False) -> str:
    """The content security policy of a page whose own scripts carry `nonce`; `framed`: the Hub may show it in its page.

    `unsafe-eval` is there because Gradio compiles its templates in the browser.
    """
    return (
        f"default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        f"object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {HUB if framed else NOBODY}"
    )


def _protected(
    headers: Iterable[tuple[bytes, bytes]], nonce: str, *, framed: bool = False
) -> list[tuple[bytes, bytes]]:
    kept = [(k.lower(), v) for k, v in headers]
    kept = [(k, v) for k, v in kept if not k.startswith(b"access-control-")]
    return [
        *kept,
        (b"content-security-policy", policy(nonce, framed=framed).encode()),
        *([] if framed else [(b"x-frame-options", b"DENY")]),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


def _headers(scope: Scope) -> dict[str, str]:
    """Header names in lower case to values; a header sent twice keeps both, so that neither is trusted alone."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        found[name] = f"{found[name]}{'; ' if name == 'cookie' else ', '}{text}" if name in found else text
    return found


def _is_address(name: str) -> bool:
    """Whether a host is a number, which no name server can point elsewhere; a Space is asked by it whether it lives."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name(netloc: str) -> str:
    """`localhost:7860` -> `localhost`, `[::1]:7860` -> `[::1]`."""
    if netloc.startswith("["):
        return netloc.partition("]")[0] + "]"
    return netloc.partition(":")[0]


async def _answer(
    send: Send,
    status: int,
    text: str,
    kind: str = "text/plain; charset=utf-8",
    extra: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    body = text.encode("utf-8", "replace")
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), *extra]
    headers = [*_protected(headers, "none"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
