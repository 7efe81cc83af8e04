"""What training through Reward Workbench costs besides a step: slow rewards, the start, the monitor, memory.

    python benchmarks/training.py rewards   three rewards of 100 ms, ours beside plain TRL (goal: at most 0.6)
    python benchmarks/training.py start     from the command to the first logged step, beside a plain script (goal 1.15)
    python benchmarks/training.py monitor   a step of the monitor over 5,000 steps (goal: under 5 ms)
    python benchmarks/training.py memory    the trainer's process over 2,000 steps' worth of what listens (goal: flat)

Sides take turns within each round. Prints a line of JSON; exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sides import TEMPLATE, run_side

from trainer.environment import prepare_process, quiet_libraries

ROOT = Path(__file__).resolve().parent.parent
SLOW = """
import time


def {name}(completions, **kwargs):
    time.sleep(0.1)
    return [len(c[0]["content"]) / 100 for c in completions]
"""
PLAIN_SCRIPT = """
import json, sys
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback
from trl import GRPOConfig, GRPOTrainer
sys.path.insert(0, "{project}")
import rewards

class First(TrainerCallback):
    def on_log(self, args, state, control, **kwargs):
        print("first", flush=True)

rows = [json.loads(line) for line in open("{project}/train.jsonl")]
GRPOTrainer(
    model="{model}", train_dataset=Dataset.from_list(rows),
    reward_funcs=[rewards.format_reward, rewards.correctness_reward],
    args=GRPOConfig(output_dir="{out}", max_steps=1, per_device_train_batch_size=32, num_generations=8,
                    max_completion_length=20, use_cpu=True, bf16=False, gradient_checkpointing=False, logging_steps=1,
                    learning_rate=2e-3, disable_tqdm=True, report_to="none"),
    peft_config=LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
    callbacks=[First()],
).train()
"""
STEPS, ROWS, GROUP = 2000, 32, 8
NAMES = ("format", "correctness", "brevity")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["rewards", "start", "monitor", "memory"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    prepare_process()
    quiet_libraries()
    measures: dict[str, Callable[[Path, int], dict[str, Any]]] = {
        "rewards": slow_rewards,
        "start": start,
        "monitor": monitor,
        "memory": memory,
    }
    with tempfile.TemporaryDirectory() as folder:
        result = measures[options.what](Path(folder), options.rounds)
    print(
        json.dumps(
            {key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()}
        )
    )
    return 0 if result["good"] else 1


def slow_rewards(folder: Path, rounds: int) -> dict[str, Any]:
    """Median step of both sides with three rewards that wait 100 ms each."""
    project = folder / "project"
    shutil.copytree(TEMPLATE, project)
    (project / "rewards.py").write_text("".join(SLOW.format(name=name) for name in ("a", "b", "c")))
    manifest = (project / "rewardset.toml").read_text()
    data = manifest[manifest.index("\n[data]") :]
    rewards = "".join(f'[[reward]]\nfunction = "rewards.py::{name}"\n\n' for name in ("a", "b", "c"))
    (project / "rewardset.toml").write_text(rewards + data)
    taken: dict[str, list[float]] = {"ours": [], "plain": []}
    for number in range(rounds):
        for side in ("ours", "plain") if number % 2 else ("plain", "ours"):
            taken[side] += [wall for wall, _ in run_side(side, project, 15, folder / f"{side}-{number}")]
    ours, plain = (statistics.median(taken[side]) * 1000 for side in ("ours", "plain"))
    return {"ours_ms": ours, "plain_ms": plain, "ratio": ours / plain, "good": ours / plain <= 0.6}


def start(folder: Path, rounds: int) -> dict[str, Any]:
    """Median seconds from the command to the first logged step, after a round that is not counted."""
    from trainer.models.naming import resolve_model

    project = folder / "project"
    shutil.copytree(TEMPLATE, project)
    script = folder / "plain.py"
    values = {"project": project, "model": resolve_model("toy").path, "out": folder / "out"}
    script.write_text(PLAIN_SCRIPT.format(**values))
    taken: dict[str, list[float]] = {"ours": [], "plain": []}
    spent: dict[str, list[float]] = {"ours": [], "plain": []}  # CPU of the whole command and what it started
    for number in range(rounds + 1):
        run = folder / f"run-{number}"
        words = [
            "train",
            str(project),
            "--model",
            "toy",
            "--run",
            str(run),
            "--allow-unsealed",
            "--set",
            "max_steps=1",
        ]
        sides = [
            ("ours", [sys.executable, "-P", "-m", "trainer", *words], b"step 1/1"),
            ("plain", [sys.executable, str(script)], b"first"),
        ]
        for side, command, sign in sides if number % 2 else reversed(sides):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = until(command, sign)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if number:
                taken[side].append(seconds)
                spent[side].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    ours, plain = (statistics.median(taken[side]) for side in ("ours", "plain"))
    ours_cpu, plain_cpu = (statistics.median(spent[side]) for side in ("ours", "plain"))
    return {
        "ours_s": ours,
        "plain_s": plain,
        "ratio": ours / plain,
        "ours_cpu_s": ours_cpu,
        "plain_cpu_s": plain_cpu,
        "cpu_ratio": ours_cpu / plain_cpu,
        "good": ours / plain <= 1.15,
    }


def until(command: list[str], sign: bytes) -> float:
    """Seconds until a command says `sign`; then it runs to its end."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        seen, said = 0.0, b""
        for line in process.stdout:
            said += line
            if not seen and line.startswith(sign):
                seen = time.perf_counter() - began
    if not seen:
        raise RuntimeError(said.decode())
    return seen


def monitor(folder: Path, rounds: int) -> dict[str, Any]:
    """Milliseconds of the live monitor at a step: mean over 5,000 and the mean of the last 500, by planned length."""
    steps = 5000
    result: dict[str, Any] = {}
    for name, total in (("planned", steps), ("unplanned", 0)):
        parts = Listening(folder / name, total)
        taken = []
        for step in range(1, steps + 1):
            batch, ids = parts.batch(step)
            began = time.thread_time()
            parts.monitor.step_begins(step)
            parts.monitor.scored(batch, ids)
            parts.monitor.step_ended(step)
            parts.monitor.logged(step, {"loss": 0.1, "entropy": 1.0, "grad_norm": 0.5})
            taken.append((time.thread_time() - began) * 1000)
        parts.end()
        result[f"{name}_mean_ms"] = statistics.mean(taken)
        result[f"{name}_last_500_mean_ms"] = statistics.mean(taken[-500:])
        result[f"{name}_slowest_ms"] = max(taken)
    return {**result, "good": max(value for key, value in result.items() if "mean" in key) < 5}


def memory(folder: Path, rounds: int) -> dict[str, Any]:
    """Resident megabytes after 200 steps and after 2,000, everything that listens fed with made-up batches."""
    parts = Listening(folder / "memory", STEPS)
    resident: dict[int, float] = {}
    for step in range(1, STEPS + 1):
        parts.score(step)
        parts.log(step)
        if step % 100 == 0:
            resident[step] = resident_mb()
    parts.end()
    grown = resident[STEPS] - resident[200]
    return {
        "after_200_mb": resident[200],
        "after_1000_mb": resident[1000],
        "after_2000_mb": resident[STEPS],
        "grown_mb": grown,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "good": grown < 20,
    }


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Listening:
    """Scoring, record, journal, monitor and samples of a run, without model or trainer; rewards are made up."""

    def __init__(self, folder: Path, total: int) -> None:
        from rewards.manifest import RewardEntry
        from trainer.rewarding.completions import Recorder
        from trainer.rewarding.wrapped import Bound, Scoring
        from trainer.rundir import RunDir
        from trainer.watching.callback import as_callback
        from trainer.watching.journal import Journal, Progress
        from trainer.watching.live import LiveMonitor, facts_of
        from trainer.watching.samples import Samples

        (folder / "completions").mkdir(parents=True)
        run = RunDir(folder)
        self.rng = random.Random(0)
        entries = [RewardEntry(function=f"x.py::{name}", name=name, range=(0.0, 1.0)) for name in NAMES]
        bound = [Bound(name, entry) for name, entry in zip(NAMES, entries, strict=True)]
        self.recorder = Recorder(folder / "completions")
        self.scoring = Scoring(bound, self.call_all, group=GROUP, record=self.recorder)
        facts = facts_of(
            bound, total_steps=total, trl={"num_generations": GROUP, "max_completion_length": 200}
        )
        self.monitor = LiveMonitor(facts, run.diagnoses_path)
        self.journal = Journal(
            run,
            total=total or STEPS,
            window=1,
            names=NAMES,
            extra=self.scoring.drain,
            flush=self.recorder.flush,
            progress=Progress(total or STEPS, terminal=False),
        )
        self.journal.begin()
        self.monitor.begin(None)
        listeners = [self.monitor, Samples(run.samples, 50)]
        self.scoring.audience.extend(listeners)
        self.callback = as_callback(self.journal, listeners)
        self.trainer = SimpleNamespace(global_step=0, max_steps=total, log_history=[])

    def call_all(self, batch: Any, state: Any) -> list[Any]:
        """Scores that get better with time."""
        import numpy as np

        from rewards.contract import CallResult

        share = min(0.9, 0.2 + int(state.global_step) / 4000)
        scores = [np.array([float(self.rng.random() < share) for _ in range(ROWS)]) for _ in NAMES]
        return [CallResult(one, np.zeros(ROWS, dtype=np.uint8), seconds=0.01) for one in scores]

    def made(self, step: int) -> tuple[list[Any], list[Any], list[list[int]]]:
        """Prompts, completions and their ids."""
        prompts = [[{"role": "user", "content": f"What is {step} + {row // GROUP}?"}] for row in range(ROWS)]
        texts = [f"<answer>{step + row}</answer>" * 6 for row in range(ROWS)]
        ids = [[self.rng.randrange(300) for _ in range(60)] for _ in range(ROWS)]
        return prompts, [[{"role": "assistant", "content": text}] for text in texts], ids

    def score(self, step: int) -> None:
        """A step's calls as TRL makes them."""
        self.trainer.global_step = step - 1
        self.callback.on_step_begin(None, self.trainer, None)
        prompts, completions, ids = self.made(step)
        for function in self.scoring.functions():
            function(
                prompts=prompts,
                completions=completions,
                completion_ids=ids,
                answer=[str(step)] * ROWS,
                trainer_state=self.trainer,
                log_extra=lambda name, values: None,
                log_metric=lambda name, value: None,
            )

    def log(self, step: int) -> None:
        """Its end and its line."""
        self.trainer.global_step = step
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        self.callback.on_step_end(None, self.trainer, control)
        line = {"reward": 0.5, "loss": 0.1, "entropy": 1.0, "grad_norm": 0.5, "learning_rate": 1e-4}
        self.callback.on_log(None, self.trainer, control, logs=line)

    def batch(self, step: int) -> tuple[Any, list[list[int]]]:
        """A scored batch that nobody has heard of yet."""
        from rewards.contract import Batch

        self.trainer.global_step = step - 1
        prompts, completions, ids = self.made(step)
        whole = Batch(prompts, completions, ids, {}, [f"{step}-{row // GROUP}" for row in range(ROWS)])
        return self.scoring.read(whole, self.call_all(whole, self.trainer), step=step, split="train"), ids

    def end(self) -> None:
        """Close what is open."""
        self.journal.end()
        self.monitor.end()
        self.recorder.close()


if __name__ == "__main__":
    sys.exit(main())
