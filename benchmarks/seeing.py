"""What a person waits for: new scores after an edit, a second run, other weights, a hundred thousand rows.

    python benchmarks/seeing.py [--rounds 3]

Everything stands beside a bare loop that calls the same functions in its own process. Wall time counts everything the
machine does meanwhile, so CPU time (this process and its children) stands beside it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards.library import maths_equal
from workbench.difference import compare
from workbench.distributions import distributions
from workbench.features import features_of
from workbench.reports.score_report import Scored, to_text
from workbench.samples import Samples, read_samples
from workbench.score_cache import ScoreCache
from workbench.scoring import score

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "fixtures/gsm8k"
ALL = PROJECT / "all_completions.jsonl"
PAIRS = ROOT / "fixtures/maths_pairs/gold_pred_pairs.jsonl"
COMMAND = Path(sys.executable).with_name("reward-workbench")


def cpu() -> float:
    """CPU seconds of this process and of its children that ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and CPU seconds of an action, and what it gave."""
    began, used = time.perf_counter(), cpu()
    given = action()
    return time.perf_counter() - began, cpu() - used, given


def functions_of(file: Path) -> list[Callable[..., Any]]:
    spec = importlib.util.spec_from_file_location("bare_rewards", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [module.correctness_reward, module.format_reward, module.incremental_format_reward]


def bare(functions: list[Callable[..., Any]], samples: Samples) -> list[Any]:
    keywords = {"prompts": samples.prompts, "completions": samples.completions, **samples.columns}
    return [function(**keywords) for function in functions]


def times(samples: Samples, count: int) -> Samples:
    """The samples again and again until there are `count` rows, in groups of their own."""
    rows = [row % len(samples) for row in range(count)]
    pick = lambda values: [values[row] for row in rows]  # noqa: E731  # used six times below
    return replace(
        samples,
        prompts=pick(samples.prompts),
        completions=[
            f"{text} " if at >= len(samples) else text for at, text in enumerate(pick(samples.completions))
        ],
        columns={name: pick(values) for name, values in samples.columns.items()},
        groups=[f"{samples.groups[row]}-{at // len(samples)}" for at, row in enumerate(rows)],
        labels=pick(samples.labels),
        expected=pick(samples.expected),
        ids=[str(at) for at in range(count)],
        steps=[None] * count,
        places=pick(samples.places),
        recorded={},
    )


def edit_to_scores(rounds: int) -> None:
    """`score` in a terminal after an edit to one of three rewards, 2,000 completions."""
    folder = Path(tempfile.mkdtemp())
    shutil.copy(PROJECT / "rewards.py", folder)
    rows = times(read_samples([ALL]), 2000)
    file = folder / "s.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for row in range(len(rows)):
            record = {
                "prompt": rows.prompts[row],
                "completion": rows.completions[row],
                "group": rows.groups[row],
            }
            out.write(
                json.dumps(record | {name: values[row] for name, values in rows.columns.items()}) + "\n"
            )
    text = (folder / "rewards.py").read_text()
    command = [str(COMMAND), "score", "rewards.py", "--samples", "s.jsonl", "--jobs", "1"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    own = statistics.median(
        timed(lambda: bare(functions_of(folder / "rewards.py"), rows))[0] for _ in range(rounds)
    )
    walls, cpus = [], []
    for number in range(rounds):
        (folder / "rewards.py").write_text(text.replace("score += 0.25", f"score += 0.25 + {number} * 0.0"))
        wall, used, _ = timed(lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True))
        walls.append(wall)
        cpus.append(used)
    watched = _watched(command, folder, text, rounds)
    print(
        f"edit to scores, 2,000 rows: a fresh command {min(walls) * 1000:.0f} ms, CPU {min(cpus) * 1000:.0f} ms"
    )
    over = (watched - 1.5 * own) * 1000
    print(
        f"  --watch {watched * 1000:.0f} ms; functions alone {own * 1000:.0f} ms; over 1.5 times that {over:.0f} ms"
    )
    shutil.rmtree(folder)


def _watched(command: list[str], folder: Path, text: str, rounds: int) -> float:
    """The fastest time from saving the file to the new scores under `score --watch`."""
    seconds = []
    with subprocess.Popen(
        [*command, "--watch"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        for number in range(rounds + 2):
            time.sleep(0.5)
            began = time.perf_counter()
            (folder / "rewards.py").write_text(
                text.replace("score += 0.25", f"score += 0.25 + {number + 0.5} * 0.0")
            )
            while "waiting" not in process.stderr.readline():
                pass
            seconds.append(time.perf_counter() - began)
        process.send_signal(signal.SIGINT)
    return min(seconds)


def second_run() -> None:
    """A maths reward over the real pairs, twice: this product's and TRL's."""
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    gold, given = ("gold", "pred") if "gold" in pairs[0] else ("answer", "completion")
    names = {
        "rewards.library:maths_equal": ("answer", False),
        "trl.rewards:accuracy_reward": ("solution", True),
    }
    for function, (column, chat) in names.items():
        folder = Path(tempfile.mkdtemp())
        (folder / "rewardset.toml").write_text(
            f'[[reward]]\nfunction = "{function}"\nscope = "row"\ntimeout_s = 60\n'
        )
        with (folder / "s.jsonl").open("w", encoding="utf-8") as out:
            for pair in pairs:
                text = str(pair[given])
                said: Any = [{"role": "assistant", "content": text}] if chat else text
                asked: Any = [{"role": "user", "content": "?"}] if chat else "?"
                out.write(json.dumps({"prompt": asked, "completion": said, column: str(pair[gold])}) + "\n")
        samples = read_samples([folder / "s.jsonl"])
        seconds = []
        for _ in range(2):
            with ScoreCache(folder) as cache:
                table = score(folder, samples, cache=cache)
            seconds.append(table.seconds[table.names[0]])
        with ScoreCache(folder) as cache:
            looked_up = _lookup(folder, samples, cache)
        reused = sum(table.reused.values())
        print(
            f"{function}, {len(samples)} pairs: first {seconds[0]:.2f} s, kept {reused} rows, looked up in "
            f"{looked_up * 1000:.1f} ms: {seconds[0] / looked_up:.0f} times"
        )
        shutil.rmtree(folder)


def _lookup(folder: Path, samples: Samples, cache: ScoreCache) -> float:
    """Seconds for naming the rows and reading their scores, what stands in the place of the calls."""
    from rewards.running import Runner
    from workbench.score_cache import Memory

    with Runner() as runner:
        description = runner.inspect(folder)
    batch = samples.batch()
    began = time.perf_counter()
    Memory(cache, description, batch, samples.step_rows())
    first = time.perf_counter() - began
    began = time.perf_counter()
    Memory(cache, description, batch, samples.step_rows())
    return min(first, time.perf_counter() - began)


def other_weights(rounds: int) -> None:
    """Other weights for 20,000 rows: totals, advantages, sign flips, groups without spread; then everything."""
    samples = times(read_samples([ALL]), 20_000)
    table = score(PROJECT, samples)
    features = features_of(samples.completions, samples.groups)
    before = distributions(table, features)
    quick = [timed(lambda: compare(table, table.reweighted({"correctness": 0.5})))[:2] for _ in range(rounds)]
    whole = [
        timed(lambda: distributions(table.reweighted({"correctness": 0.5}), features, before=before))[:2]
        for _ in range(rounds)
    ]
    for name, found in (("what changes", quick), ("all distributions", whole)):
        wall, used = (min(column) * 1000 for column in zip(*found, strict=True))
        print(f"other weights, 20,000 rows, {name}: {wall:.0f} ms, CPU {used:.0f} ms")


def many_rows() -> None:
    """100,000 rows scored and summarised on one core, beside the bare loop: quick rewards, then a grader with them."""
    samples = times(read_samples([ALL]), 100_000)
    quick = functions_of(PROJECT / "rewards.py")
    with tempfile.TemporaryDirectory() as folder:
        graded = Path(folder) / "graded"
        shutil.copytree(PROJECT, graded, ignore=shutil.ignore_patterns("*.jsonl", ".workbench"))
        with (graded / "rewardset.toml").open("a") as manifest:
            manifest.write('\n[[reward]]\nfunction = "rewards.library:maths_equal"\n')
        _many("three quick rewards", PROJECT, quick, samples)
        _many("with maths_equal", graded, [*quick, maths_equal], samples)


def _many(name: str, project: Path, functions: list[Callable[..., Any]], samples: Samples) -> None:
    _, own, _ = timed(lambda: bare(functions, samples))

    def whole() -> str:
        table = score(project, samples, jobs=1)
        return str(to_text(Scored(table, samples)))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, used, _ = timed(whole)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"100,000 rows scored and summarised, {name}: {wall:.1f} s, CPU {used:.2f} s; bare loop CPU {own:.2f} s; "
        f"ratio of CPU {used / own:.2f}; this process grew by {grown:.0f} MiB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="what a person waits for")
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    edit_to_scores(rounds)
    other_weights(rounds)
    many_rows()
    second_run()
