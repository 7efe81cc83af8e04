"""RW807: prompts and completions that do not fit; made by `preflight`."""

from __future__ import annotations

from workbench.checks.data.in_preflight import InPreflight
from workbench.checks.finding import Cost


class PromptLength(InPreflight):
    """Prompts are too long, or completions have no room to end.

    Looked at by `reward-workbench preflight`, because it needs the model's tokenizer: tokens of the prompts with the
    chat template, what `max_prompt_length` leaves out, whether prompt and completion fit the context, and how many of
    the samples are longer than `max_completion_length` and would be cut.

    Example:
        max_completion_length = 256, while right samples have 400 tokens: none of them can be written

    Remedy:
        Raise `max_completion_length`, shorten the prompts, or ask for shorter reasoning.
    """

    code = "RW807"
    name = "prompt-length"
    severity = "warning"
    summary = "prompts or completions do not fit (in preflight)"
    cost = Cost.TEACHES_NOTHING
