"""RW808: a tag that the chat template opens; made by `preflight`."""

from __future__ import annotations

from workbench.checks.data.in_preflight import InPreflight
from workbench.checks.finding import Cost


class OpenedThinking(InPreflight):
    """The chat template opens a thinking tag in the prompt, and a reward waits for it in the completion.

    Templates of thinking models end the prompt with `<think>`. The completion then starts inside the tag and never
    opens it, so a pattern that begins with `<think>` pays nobody. Looked at by `reward-workbench preflight`, because
    it needs the model's chat template.

    Example:
        re.match(r"^<think>.*?</think>", text, re.DOTALL)        # never true with such a template

    Remedy:
        Let the opening tag be optional in the reward, or train with a template that does not open it.
    """

    code = "RW808"
    name = "opened-thinking"
    severity = "warning"
    summary = "the chat template opens a tag that a reward waits for (in preflight)"
    cost = Cost.TEACHES_NOTHING
