"""Starting the server: a clean environment, pinned settings, one socket of our own.

Gradio reads a dozen environment variables that can open tunnels, switch on routes that write code, or send
telemetry. They are cleared before gradio is imported, and every setting that guards the app is given outright.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import hmac
import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import MissingExtraError, UsageError
from workbench.app.drafts import state_folder
from workbench.app.guard import Guard

if TYPE_CHECKING:
    from workbench.app.bench import Bench

PASSWORD = "REWARD_WORKBENCH_PASSWORD"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
PORTS_TRIED = 100
KEPT = ("GRADIO_ANALYTICS_ENABLED",)


@dataclass(frozen=True)
class Address:
    """Where and for whom the app listens; `secret` is the token of the address, or the user's password.

    `public`: everybody may look and nobody may change or run anything, so that no secret is asked for.
    """

    host: str
    port: int
    secret: str
    is_password: bool
    allow_hosts: tuple[str, ...] = ()
    root_path: str = ""
    public: bool = False

    @property
    def url(self) -> str:
        """The address to open in a browser."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        name = "localhost" if name in ("0.0.0.0", "[::]") else name
        query = "" if self.is_password or self.public else f"?token={self.secret}"
        return f"http://{name}:{self.port}{self.root_path}/{query}"


def clean_environment(environment: MutableMapping[str, str]) -> list[str]:
    """Remove every variable that Gradio would obey and switch its telemetry off; the names removed."""
    removed = [name for name in environment if name.startswith("GRADIO_") and name not in KEPT]
    for name in removed:
        del environment[name]
    environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    environment["HF_HUB_DISABLE_TELEMETRY"] = "1"
    return sorted(removed)


def choose_secret(host: str, environment: MutableMapping[str, str]) -> tuple[str, bool]:
    """The secret that admits a visitor, and whether it is a password.

    Raises:
        UsageError: other machines could reach `host`, and no password is set.
    """
    password = environment.get(PASSWORD, "")
    if password:
        return password, True
    if not is_loopback(host):
        raise UsageError(
            f"--host {host} lets other machines reach an app that runs code: set a password in {PASSWORD}, "
            "or leave --host at 127.0.0.1 and use an SSH tunnel"
        )
    return secrets.token_urlsafe(24), False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, *, exactly: bool) -> socket.socket:
    """A listening socket on `port`, or, unless `exactly`, on the next free port above it.

    Raises:
        UsageError: the port is taken, or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + (1 if exactly or port == 0 else PORTS_TRIED)):
        try:
            return socket.create_server((host, candidate), family=family, backlog=128)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise UsageError(f"cannot listen on {host} port {candidate}: {error.strerror}") from error
    if exactly:
        raise UsageError(
            f"port {port} is in use by another program; choose another with --port, or 0 for any free one"
        )
    raise UsageError(f"ports {port} to {port + PORTS_TRIED - 1} are all in use; name a free one with --port")


def session_key(secret: str, folder: Path) -> str:
    """What the cookie of an admitted browser holds.

    It is made of `secret` where that is a password and of a key in the user's state folder, so that a tab left
    open goes on after the server was started anew.
    """
    place = folder.parent / "session-key"
    try:
        key = place.read_bytes()
    except OSError:
        key = b""
    if len(key) != 32:
        key = secrets.token_bytes(32)
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(key)
        except OSError:
            pass  # an unwritable state folder: tabs have to be opened anew after a restart
    return hmac.new(key, secret.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def build_app(bench: Bench, address: Address) -> Any:
    """The whole ASGI app behind its guard; also what tests call without a socket.

    Raises:
        MissingExtraError: gradio is not installed.
    """
    clean_environment(os.environ)
    try:
        import gradio as gr
    except ImportError:
        raise MissingExtraError("gradio", "app", "serve") from None
    from starlette.applications import Starlette

    from workbench.app.page import HEAD, build_page
    from workbench.app.routes import routes
    from workbench.app.theme import theme

    app: Any = Starlette(routes=routes(bench))
    app = gr.mount_gradio_app(
        app,
        build_page(read_only=bench.read_only),
        path="/",
        server_name=address.host,
        server_port=address.port,
        root_path=address.root_path or None,
        theme=theme(),
        head=HEAD,
        footer_links=[],
        run_history=False,
        show_error=False,
        allowed_paths=[],
        max_file_size="200mb",
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
        app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
    )
    # Without a password the cookie has to outlive the token, which is new at every start.
    session = session_key(address.secret if address.is_password else "", state_folder())
    return Guard(
        app,
        secret=address.secret,
        session=session,
        cookie=f"reward-workbench-{address.port}",
        allow_hosts=address.allow_hosts,
        root_path=address.root_path,
        public=address.public,
    )


def run_server(app: Any, sockets: Sequence[socket.socket], *, leaving: Callable[[], None]) -> None:
    """Serve until Ctrl+C; `leaving` is called before the open connections are closed, to let those that wait go."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await asyncio.to_thread(leaving)
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
        server_header=False,
    )
    Server(config).run(sockets=list(sockets))
