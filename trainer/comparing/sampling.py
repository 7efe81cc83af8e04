"""What models say to a prompt, side by side: any model alone, or a run's merged model beside its base."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rewards.errors import MissingColumnError, RewardWorkbenchError, UsageError
from rewards.rewardset import SetDescription
from rewards.running import Crew
from trainer.comparing.comparison import rewards_of, score, trained_folder, trained_length, trained_template
from trainer.data.held_out import last_words
from trainer.data.prompts import as_chat
from trainer.environment import find_device
from trainer.job import describe
from trainer.merging.merge import base_of
from trainer.models.generation import Completion, Prompt, Sampling, complete
from trainer.models.loading import load_model, load_tokenizer
from trainer.models.naming import resolve_model
from trainer.rundir import RunDir, find_run

OWN_PROMPTS = 3
"""Held-out prompts of a run that are shown when no prompt is given."""

MOST_ANSWERS = 16
ROWS = 4
"""Answers generated together: few, so that one is told of them as they come."""


@dataclass(frozen=True)
class Answered:
    """One prompt and what each model said to it, by the model's label.

    `ended` is False where an answer was cut off. `held_out` is the number of the held-out prompt, from 1, None for
    a prompt that was typed. `scores` maps labels to rewards to scores (None: no opinion, or it failed) and `totals`
    labels to weighted sums; both are empty where nothing was scored, a total also where a reward could not score.
    """

    prompt: Prompt
    texts: dict[str, str]
    ended: dict[str, bool]
    held_out: int | None = None
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    totals: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A prompt, the columns that rewards read besides it, and its number among the run's held-out ones."""

    prompt: Prompt
    columns: Mapping[str, Any] = field(default_factory=dict)
    held_out: int | None = None


@dataclass(frozen=True)
class Conversation:
    """All answers; `unscored` maps rewards to why they scored none of them, "" to why nothing was scored at all."""

    answered: list[Answered]
    sampling: Sampling
    unscored: Mapping[str, str] = field(default_factory=dict)


CONVERSATION = tuple(one.name for one in fields(Conversation))
"""The keys of a conversation written as JSON."""


def sample(
    model: str | Path,
    prompt: str | None = None,
    *,
    sampling: Sampling = Sampling(),
    say: Callable[[str], None] = lambda text: None,
) -> list[Answered]:
    """Let `model` answer `prompt`; see `converse`, of which this is the short form without scores."""
    return converse(model, prompt, sampling=sampling, say=say).answered


def converse(
    model: str | Path,
    prompt: str | None = None,
    *,
    held_out: Sequence[int] = (),
    answers: int = 1,
    scored: bool = False,
    sampling: Sampling = Sampling(),
    say: Callable[[str], None] = lambda text: None,
) -> Conversation:
    """Let `model` answer; where it is a run, base and merged model answer, each from the same random numbers.

    Args:
        model: a run folder (or its name under runs/), or any model name that `resolve_model` knows.
        prompt: a user's message; without one a run answers held-out prompts.
        held_out: which of the run's held-out prompts, from 1; default: the first few.
        answers: answers of each model to a prompt, 1 to 16.
        scored: let the run's rewards score the answers. A typed prompt has no columns: rewards that read any cannot.
        sampling: the run's `max_completion_length` replaces `max_new_tokens` where the run has one.
        say: takes each line of progress.

    Raises:
        UsageError: no such model, a run that is not merged, no prompt to answer, or no such held-out prompt.
    """
    if not 1 <= answers <= MOST_ANSWERS:
        raise UsageError(f"answers must be 1 to {MOST_ANSWERS}, not {answers}")
    run = _as_run(model)
    if run is None:
        if prompt is None:
            raise UsageError(f"give a prompt for {model} with --prompt")
        if held_out or scored:
            raise UsageError(
                f"{model} is no run: it has neither held-out prompts nor rewards that could score"
            )
        folders = {str(model): resolve_model(model, say=say).path}
        asked = [Asked(_asked(prompt, "", folders[str(model)]))]
    else:
        trained = trained_folder(run)
        folders = {"base": resolve_model(base_of(run), say=say).path, "trained": trained}
        asked = _prompts(run, prompt, held_out, trained)
        sampling = _as_trained(run, sampling)
    template = trained_template(run) if run is not None else {}
    said = side_by_side(
        folders, [one.prompt for one in asked], sampling, answers=answers, template=template, say=say
    )
    answered = _answered(asked, said, answers)
    unscored: dict[str, str] = {}
    if scored and run is not None:
        say("scoring the answers ...")
        answered, unscored = _scored(run, asked, said, answered)
    return Conversation(answered, sampling, unscored)


def side_by_side(
    folders: dict[str, Path],
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    answers: int = 1,
    template: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, list[list[Completion]]]:
    """What the models in `folders` (label -> folder) say to each prompt, `answers` times.

    The models are loaded one after the other; `template` holds `chat_template_kwargs`.
    """
    said = {}
    for label, folder in folders.items():
        say(f"{label}: loading {folder.name} ...")
        loaded = load_model(folder, dtype="auto").to(find_device())
        said[label] = complete(
            loaded,
            load_tokenizer(folder, template=template),
            prompts,
            samples=answers,
            sampling=sampling,
            rows=ROWS,
            progress=_counted(say, label),
        )
    return said


def _counted(say: Callable[[str], None], label: str) -> Callable[[int, int], None]:
    return lambda done, of: say(f"{label}: {done} of {of} answers")


def _answered(
    asked: Sequence[Asked], said: Mapping[str, list[list[Completion]]], answers: int
) -> list[Answered]:
    return [
        Answered(
            one.prompt,
            {label: said[label][number][at].text for label in said},
            {label: said[label][number][at].ended for label in said},
            one.held_out,
        )
        for number, one in enumerate(asked)
        for at in range(answers)
    ]


def _scored(
    run: RunDir,
    asked: Sequence[Asked],
    said: Mapping[str, list[list[Completion]]],
    answered: Sequence[Answered],
) -> tuple[list[Answered], dict[str, str]]:
    """The answers with their scores, and why which reward scored none.

    A set that cannot be loaded any more scores nothing; the answers are there all the same.
    """
    try:
        target, names = rewards_of(run)
        description, _ = describe(target)
        names = names or tuple(description.names)
        unscored, able = _able(description, names, asked)
        if not able:
            return list(answered), unscored
        rows = [{"prompt": one.prompt, **one.columns} for one in asked]
        with Crew(target, able) as crew:
            batches = {label: score(crew, rows, answers) for label, answers in said.items()}
    except RewardWorkbenchError as error:
        return list(answered), {"": str(error)}
    for batch in batches.values():
        for errors in batch.errors.values():
            for name, why in errors.items():
                unscored.setdefault(name, why)
    whole = all(name in able or not description.reward(name).entry.weight for name in names)
    return [
        replace(
            one,
            scores={
                label: {name: _known(batch.scores[row, at]) for at, name in enumerate(batch.names)}
                for label, batch in batches.items()
            },
            totals={label: _known(batch.totals[row]) if whole else None for label, batch in batches.items()},
        )
        for row, one in enumerate(answered)
    ], unscored


def _able(
    description: SetDescription, names: Sequence[str], asked: Sequence[Asked]
) -> tuple[dict[str, str], list[str]]:
    """Why which rewards cannot score these prompts, and the others."""
    columns = {name: None for one in asked for name in one.columns}
    unscored, able = {}, []
    for name in names:
        try:
            description.only([name]).require_columns(columns)
        except MissingColumnError as error:
            unscored[name] = str(error)
        else:
            able.append(name)
    return unscored, able


def _known(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None


def to_json(conversation: Conversation) -> dict[str, Any]:
    """All of it as plain values: `answered`, `sampling`, `unscored`."""
    return asdict(conversation)


def to_text(answered: Sequence[Answered]) -> str:
    """Prompts and answers as text; an answer that was cut off ends in `...`."""
    blocks = []
    for one in answered:
        lines = [f"> {last_words(one.prompt)}"]
        for label, text in one.texts.items():
            shown = text if one.ended[label] else f"{text} ..."
            head = f"[{label}]{_told(one, label)}"
            lines += [head, shown] if len(one.texts) > 1 else [shown]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _told(one: Answered, label: str) -> str:
    """The scores of an answer, "" where it has none."""
    scores = one.scores.get(label)
    if not scores:
        return ""
    listed = ", ".join(
        f"{name} {'None' if value is None else f'{value:.2f}'}" for name, value in scores.items()
    )
    total = one.totals.get(label)
    return f" {listed}" if total is None else f" total {total:.2f} ({listed})"


def _as_run(model: str | Path) -> RunDir | None:
    """The run that `model` names, or None where it is a model."""
    path = Path(model).expanduser()
    named = Path.cwd() / "runs" / str(model)
    is_run = (path / "stages.json").is_file() or (not path.exists() and (named / "stages.json").is_file())
    return find_run(path if path.exists() else model) if is_run else None


def _prompts(run: RunDir, prompt: str | None, held_out: Sequence[int], folder: Path) -> list[Asked]:
    if prompt is not None:
        if held_out:
            raise UsageError("give --prompt or --held-out, not both")
        return [Asked(_asked(prompt, str(run.manifest().get("data", {}).get("system_prompt", "")), folder))]
    rows = run.holdout()
    if not rows:
        raise UsageError(f"{run.path} has no held-out prompts; give one with --prompt")
    wrong = [number for number in held_out if not 1 <= number <= len(rows)]
    if wrong:
        raise UsageError(f"--held-out {wrong[0]}: the run has {len(rows)} held-out prompts, numbered from 1")
    chosen = held_out or range(1, min(OWN_PROMPTS, len(rows)) + 1)
    return [
        Asked(rows[n - 1]["prompt"], {k: v for k, v in rows[n - 1].items() if k != "prompt"}, n)
        for n in chosen
    ]


def _asked(prompt: str, system_prompt: str, folder: Path) -> Prompt:
    """The prompt as chat, under the run's system prompt; as it is where the model knows no chat."""
    return as_chat(prompt, system_prompt) if load_tokenizer(folder).chat_template else prompt


def _as_trained(run: RunDir, sampling: Sampling) -> Sampling:
    tokens = trained_length(run) or sampling.max_new_tokens
    return Sampling(sampling.temperature, sampling.top_p, tokens, sampling.seed)
