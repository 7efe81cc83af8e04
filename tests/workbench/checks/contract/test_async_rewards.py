"""RW118 async-undetected and RW119 async-blocking."""

from types import SimpleNamespace

from workbench.checks.contract.async_blocking import AsyncBlocking

SLEEPS = """
import time
async def reward(completions, **kwargs):
    time.sleep(0.15)
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_coroutine_of_a_function_that_is_not_async_is_found(check):
    source = """
    async def judge(completions):
        return [1.0 for _ in completions]
    def reward(completions, **kwargs):
        return judge(completions)
    """
    findings = check(source, "RW105 RW118", names="reward", declare="weight = 1.0")
    assert [finding.check for finding in findings] == ["RW118"]
    assert findings[0].severity == "error"
    assert findings[0].count == 8


def test_sleep_without_await_blocks_the_loop(check):
    [finding] = check(SLEEPS, "RW119")
    assert finding.severity == "warning"
    assert "it sleeps or waits without awaiting" in finding.message


def test_short_waits_of_every_row_add_up_in_a_batch(check):
    source = SLEEPS.replace("time.sleep(0.15)", "time.sleep(0.018 * len(completions))")
    [finding] = check(source, "RW119")
    assert "with 8 completions" in finding.message


def test_a_little_computing_is_left_alone():
    asked = []

    def probe(name, count, *, rows):
        asked.append(rows)
        return {"gap": 0.02 * count, "seconds": 0.02 * count, "cpu": 0.018 * count}

    subject = SimpleNamespace(
        description=SimpleNamespace(signature=SimpleNamespace(is_async=True)),
        few=lambda limit: list(range(limit)),
        probe=probe,
    )
    assert list(AsyncBlocking().run(subject)) == []
    assert asked == [[0, 1, 2, 3]]


def test_long_computation_blocks_the_loop(check):
    busy = "end = time.thread_time() + 0.15\n    while time.thread_time() < end: pass"
    source = SLEEPS.replace("time.sleep(0.15)", busy)
    [finding] = check(source, "RW119")
    assert "it computes without awaiting" in finding.message


def test_awaited_sleep_is_left_alone(check):
    source = SLEEPS.replace("import time", "import asyncio").replace("time.sleep", "await asyncio.sleep")
    assert check(source, "RW118 RW119") == []


def test_sync_reward_that_sleeps_is_not_this_checks_matter(check):
    assert check(SLEEPS.replace("async def", "def"), "RW119") == []
