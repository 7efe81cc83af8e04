"""Evaluation on held-out prompts while a run goes on, paired with the untrained model.

The untrained model answers a fixed set of held-out prompts; every `held_out_every` steps the trained one answers them,
drawn with the same random numbers. Every reward scores both (those of weight 0 too), prompt by prompt, so that the
difference has an interval. Lines go to `evaluations.jsonl`, means and the total's gain to `metrics.jsonl` as
`held_out/...`.

The untrained model is the one with its adapter switched off, in whatever stage it is asked. Full fine-tuning keeps
none: a stage that is the first to ask, or asks for other prompts or lengths than those before, is paired with the
model it begins with, and its lines say so (`base_step`: the steps it had made).

The random state of the training is left as it was: the run is the same with evaluations and without.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.contract import Batch
from trainer.comparing.sides import WITHHELD, Bounds, compare_scores
from trainer.models.generation import Completion, Sampling, complete
from trainer.rewarding.completions import ScoredBatch
from trainer.rundir import RunDir, append_line, strict_json, write_whole
from trainer.watching.listener import Listener

if TYPE_CHECKING:
    from trainer.rewarding.wrapped import Scoring

EVALUATIONS = "evaluations.jsonl"
TOTAL = "total"


class HeldOut(Listener):
    """Evaluates every `every` steps of the run and after the last one that the stage may make.

    Args:
        folder: the run folder.
        rows: held-out rows, `prompt` and columns; each prompt once.
        scoring: scores completions by the stage's rewards.
        tokenizer: the policy's.
        every: steps between evaluations.
        last: the last step of the stage.
        length: most tokens of an answer.
        seed: of the drawing.
        stage: the stage's name, None where there is one only.
    """

    def __init__(
        self,
        folder: Path,
        rows: Sequence[Mapping[str, Any]],
        scoring: Scoring,
        tokenizer: Any,
        *,
        every: int,
        last: int,
        length: int,
        seed: int,
        stage: str | None = None,
    ) -> None:
        self._folder, self._rows = folder, list(rows)
        self._scoring, self._tokenizer = scoring, tokenizer
        self._weights = list(
            scoring.weights
        )  # as declared: adaptive ones would move the measure with the run
        self._every, self._last, self._stage = every, last, stage
        self._sampling = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=length, seed=seed)
        self._trainer: Any = None
        self._base: ScoredBatch | None = None
        self._base_step = 0
        self._told: dict[str, float] = {}

    def begin(self, trainer: Any) -> None:
        """Answer with the untrained model, or read what it answered when the same was asked before."""
        self._trainer = trainer
        path = self._folder / base_file(len(self._rows), self._sampling)
        if not path.exists():
            answers, step = self._answer_untrained()
            lines = [
                strict_json(
                    {
                        "prompt": row["prompt"],
                        "text": one.text,
                        "ids": one.ids,
                        "ended": one.ended,
                        "step": step,
                    }
                )
                + "\n"
                for row, one in zip(self._rows, answers, strict=True)
            ]
            write_whole(path, "".join(lines))
        stored = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        self._base_step = max(int(one["step"]) for one in stored)
        self._base = self._score([Completion(one["text"], one["ids"], one["ended"]) for one in stored])

    def step_ended(self, step: int) -> None:
        """Evaluate where it is time."""
        if step % self._every == 0 or step == self._last:
            self._evaluate(step)

    def completed(self, step: int) -> None:
        """Evaluate what the stage came to."""
        if step % self._every and step != self._last:
            self._evaluate(step)
            self._told = {}  # the step's line is written

    def _evaluate(self, step: int) -> None:
        now = self._score(self._answer())
        assert self._base is not None
        ranges = [one.entry.range for one in self._scoring.bound]
        lines = compare(self._base, now, self._weights, ranges)
        with (self._folder / EVALUATIONS).open("a", encoding="utf-8") as stream:
            said = {"stage": self._stage} if self._stage else {}
            base = {"base_step": self._base_step} if self._base_step else {}
            line = {"step": step, **said, **base, "prompts": len(self._rows), "rewards": lines}
            append_line(stream, line)
        self._told = {f"held_out/{name}": line["now"] for name, line in lines.items()}
        total = lines.get(TOTAL, {})
        for key, name in (("gain", "mean"), ("gain_low", "low"), ("gain_high", "high")):
            if total.get(name) is not None:
                self._told[f"held_out/{key}"] = total[name]

    def metrics(self) -> Mapping[str, float]:
        """The means of the evaluation since the last line."""
        told, self._told = self._told, {}
        return told

    def _answer_untrained(self) -> tuple[list[Completion], int]:
        """What the model says without its adapter; else what it says now, with the steps it has made (0: untrained)."""
        from peft import PeftModel

        model = self._model()
        if isinstance(model, PeftModel):
            with model.disable_adapter():
                return self._answer(), 0
        return self._answer(), steps_before(self._folder, self._stage)

    def _model(self) -> Any:
        return self._trainer.accelerator.unwrap_model(self._trainer.model)

    def _answer(self) -> list[Completion]:
        model = self._model()
        training = model.training
        prompts = [row["prompt"] for row in self._rows]
        try:
            answers = complete(model, self._tokenizer, prompts, sampling=self._sampling)
        finally:
            model.train(training)
        return [one for (one,) in answers]

    def _score(self, answers: Sequence[Completion]) -> ScoredBatch:
        columns = [
            name for name in dict.fromkeys(key for row in self._rows for key in row) if name != "prompt"
        ]
        batch = Batch(
            prompts=[row["prompt"] for row in self._rows],
            completions=[one.as_reply(row["prompt"]) for row, one in zip(self._rows, answers, strict=True)],
            completion_ids=[one.ids for one in answers],
            columns={name: [row.get(name) for row in self._rows] for name in columns},
            groups=[str(number) for number in range(len(self._rows))],
        )
        return self._scoring.score(batch, step=0, split="eval")


def base_file(prompts: int, sampling: Sampling) -> str:
    """Where the untrained model's answers lie: others are needed for other prompts, lengths and random numbers."""
    return f"held-out-base-{prompts}x{sampling.max_new_tokens}-{sampling.seed}.jsonl"


def steps_before(folder: Path, stage: str | None) -> int:
    """The steps that a run had made when a stage of it began; 0 where there is one stage only."""
    if stage is None:
        return 0
    run = RunDir(folder)
    return run.offset([one.name for one in run.stages()].index(stage))


def compare(
    base: ScoredBatch, now: ScoredBatch, weights: Sequence[float], ranges: Sequence[Bounds] = ()
) -> dict[str, dict[str, Any]]:
    """Name -> base's mean, mean now, and the paired difference with its 95 % interval and verdict; the total first.

    `pairs` have a score on both sides, `unscored` counts what has none on either. A verdict that hangs on what has no
    score is withheld, with its interval, so that no alarm rests on it. What nothing could score is left out.
    """
    lines: dict[str, dict[str, Any]] = {}
    found = compare_scores(base.scores, now.scores, weights, ranges)
    for name, side in zip([TOTAL, *base.names], found, strict=True):
        pair, held_back = side.paired, side.verdict == WITHHELD
        if not pair.pairs:
            continue
        lines[name] = {
            "base": side.base,
            "now": side.trained,
            "mean": pair.mean,
            "low": None if held_back else pair.low,
            "high": None if held_back else pair.high,
            "verdict": side.verdict,
            "pairs": pair.pairs,
            "unscored": [side.unscored_base, side.unscored_trained],
        }
    return lines
