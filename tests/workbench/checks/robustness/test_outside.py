"""RW505 and RW507."""

import socket
import threading

import pytest

KEEPS = """
_seen = {}
def reward(completions, **kwargs):
    for c in completions:
        _seen[hash(c[-1]["content"])] = list(range(60))
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_what_is_kept_of_every_completion_is_told_with_its_line(check):
    [finding] = check(KEEPS, "RW505")
    assert finding.line == 5
    assert finding.severity == "info"
    assert "bytes of every completion" in finding.message


def test_completions_kept_whole_are_a_warning(check):
    [finding] = check(KEEPS.replace("hash(", "str("), "RW505")
    assert finding.severity == "warning"
    assert "GB after a million" in finding.message


def test_cache_with_a_limit_and_a_constant_table_are_left_alone(check, healthy):
    limited = """
    import functools
    @functools.lru_cache(maxsize=1000)
    def words(text):
        return tuple(text.split()) * 50
    def reward(completions, **kwargs):
        return [float(len(words(c[-1]["content"]))) for c in completions]
    """
    assert check(limited, "RW505") == []
    assert check(healthy, "RW505") == []


@pytest.fixture
def service():
    """A service that answers one byte to everyone."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    with server.accept()[0] as connection:
                        connection.sendall(b"1")
                except TimeoutError:
                    continue

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        done.set()
        thread.join()


ASKS = """
import socket
def reward(completions, **kwargs):
    scores = []
    for c in completions:
        with socket.create_connection(("127.0.0.1", PORT)LIMIT) as asked:
            scores.append(float(asked.recv(1)))
    return scores
"""


def test_connection_without_a_timeout_is_a_warning_with_address_and_line(check, service):
    [finding] = check(ASKS.replace("PORT", str(service)).replace("LIMIT", ""), "RW507")
    assert finding.severity == "warning"
    assert f"connects to 127.0.0.1:{service} while it scores and would wait" in finding.message
    assert finding.line == 6


def test_connection_with_a_timeout_is_a_note(check, service):
    [finding] = check(ASKS.replace("PORT", str(service)).replace("LIMIT", ", timeout=2"), "RW507")
    assert finding.severity == "info"
    assert finding.evidence.got == "a timeout of 2 s"


def test_reward_that_stays_at_home_is_left_alone(check, healthy):
    assert check(healthy, "RW507") == []
