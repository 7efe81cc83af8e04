"""A reward that reads chat messages where the samples are text, or the other way round: found by trying, and told."""

from __future__ import annotations

from rewards.contract import Batch, Status
from rewards.rewardset import RewardDescription
from rewards.running import Worker
from workbench.samples import Samples
from workbench.samples.form import WORDS, form_of, read_as

TRIED = 4
"""Rows that are scored in the other form."""


def cause_and_remedy(reward: str, own: str) -> tuple[str, str]:
    """What to say of a reward that fails on samples of the form `own` and scores them in the other."""
    other = "text" if own == "chat" else "chat"
    return (
        f"the samples are {WORDS[own]} and {reward} reads {WORDS[other]}",
        f'Have them read so with --read-as {other} (read_as="{other}" in Python), or for good with read_as = "{other}" '
        "under [set] of the manifest; training hands over what its own data is.",
    )


def sentence(reward: str, own: str) -> str:
    """Both in one sentence."""
    cause, remedy = cause_and_remedy(reward, own)
    return f"{cause}: {remedy[0].lower()}{remedy[1:-1]}"


def other_form_note(
    worker: Worker, reward: RewardDescription, samples: Samples, rows: list[int]
) -> str | None:
    """The sentence, where a reward that raises on `rows` scores the first of them in the other form; else None.

    A reward that is paid for is not tried.
    """
    if reward.entry.cost == "paid" or not rows:
        return None
    own = form_of(samples)
    other = read_as(samples.take(rows[:TRIED]), "text" if own == "chat" else "chat")
    batch = Batch(
        other.prompts,
        other.completions,
        [],
        {name: list(of) for name, of in other.columns.items()},
        other.groups,
    )
    result = worker.call(reward.name, batch)
    scored = bool((result.status == Status.NUMBER).any() and not (result.status >= Status.WRONG_TYPE).any())
    return sentence(reward.name, own) if scored else None
