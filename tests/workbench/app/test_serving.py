from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rewards.errors import MissingExtraError, UsageError
from workbench.app import serving
from workbench.app.launch import listen
from workbench.app.serving import example_project, open_browser, serve_target


def serve(target: str | None, said: list[str], **options: object) -> None:
    defaults = {"samples": [], "host": "127.0.0.1", "port": 0, "allow_hosts": [], "root_path": ""}
    serve_target(target, **{**defaults, **options}, say=said.append)  # type: ignore[arg-type]


def test_without_gradio_the_install_line_is_the_answer(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    said: list[str] = []
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[app\]'"):
        serve(str(project), said)
    assert said[0] == f"opening sums ({project})"
    assert said[1] == f"completions from {project / 'samples.jsonl'}"


def test_an_open_host_is_refused_before_anything_is_started(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "Runner", None)
    with pytest.raises(UsageError, match="lets other machines reach"):
        serve(str(project), [], host="0.0.0.0")


def test_without_a_target_the_example_project_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    assert example_project(said.append) == "example-project"
    (tmp_path / "example-project" / "rewards.py").write_text("# mine now\n")
    assert example_project(said.append) == "example-project"
    assert (tmp_path / "example-project" / "rewards.py").read_text() == "# mine now\n"
    assert len(said) == 1


def test_no_browser_is_looked_for_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert not open_browser("http://127.0.0.1:1/")


def test_a_busy_port_is_the_only_thing_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    with listen("127.0.0.1", 0, exactly=True) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} is in use by another program; .* --port"):
            serve(None, said, port=port)
    assert (said, list(tmp_path.iterdir())) == ([], [])


def test_a_password_where_everybody_may_look_is_refused(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARD_WORKBENCH_PASSWORD", "secret")
    with pytest.raises(
        UsageError, match=r"--read-only .* asks for no password, but REWARD_WORKBENCH_PASSWORD"
    ):
        serve(str(project), [], read_only=True)
