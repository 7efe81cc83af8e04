"""What tests/conftest.py promises for every test session, shown on small sessions of their own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest


def session(folder: Path, repository: Path, code: str) -> subprocess.CompletedProcess[str]:
    """A pytest session over one file, under a copy of our conftest.py."""
    shutil.copy(repository / "tests" / "conftest.py", folder / "conftest.py")
    (folder / "test_it.py").write_text(code)
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n    browser\n    gpu\n    slow\n    guide(row)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def runs(pid: int) -> bool:
    """Whether a process is alive; one that ended and is not yet buried is not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


def test_a_process_left_running_fails_the_session_and_is_ended(tmp_path: Path, repository: Path) -> None:
    code = (
        "import subprocess\n"
        "def test_it():\n"
        "    child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "    open('pid', 'w').write(str(child.pid))\n"
    )
    done = session(tmp_path, repository, code)
    pid = int((tmp_path / "pid").read_text())
    assert done.returncode == 1
    assert f"left running by the tests, ended now: {pid} sleep 600" in done.stdout
    assert not runs(pid)


def test_a_session_that_ends_its_processes_passes(tmp_path: Path, repository: Path) -> None:
    code = "import subprocess\ndef test_it():\n    subprocess.run(['true'], check=True)\n"
    assert session(tmp_path, repository, code).returncode == 0


@pytest.mark.parametrize("address", [("93.184.216.34", 80), ("example.org", 80)])
def test_connecting_to_another_machine_raises(address: tuple[str, int]) -> None:
    with socket.socket() as plug, pytest.raises(RuntimeError, match=f"connection to '{address[0]}' refused"):
        plug.connect(address)


def test_asking_a_name_server_raises() -> None:
    with pytest.raises(RuntimeError, match="no network in tests"):
        socket.getaddrinfo("example.org", 443)


def test_this_machine_can_be_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def test_generated_documents_are_written_only_when_asked(
    write_docs: bool, pytestconfig: pytest.Config
) -> None:
    assert write_docs is bool(pytestconfig.getoption("--write-docs"))
