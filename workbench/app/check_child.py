"""The process behind the Check page: runs the checks, reports progress, and can seal exactly what it has shown.

    python -m workbench.app.check_child      a task on standard input, JSON lines on standard output

Task: `target`, `paths`, `columns`, `labels`, `read_as`, `select`, `quick`, `assume_kinds`. Messages: `progress`
[reward, done, of, rewards finished, rewards], then `result` or `error`; after a result the word `seal` is answered with
`sealed` or `refused`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from rewards.errors import RewardWorkbenchError

Say = Callable[..., None]


def main() -> int:
    """Read the task, do it, then listen until the other side is gone."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not look like a message

    def say(**message: Any) -> None:
        out.write(json.dumps(message, allow_nan=False) + "\n")
        out.flush()

    task = json.loads(sys.stdin.readline())
    try:
        report, samples, source = check(task, say)
    except RewardWorkbenchError as error:
        say(error=str(error))
        return 0
    _listen(sys.stdin, say, lambda: _seal(task["target"], report, samples, source))
    return 0


def check(task: Mapping[str, Any], say: Say) -> tuple[Any, Any, str]:
    """The report, the samples, and the digest of what was checked; `found` says each finding as it is made."""
    from rewards.sources import source_digest
    from rewards.targets import parse_target
    from workbench.checks.runner import run_checks
    from workbench.labels import with_labels
    from workbench.opening import manifest_of
    from workbench.samples import read_samples
    from workbench.samples.form import read_as
    from workbench.tokenizing import tokenizer_for

    target = str(task["target"])
    source = source_digest(parse_target(target))
    samples = batch = None
    if task["paths"]:
        samples = read_samples([Path(path) for path in task["paths"]], columns=dict(task["columns"]))
        samples = read_as(samples, task["read_as"])
        samples = with_labels(samples, Path(task["labels"]), add=True)
        batch = samples.batch(tokenizer_for(manifest_of(target)))
    finished: list[str] = []

    def progress(reward: str, done: int, of: int) -> None:
        if done >= of and reward not in finished:
            finished.append(reward)
        say(progress=[reward, done, of, len(finished)])

    def found(finding: Any) -> None:
        say(found=finding_json(finding))

    report = run_checks(
        target,
        samples,
        select=task["select"],
        quick=task["quick"],
        assume_kinds=task["assume_kinds"],
        progress=progress,
        batch=batch,
        found=found,
    )
    told = result(report)
    say(result=told)
    if task.get("keep"):
        keep(Path(task["keep"]), {"of": task["of"], "result": told})
    return report, samples, source


def result(report: Any) -> dict[str, Any]:
    """What the page shows of a report, JSON-ready."""
    return {
        "verdict": report.verdict,
        "strength": report.strength,
        "fail_on": report.fail_on,
        "quick": report.quick,
        "seconds": round(report.seconds, 2),
        "rows": report.rows,
        "right": report.right,
        "wrong": report.wrong,
        "rewards": [reward.name for reward in report.rewards],
        "ran": [code for code, _ in report.ran],
        "findings": [finding_json(finding) for finding in report.all_findings],
        "held_back": report.held_back,
        "skipped": [skipped.to_json() for skipped in report.skipped],
    }


def keep(place: Path, found: Mapping[str, Any]) -> None:
    """Keep what a page can show after a restart; a project that cannot be written keeps nothing."""
    from workbench.versions import make_folder
    from workbench.whole_files import write_whole

    with contextlib.suppress(OSError):
        make_folder(place.parent)
        write_whole(place, json.dumps(found, allow_nan=False).encode())


def finding_json(finding: Any) -> dict[str, Any]:
    """A finding with its reward and all its lines."""
    return {**finding.to_json(), "reward": finding.reward, "lines": [list(line) for line in finding.lines]}


def _listen(words: IO[str], say: Say, seal: Callable[[], str]) -> None:
    for word in words:
        if word.strip() != "seal":
            continue
        try:
            say(sealed=seal(), refused=None)
        except RewardWorkbenchError as error:
            say(refused=str(error), sealed=None)


def _seal(target: str, report: Any, samples: Any, source: str) -> str:
    from rewards.errors import SealError
    from rewards.sources import source_digest
    from rewards.targets import parse_target
    from workbench.sealing import seal_report

    if source_digest(parse_target(target)) != source:
        raise SealError("not sealed: the code or the manifest changed since the checks ran; run them again")
    return str(seal_report(_with_waivers(report, target), samples))


def _with_waivers(report: Any, target: str) -> Any:
    """The report with what was accepted since it was made; waivers are no part of what the seal covers."""
    from workbench.checks.runner import waive
    from workbench.opening import manifest_of

    manifest = manifest_of(target)
    waivers = manifest.check.waive if manifest is not None else ()

    def accepted(findings: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(waive(finding, waivers) for finding in findings)

    rewards = tuple(replace(each, findings=accepted(each.findings)) for each in report.rewards)
    return replace(report, rewards=rewards, findings=accepted(report.findings))


if __name__ == "__main__":
    sys.exit(main())
