"""What pytest collects from a `rewardset.toml`: the file, its rewards, and an item for each check.

The checks run in a process of their own, one for each file and process of the session; it is started when the file is
collected and ended when its last item is done.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from workbench.pytest_plugin import MARKER, PROPERTY

SET = "the set"
PATIENCE_S = 10.0
START = "import workbench; workbench._load_own_rewards(); from workbench.checks.serving import main; main()"
"""Whatever PYTHONPATH says, `rewards` is our package there."""


class ChecksFailed(Exception):
    """Findings that fail an item; the text is shown as it is."""


class Service:
    """The process that checks one set; started at the first request, and again after it was closed or died."""

    def __init__(self, manifest: Path, *, quick: bool) -> None:
        self._command = [sys.executable, "-P", "-c", START, str(manifest)]
        self._command += ["--quick"] * quick
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[bytes] | None = None
        self.plan: dict[str, Any] = {}

    def start(self) -> dict[str, Any]:
        """Start the process; its plan, or `{"error": ...}`."""
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
            )
            self.plan = self._answer()
            if "error" in self.plan:
                self.close()
        return self.plan

    def ask(self, check: str, reward: str | None) -> dict[str, Any]:
        """What a check says of a reward (None: of the set)."""
        plan = self.start()
        if self._process is None or self._process.stdin is None:
            return plan
        try:
            self._process.stdin.write(json.dumps({"check": check, "reward": reward}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> dict[str, Any]:
        """What the process said before it ended without an answer."""
        said = ""
        if self._errors is not None:
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace")[-2000:]
        self.close()
        return {"error": f"the process that runs the checks ended\n{said}".strip()}

    def close(self) -> None:
        """End the process, and those it started."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                try:
                    process.stdin.close()
                except BrokenPipeError:
                    pass
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None


class RewardSetFile(pytest.File):
    """A `rewardset.toml`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.service = Service(self.path, quick=bool(self.config.getoption("reward_quick")))
        self.add_marker(MARKER)
        self.config.add_cleanup(self.service.close)  # also where no item is run

    def collect(self) -> Iterator[pytest.Collector]:
        """A collector for each reward, and one for the set."""
        plan = self.service.start()
        if "error" in plan:
            raise self.CollectError(f"{self.path.name}: {plan['error']}")
        for reward in plan["rewards"]:
            yield RewardCollector.from_parent(self, name=reward, reward=reward, checks=plan["checks"])
        yield RewardCollector.from_parent(self, name=SET, reward=None, checks=plan["checks"])

    def teardown(self) -> None:
        """End the checking process; a later item starts another."""
        self.service.close()


class RewardCollector(pytest.Collector):
    """One reward of a set, or the set."""

    def __init__(self, *, reward: str | None, checks: list[dict[str, Any]], **options: Any) -> None:
        super().__init__(**options)
        self.reward = reward
        self.checks = checks

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each check of a reward, or of the set."""
        for check in self.checks:
            if check["of"] == ("set" if self.reward is None else "reward"):
                yield CheckItem.from_parent(
                    self, name=f"{check['check']}-{check['name']}", reward=self.reward, check=check["check"]
                )


class CheckItem(pytest.Item):
    """One check on one reward, or on the set."""

    def __init__(self, *, reward: str | None, check: str, **options: Any) -> None:
        super().__init__(**options)
        self.reward = reward
        self.check = check
        self.extra_keyword_matches |= {check, check[:3], self.name.partition("-")[2], reward or SET}

    @property
    def service(self) -> Service:
        """The process that checks the set of this item."""
        file = self.getparent(RewardSetFile)
        assert file is not None
        return file.service

    def runtest(self) -> None:
        """Run the check; findings that fail are `ChecksFailed`."""
        answer = self.service.ask(self.check, self.reward)
        if "error" in answer:
            raise ChecksFailed(answer["error"])
        if answer.get("notes"):
            self.add_report_section("call", "notes", "\n".join(answer["notes"]))
        findings = answer["findings"]
        standing = [finding["text"].lstrip() for finding in findings if finding["fails"]]
        lesser = [finding for finding in findings if not finding["fails"] and finding["waived"] is None]
        waived = [finding for finding in findings if finding["waived"] is not None]
        if lesser:
            text = "\n".join(finding["text"] for finding in lesser)
            self.add_report_section("call", "reward findings", text)
            if any(finding["severity"] != "info" for finding in lesser):
                self.user_properties.append((PROPERTY, text))
        if standing:
            raise ChecksFailed("\n".join(standing))
        if answer.get("same_as") and not standing:
            pytest.skip(f"the same cause as {answer['same_as']}")
        if answer["skipped"]:
            pytest.skip(answer["skipped"])
        if waived:
            pytest.xfail(f"waived: {waived[0]['waived']} ({waived[0]['message']})")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Findings as they are: the completion, got, expected, the line; other failures as pytest tells them."""
        if isinstance(excinfo.value, ChecksFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the item stands: the manifest, and its reward and check."""
        return self.path, None, f"{self.reward or SET}: {self.name}"
