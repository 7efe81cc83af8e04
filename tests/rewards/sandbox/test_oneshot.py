"""Sandboxes elsewhere, against a stub of a container engine and a stub of a service that speak as the real ones do."""

# ruff: noqa: E501  # programs, each in one piece

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import SandboxError
from rewards.library import code as code_rewards
from rewards.sandbox import Job, Level, Limits, TestsError, grade, read_tests
from rewards.sandbox.oneshot import IMAGE, VARIABLE, Container, OneShot, Service, backend_of

ENGINE = """#!{python}
import os, signal, subprocess, sys
folder = os.path.dirname(os.path.abspath(__file__))
if sys.argv[1] == "kill":
    with open(os.path.join(folder, sys.argv[2])) as file:
        os.kill(int(file.read()), signal.SIGKILL)
    sys.exit(0)
name = sys.argv[sys.argv.index("--name") + 1]
image = sys.argv.index("python3") - 1
with open(os.path.join(folder, "said"), "a") as file:
    file.write(" ".join(sys.argv[1 : image + 1]) + "\\n")
if sys.argv[image] == "no/such:image":
    sys.stderr.write("Unable to find image 'no/such:image' locally\\ndocker: Error response from daemon: No such image.\\n")
    sys.exit(125)
child = subprocess.Popen([sys.executable, *sys.argv[image + 2 :]], env={{"PATH": "/usr/bin:/bin"}})
with open(os.path.join(folder, name), "w") as file:
    file.write(str(child.pid))
code = child.wait()
sys.exit(128 - code if code < 0 else code)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Runs what it is sent as SandboxFusion does, without its isolation."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012
    failing = ""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body)
        if self.failing == "status":
            self.send_error(503)
            return
        answer = "not JSON" if self.failing == "garbage" else json.dumps(self.answer(body))
        data = answer.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.failing:
            return {
                "status": "SandboxError",
                "message": "no worker is free",
                "compile_result": None,
                "run_result": None,
            }
        try:
            done = subprocess.run(
                [sys.executable, "-S", "-c", body["code"]], input=body["stdin"], capture_output=True, text=True,
                timeout=body["run_timeout"], check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            result = {
                "status": "TimeLimitExceeded",
                "execution_time": body["run_timeout"],
                "return_code": None,
                "stdout": "",
                "stderr": "",
            }
            return {"status": "Failed", "message": "", "compile_result": None, "run_result": result}
        result = {
            "status": "Finished",
            "execution_time": 0.1,
            "return_code": done.returncode,
            "stdout": done.stdout,
            "stderr": done.stderr,
        }
        return {
            "status": "Success" if done.returncode == 0 else "Failed",
            "message": "",
            "compile_result": None,
            "run_result": result,
        }

    def log_message(self, *arguments: Any) -> None:
        return None


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called docker that runs the command it is given, here."""
    program = tmp_path / "docker"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


@pytest.fixture
def address() -> Iterator[str]:
    """Where the stub of a service listens."""
    Handler.seen, Handler.failing = [], ""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(params=["container", "service"])
def box(request: pytest.FixtureRequest) -> OneShot:
    """Each of them."""
    if request.param == "container":
        request.getfixturevalue("engine")
        return Container("docker", IMAGE)
    return Service(str(request.getfixturevalue("address")))


ENDINGS = {
    "prints": ("print(input() + '!')", "ok", "hello!\n"),
    "fails": ("print(1)\nraise SystemExit(3)", "failed", "1\n"),
    "raises": ("1 / 0", "failed", ""),
    "dies": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "died", ""),
    "exits as an engine that fails": ("raise SystemExit(125)", "failed", ""),
}


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_program_ends_as_it_does(box: OneShot, kind: str) -> None:
    code, status, output = ENDINGS[kind]
    result = box.run(Job(code, "hello\n"))
    assert (result.status, result.output, result.level) == (status, output, box.level())


def test_a_program_that_hangs_is_ended(box: OneShot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewards.sandbox.oneshot._START_S", 0.5)
    assert box.run(Job("while True: pass", limits=Limits(seconds=0.5))).status in ("timeout", "died")


GRADED = {
    "function": ("def f(x):\n    print('noise')\n    return (x, {x})", {"tests": [[[1], (1, {1})], [[2], (2, {2})]], "entry_point": "f"}, [True, True]),
    "an exception": ("def f(x): return 1 // x", {"tests": [[[0], 0], [[1], 1]], "entry_point": "f"}, [False, True]),
    "an exit": ("import os\ndef f(x): return x or os._exit(0)", {"tests": [[[1], 1], [[0], 0], [[2], 2]], "entry_point": "f"}, [True, False, True]),
    "does not load": ("def f(:", {"tests": [[[1], 1], [[2], 2]], "entry_point": "f"}, [False, False]),
    "prints": ("print(int(input()) * 2)", {"tests": [{"input": "1", "output": "2"}, {"input": "2", "output": "5"}]}, [True, False]),
    "check": ("def f(x): return x", {"test": "def check(c):\n    assert c(1) == 1\n    assert c(2) == 1", "entry_point": "f"}, [True, False]),
    "a class": (
        "class Counter:\n    def __init__(self): self.n = 0\n    def up(self):\n        self.n += 1\n        return self.n",
        {"test": "from solution import Counter\ndef test_up():\n    c = Counter()\n    assert c.up() == 1\n    assert c.up() == 2\n    assert c.n == 2"},
        [True],
    ),
    "always equal": ("class E:\n    def __eq__(s, o): return True\ndef f(x): return E()", {"test": "def check(c):\n    assert c(1) == 1", "entry_point": "f"}, [False]),
    "answers written by itself": ("import os\ndef f(x):\n    for fd in range(3, 20):\n        try: os.write(fd, b'{\"r\": 1}\\n')\n        except OSError: pass\n    return 0", {"tests": [[[1], 1]], "entry_point": "f"}, [False]),
    "a callback": ("def f(g): return g(3)", {"test": "def check(c):\n    assert c(lambda x: x) == 3", "entry_point": "f"}, [False]),
}  # fmt: skip


@pytest.mark.parametrize("kind", GRADED)
def test_the_verdict_is_that_of_the_local_sandbox(box: OneShot, kind: str) -> None:
    code, columns, wanted = GRADED[kind]
    tests = read_tests(**columns)
    assert tests is not None
    verdict = grade(box, code, tests, limits=Limits(seconds=5.0))
    assert ([outcome.passed for outcome in verdict.outcomes], verdict.level) == (wanted, box.level())


def test_faults_of_the_tests_are_told(box: OneShot) -> None:
    tests = read_tests(test="class P: pass\ndef check(c):\n    assert c(P())", entry_point="f")
    assert tests is not None
    with pytest.raises(TestsError, match="a value of type P"):
        grade(box, "def f(x): return x", tests)


def test_no_expected_value_leaves_this_machine(address: str) -> None:
    tests = read_tests([[[11], "the expected value"]], entry_point="f")
    assert tests is not None
    grade(Service(address), "def f(x): return x", tests)
    assert "11" in Handler.seen[0]["stdin"]
    assert "the expected value" not in json.dumps(Handler.seen)


def test_a_container_has_no_network_and_no_privileges(engine: Path) -> None:
    Container("docker", IMAGE).run(Job("print(1)", limits=Limits(memory=256 << 20)))
    said = (engine / "said").read_text()
    for option in (
        "--network none",
        "--cap-drop ALL",
        "--read-only",
        "--pull never",
        "--user 65534:65534",
        "--memory 320m",
        IMAGE,
    ):
        assert option in said


def test_an_engine_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="there is no podman on the search path"):
        Container("podman", IMAGE).require()


def test_an_image_that_is_not_there_is_an_error_of_the_sandbox(engine: Path) -> None:
    result = Container("docker", "no/such:image").run(Job("print(1)"))
    assert (result.status, result.error) == (
        "error",
        "docker: docker: Error response from daemon: No such image.",
    )


@pytest.mark.parametrize(
    ("failing", "why"),
    [("status", "HTTP status 503"), ("garbage", "Expecting value"), ("busy", "no worker is free")],
)
def test_a_service_that_fails_is_tried_twice_and_told(address: str, failing: str, why: str) -> None:
    Handler.failing = failing
    result = Service(address).run(Job("print(1)"))
    assert result.status == "error"
    assert why in result.error
    assert len(Handler.seen) == 2


def test_a_service_that_is_not_there_is_an_error_and_no_verdict() -> None:
    tests = read_tests([[[1], 1]], entry_point="f")
    assert tests is not None
    with pytest.raises(SandboxError, match=r"the sandbox service at http://127.0.0.1:9/run_code: .*refused"):
        grade(Service("http://127.0.0.1:9"), "f = int", tests)


def test_backends_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert backend_of("") is None
    assert isinstance(backend_of("podman"), Container)
    assert isinstance(backend_of("https://sandbox.example"), Service)
    with pytest.raises(SandboxError, match="backend='cloud' must be"):
        backend_of("cloud")
    monkeypatch.setenv(VARIABLE, "docker:python:3.11")
    found = backend_of("")
    assert isinstance(found, Container)
    assert "python:3.11" in found.command("x", Limits())


def test_the_reward_uses_the_backend_it_is_told(address: str) -> None:
    add = "```python\ndef add(a, b):\n    return a + b\n```"
    columns: list[str] = []

    def log_extra(name: str, values: list[Any]) -> None:
        columns.extend(values if name == "sandbox" else [])

    scores = code_rewards.tests_passed(
        [add], [[[[1, 2], 3]]], entry_point="add", backend=address, log_extra=log_extra
    )
    assert (scores, columns) == ([1.0], [Level.SERVICE.value])
