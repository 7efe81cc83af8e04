"""What the product promises, shown on itself: flawed sets are stopped, repaired ones teach, drift is foretold.

    python benchmarks/own_proof.py [--steps 40] [--seed 0] [--jobs 2] [--write docs/own-proof.md]

Twelve small projects on sums (`fixtures/flawed_sets`), each with one realistic flaw and its repair.

1. Before launch: the quick checks, as `train` runs them, refuse the flawed set and advise the repair (`flaws.toml` says
   which check and what the advice has to name); the repaired set passes and is sealed.
2. On the toy model: a strict *oracle* (the right number in tags, nothing around it) is measured on all prompts of the
   data, a fifth of them held out, before and after. Repaired sets have to gain at least 0.9 of what the healthy set
   gains, flawed ones launched unsealed less than half of it.
3. In ten of the runs the selection differential of features of the text, of the rewards and of the oracle is held
   against the drift that follows (`benchmarks/foretold.py`): before launch, and in every window of five steps. Where
   both are clear the signs have to agree in at least 0.9 of the cases.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from foretold import SAMPLES, WINDOW, Forecast, Judged, follow, judge
from foretold_report import drift_section

ROOT = Path(__file__).resolve().parent.parent
SETS = ROOT / "fixtures" / "flawed_sets"
HEALTHY = ROOT / "workbench" / "templates" / "arithmetic"
STEPS = 40
ENOUGH, TOO_MUCH, AGREEING = 0.9, 0.5, 0.9
FOR_DRIFT = (
    "against_the_batch",
    "always_full",
    "endless_penalty",
    "manners_first",
    "short_answers",
    "sign",
    "substring",
    "tags_to_farm",
    "wrong_column",
    "healthy",
)
"""The runs whose drift is foretold: of the flawed sets that tell completions apart, and the healthy one."""
STRICT = re.compile(r"\s*<answer>\s*(\d{1,9})\s*</answer>\s*")


# ------------------------------------------------------------------------------------- before launch


@dataclass(frozen=True)
class Flaw:
    """A flawed set: what is wrong, and which check has to say so with which words in its advice."""

    name: str
    flaw: str
    check: str
    advice: str

    def folder(self, side: str) -> Path:
        return SETS / self.name / side


@dataclass(frozen=True)
class Refusal:
    """What the quick checks made of a set: whether they refused it, and the advice of the check that had to speak."""

    refused: bool
    codes: tuple[str, ...]
    advice: str | None

    def right(self, flaw: Flaw) -> bool:
        return self.refused and self.advice is not None and flaw.advice in self.advice


def flaws() -> list[Flaw]:
    """All flawed sets, in the order of flaws.toml."""
    table = tomllib.loads((SETS / "flaws.toml").read_text(encoding="utf-8"))
    return [Flaw(name, **entry) for name, entry in table.items()]


def quick_check(folder: Path, flaw: Flaw | None = None) -> Refusal:
    """Check a project as `train` does before it launches an unsealed set."""
    from workbench.cli.check import run

    report, _ = run(str(folder), [], quick=True)
    errors = [finding for finding in report.all_findings if finding.severity == "error"]
    codes = tuple(dict.fromkeys(finding.check for finding in errors))
    spoken = [finding for finding in errors if flaw is not None and finding.check == flaw.check]
    return Refusal(report.verdict == "fail", codes, spoken[0].advice if spoken else None)


# ------------------------------------------------------------------------------------- trained for real


def oracle(text: str, answer: Any) -> float:
    """1 for the right number in tags and nothing around it; independent of every reward that trains."""
    found = STRICT.fullmatch(text)
    return 1.0 if found and int(found[1]) == int(answer) else 0.0


@dataclass(frozen=True)
class Trained:
    """A real run: the oracle before and after, how it ended, and what was foretold of every feature."""

    before: float
    after: float
    steps: int
    ended: str
    forecasts: tuple[Forecast, ...] = ()

    @property
    def gain(self) -> float:
        return self.after - self.before


def project_copy(source: Path, folder: Path) -> Path:
    """The project and the data it shares, copied: a seal is written there and not in the fixtures."""
    target = folder / source.parent.name / source.name if source != HEALTHY else folder / "healthy"
    shutil.copytree(source, target)
    data = source.parent.parent / "data"
    if data.is_dir() and not (folder / "data").exists():
        shutil.copytree(data, folder / "data")
    return target


def train_and_measure(project: Path, *, steps: int, seed: int, sealed: bool, foretell: bool) -> Trained:
    """Train the toy model on a project and measure the oracle on its held-out prompts."""
    from trainer.job import Request, prepare_job
    from trainer.rewarding.wrapped import TooManyFailures
    from trainer.run import train

    request = Request(
        str(project),
        model="toy",
        sets=(
            f"max_steps={steps}",
            f"save_steps={WINDOW if foretell else steps}",
            f"seed={seed}",
            "threads=1",
            "samples_every=0",
            "kl_every=0",
        ),
        allow_unsealed=not sealed,
    )
    job = prepare_job(request)
    prompts = [*job.data.train, *job.data.holdout]
    drawn = before_training(prompts, seed)
    before = _mean_oracle(prompts, drawn)
    try:
        outcome = train(request)
    except TooManyFailures as error:
        return Trained(before, before, 0, f"stopped: {str(error).split(';')[0]}")
    after = _mean_oracle(prompts, answers(outcome.run.adapter, prompts, seed, 2 * SAMPLES))
    forecasts: tuple[Forecast, ...] = ()
    if foretell:
        forecasts = follow(
            job, outcome.run, prompts, drawn, lambda one: answers(one, prompts, seed, SAMPLES), features_of
        )
    return Trained(before, after, outcome.step, outcome.status, forecasts)


_BEFORE: dict[tuple[int, str], list[list[str]]] = {}


def before_training(rows: Sequence[Any], seed: int) -> list[list[str]]:
    """Completions of the untrained toy model; made once for runs on the same prompts."""
    key = (seed, str([row["prompt"] for row in rows]))
    if key not in _BEFORE:
        _BEFORE[key] = answers(None, rows, seed, 2 * SAMPLES)
    return _BEFORE[key]


def answers(adapter: Path | None, rows: Sequence[Any], seed: int, samples: int) -> list[list[str]]:
    """Completions of the toy model, with an adapter where one is given, as training samples them."""
    from trainer.backends.transformers import policy_tokenizer_of
    from trainer.environment import use_threads
    from trainer.models.generation import Sampling, complete
    from trainer.models.loading import load_model
    from trainer.models.naming import resolve_model

    use_threads(1)
    folder = resolve_model("toy").path
    model = load_model(folder)
    if adapter is not None:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, adapter)
    sampling = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=20, seed=seed)
    replies = complete(
        model,
        policy_tokenizer_of(folder),
        [row["prompt"] for row in rows],
        samples=samples,
        sampling=sampling,
    )
    return [[one.text for one in group] for group in replies]


def _mean_oracle(rows: Sequence[Any], texts: list[list[str]]) -> float:
    scores = [oracle(text, row["answer"]) for row, group in zip(rows, texts, strict=True) for text in group]
    return sum(scores) / len(scores)


def features_of(text: str, answer: Any) -> dict[str, float]:
    """The features of the workbench's own forecast, and the oracle."""
    from rewards.signal import FEATURES

    return {**{name: function(text) for name, function in FEATURES.items()}, "oracle": oracle(text, answer)}


# ------------------------------------------------------------------------------------- the whole proof


@dataclass(frozen=True)
class Proof:
    """Everything that was measured."""

    steps: int
    seed: int
    refusals: dict[str, Refusal]
    repaired: dict[str, Refusal]
    runs: dict[tuple[str, str], Trained]
    healthy: Trained

    def share(self, name: str, side: str) -> float:
        """The gain of a run as a share of the healthy set's."""
        return self.runs[name, side].gain / self.healthy.gain

    @property
    def forecasts(self) -> list[tuple[str, Forecast]]:
        """Every forecast with the set it is of."""
        named = [
            (name, self.healthy if name == "healthy" else self.runs[name, "flawed"]) for name in FOR_DRIFT
        ]
        return [(name, one) for name, trained in named for one in trained.forecasts]

    def before_launch(self) -> Judged:
        """The forecasts from the untrained model, against the first window."""
        return judge([one for _, one in self.forecasts if one.window == 0])

    def in_the_run(self) -> Judged:
        """Those from each window's batches, against the following window."""
        return judge([one for _, one in self.forecasts if one.window > 0])

    @property
    def stopped(self) -> int:
        return sum(self.refusals[flaw.name].right(flaw) for flaw in flaws())

    def failures(self) -> list[str]:
        """What does not hold, a sentence each."""
        found = []
        if self.stopped < len(self.refusals):
            found.append(
                f"only {self.stopped} of {len(self.refusals)} flawed sets are stopped with the right advice"
            )
        found += [f"the repaired set {name} is refused" for name, one in self.repaired.items() if one.refused]
        for name, side in self.runs:
            share = self.share(name, side)
            if side == "repaired" and share < ENOUGH:
                found.append(f"the repaired set {name} reaches {share:.2f} of the healthy gain")
            if side == "flawed" and share >= TOO_MUCH:
                found.append(f"the flawed set {name} reaches {share:.2f} of the healthy gain")
        for when, judged in (("before launch", self.before_launch()), ("in the run", self.in_the_run())):
            if len(judged.borne_out) < AGREEING * judged.moved:
                found.append(
                    f"{when} the direction of only {len(judged.borne_out)} of {judged.moved} clear drifts was foretold"
                )
        return found


Task = tuple[str, str, str, int, int]


def one_run(task: Task) -> tuple[Refusal, Trained]:
    """Check a project and train it: sealed where it passes, unsealed where it is the flawed one."""
    from trainer.environment import prepare_process, quiet_libraries
    from workbench.cli.check import check_and_seal

    name, side, folder, steps, seed = task
    prepare_process()
    quiet_libraries()
    flaw = next((flaw for flaw in flaws() if flaw.name == name), None)
    project = project_copy(flaw.folder(side) if flaw else HEALTHY, Path(folder) / f"{name}-{side}")
    sealed = side == "repaired" and check_and_seal(str(project), [])
    found = Refusal(False, (), None) if sealed else quick_check(project, flaw)
    foretell = name in FOR_DRIFT and (side == "flawed" or flaw is None)
    return found, train_and_measure(project, steps=steps, seed=seed, sealed=sealed, foretell=foretell)


def prove(
    folder: Path,
    *,
    steps: int = STEPS,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> Proof:
    """Check, repair, train: everything, in `jobs` processes, below `folder`."""
    names = [
        ("healthy", "repaired"),
        *((flaw.name, side) for flaw in flaws() for side in ("flawed", "repaired")),
    ]
    tasks = [(name, side, str(folder), steps, seed) for name, side in names]
    done: dict[tuple[str, str], tuple[Refusal, Trained]] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for key, result in zip(names, pool.map(one_run, tasks), strict=True):
            done[key] = result
            trained = result[1]
            say(f"{', '.join(key)}: {trained.before:.3f} -> {trained.after:.3f}, {trained.ended}")
    _, healthy = done.pop(("healthy", "repaired"))
    return Proof(
        steps,
        seed,
        {name: found for (name, side), (found, _) in done.items() if side == "flawed"},
        {name: found for (name, side), (found, _) in done.items() if side == "repaired"},
        {key: trained for key, (_, trained) in done.items()},
        healthy,
    )


def document(proof: Proof) -> str:
    """docs/own-proof.md."""
    before, after = proof.healthy.before, proof.healthy.after
    lines = [
        "# The product's own proof\n",
        "Written by `python benchmarks/own_proof.py --write docs/own-proof.md`; do not edit. Twelve reward sets on "
        f"sums, each with one flaw and its repair (`fixtures/flawed_sets`), the toy model, {proof.steps} steps, seed "
        f"{proof.seed}.\n",
        "## Stopped before launch, repaired, trained\n",
        "The gain is that of a strict oracle (the right number in tags, nothing around it) on all prompts of the data, "
        f"a fifth of them held out, as a share of what the healthy set gains ({before:.3f} to {after:.3f}). Flawed "
        "sets were launched unsealed, repaired ones after they were sealed.\n",
        "| set | flaw | refused by | advice | gain, flawed | gain, repaired |",
        "|---|---|---|---|---|---|",
    ]
    for flaw in flaws():
        refusal, bad = proof.refusals[flaw.name], proof.runs[flaw.name, "flawed"]
        by = ", ".join(refusal.codes) if refusal.refused else "**not refused**"
        advice = f"{'' if refusal.right(flaw) else '**not right:** '}{refusal.advice or '-'}".replace(
            "|", "\\|"
        )
        gain = f"{proof.share(flaw.name, 'flawed'):.2f}" + (
            "" if bad.ended == "done" else " (the run stopped)"
        )
        lines.append(
            f"| `{flaw.name}` | {flaw.flaw} | {by} | {advice} | {gain} | {proof.share(flaw.name, 'repaired'):.2f} |"
        )
    passed = sum(not one.refused for one in proof.repaired.values())
    lines += [
        f"\n{proof.stopped} of {len(proof.refusals)} flawed sets were stopped with the right repair advised; "
        f"{passed} of {len(proof.repaired)} repaired sets passed.\n",
    ]
    lines += drift_section([*proof.forecasts])
    failures = proof.failures()
    lines.append("\n## Verdict\n")
    lines.append("\n".join(f"- {one}" for one in failures) if failures else "Everything holds.")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="the document to write; default: print it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        proof = prove(
            Path(folder),
            steps=options.steps,
            seed=options.seed,
            jobs=options.jobs,
            say=lambda text: print(text, file=sys.stderr),
        )
    text = document(proof)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 1 if proof.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
