from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.app.launch import Address, choose_secret, clean_environment, is_loopback, listen, session_key
from workbench.app.serving import checked_root_path


def test_variables_that_gradio_obeys_are_cleared_and_telemetry_is_off() -> None:
    environment = {
        "GRADIO_SHARE": "true",
        "GRADIO_VIBE_MODE": "1",
        "GRADIO_ALLOWED_PATHS": "/",
        "PATH": "/bin",
    }
    assert clean_environment(environment) == ["GRADIO_ALLOWED_PATHS", "GRADIO_SHARE", "GRADIO_VIBE_MODE"]
    assert environment["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert "GRADIO_SHARE" not in environment


def test_an_open_host_demands_a_password() -> None:
    with pytest.raises(
        UsageError, match=r"--host 0\.0\.0\.0 lets other machines reach .* REWARD_WORKBENCH_PASSWORD"
    ):
        choose_secret("0.0.0.0", {})
    assert choose_secret("0.0.0.0", {"REWARD_WORKBENCH_PASSWORD": "long one"}) == ("long one", True)


def test_on_loopback_every_start_has_a_token_of_its_own() -> None:
    first, second = choose_secret("127.0.0.1", {}), choose_secret("localhost", {})
    assert first != second
    assert len(first[0]) >= 32


@pytest.mark.parametrize(
    ("host", "expected"), [("127.0.0.2", True), ("::1", True), ("10.0.0.1", False), ("x.y", False)]
)
def test_loopback_addresses_are_told_from_others(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_taken_port_gives_the_next_free_one_unless_it_was_asked_for() -> None:
    with listen("127.0.0.1", 0, exactly=True) as taken:
        port = taken.getsockname()[1]
        with listen("127.0.0.1", port, exactly=False) as other:
            assert port < other.getsockname()[1] < port + 100
        with pytest.raises(UsageError, match=f"port {port} is in use by another program"):
            listen("127.0.0.1", port, exactly=True)


def test_a_host_that_is_not_this_machine_is_one_sentence() -> None:
    with pytest.raises(UsageError, match=r"cannot listen on 192\.0\.2\.1 port 0"):
        listen("192.0.2.1", 0, exactly=True)


def test_the_address_shows_the_token_but_never_a_password() -> None:
    assert Address("127.0.0.1", 7860, "tok", False).url == "http://127.0.0.1:7860/?token=tok"
    assert Address("0.0.0.0", 80, "pass", True, root_path="/p").url == "http://localhost:80/p/"


def test_the_session_outlives_a_restart_and_ends_with_the_password(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "drafts"
    assert session_key("", folder) == session_key("", folder)
    assert session_key("old", folder) != session_key("new", folder)
    assert (tmp_path / "state" / "session-key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("given", "path"), [("", ""), ("/", ""), ("proxy/7860/", "/proxy/7860")])
def test_a_root_path_is_brought_into_one_form(given: str, path: str) -> None:
    assert checked_root_path(given) == path


def test_a_root_path_that_is_no_path_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a plain path"):
        checked_root_path("/a/../b")


def test_building_the_app_loads_nothing_heavy(project: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom workbench.app.bench import Bench\n"
        "from workbench.app.launch import Address, build_app\nfrom workbench.app.project_files import open_project\n"
        "bench = Bench(open_project(sys.argv[1]), lambda: None, Path(sys.argv[2]))\n"
        "build_app(bench, Address('127.0.0.1', 7860, 's', False))\nbench.close()\n"
        "print(sorted({'torch', 'trl', 'transformers', 'datasets', 'peft'} & set(sys.modules)))\n"
    )
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(project), str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[3],
        timeout=120,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_socket_is_listening_before_the_app_is_built() -> None:
    with listen("127.0.0.1", 0, exactly=True) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()
