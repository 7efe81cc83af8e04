"""What models say to a prompt, side by side: any model alone, or a run's merged model beside its base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.comparison import trained_folder
from trainer.data import as_chat
from trainer.environment import find_device
from trainer.generation import Prompt, Sampling, complete
from trainer.held_out import last_words
from trainer.loading import load_model, load_tokenizer
from trainer.merge import base_of
from trainer.models import resolve_model
from trainer.rundir import RunDir, find_run

OWN_PROMPTS = 3
"""Held-out prompts of a run that are shown when no prompt is given."""


@dataclass(frozen=True)
class Answered:
    """One prompt and what each model said to it, by the model's label.

    `ended` is False where an answer was cut off.
    """

    prompt: Prompt
    texts: dict[str, str]
    ended: dict[str, bool]


def sample(
    model: str | Path,
    prompt: str | None = None,
    *,
    sampling: Sampling = Sampling(),
    say: Callable[[str], None] = lambda text: None,
) -> list[Answered]:
    """Let `model` answer `prompt`; where it is a run, base and merged model answer, each from the same random
    numbers.

    Args:
        model: a run folder (or its name under runs/), or any model name that `resolve_model` knows.
        prompt: a user's message; without one a run answers its first held-out prompts.
        sampling: the run's `max_completion_length` replaces `max_new_tokens` where the run has one.
        say: takes each line of progress.

    Raises:
        UsageError: no such model, a run that is not merged, or no prompt to answer.
    """
    run = _as_run(model)
    if run is None:
        if prompt is None:
            raise UsageError(f"give a prompt for {model} with --prompt")
        folders = {str(model): resolve_model(model, say=say).path}
        prompts = [_asked(prompt, "", folders[str(model)])]
    else:
        trained = trained_folder(run)
        folders = {"base": resolve_model(base_of(run), say=say).path, "trained": trained}
        prompts = _prompts(run, prompt, trained)
        sampling = _as_trained(run, sampling)
    return side_by_side(folders, prompts, sampling, say=say)


def side_by_side(
    folders: dict[str, Path],
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    say: Callable[[str], None] = lambda text: None,
) -> list[Answered]:
    """What the models in `folders` (label -> folder) say to each prompt.

    The models are loaded one after the other.
    """
    said: dict[str, Any] = {}
    for label, folder in folders.items():
        say(f"{label}: answering {len(prompts)} prompt{'s' if len(prompts) != 1 else ''} ...")
        loaded = load_model(folder, dtype="auto").to(find_device())
        said[label] = complete(loaded, load_tokenizer(folder), prompts, sampling=sampling)
    return [
        Answered(
            prompt,
            {label: said[label][number][0].text for label in folders},
            {label: said[label][number][0].ended for label in folders},
        )
        for number, prompt in enumerate(prompts)
    ]


def to_text(answered: Sequence[Answered]) -> str:
    """Prompts and answers as text; an answer that was cut off ends in `...`."""
    blocks = []
    for one in answered:
        lines = [f"> {last_words(one.prompt)}"]
        for label, text in one.texts.items():
            shown = text if one.ended[label] else f"{text} ..."
            lines += [f"[{label}]", shown] if len(one.texts) > 1 else [shown]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _as_run(model: str | Path) -> RunDir | None:
    """The run that `model` names, or None where it is a model."""
    path = Path(model).expanduser()
    named = Path.cwd() / "runs" / str(model)
    is_run = (path / "stages.json").is_file() or (not path.exists() and (named / "stages.json").is_file())
    return find_run(path if path.exists() else model) if is_run else None


def _prompts(run: RunDir, prompt: str | None, folder: Path) -> list[Prompt]:
    if prompt is not None:
        return [_asked(prompt, str(run.manifest().get("data", {}).get("system_prompt", "")), folder)]
    prompts = [row["prompt"] for row in run.holdout()[:OWN_PROMPTS]]
    if not prompts:
        raise UsageError(f"{run.path} has no held-out prompts; give one with --prompt")
    return prompts


def _asked(prompt: str, system_prompt: str, folder: Path) -> Prompt:
    """The prompt as chat, under the run's system prompt; as it is where the model knows no chat."""
    return as_chat(prompt, system_prompt) if load_tokenizer(folder).chat_template else prompt


def _as_trained(run: RunDir, sampling: Sampling) -> Sampling:
    length = run.manifest().get("train", {}).get("max_completion_length")
    tokens = int(length) if length else sampling.max_new_tokens
    return Sampling(sampling.temperature, sampling.top_p, tokens, sampling.seed)
