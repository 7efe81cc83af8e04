"""ms-swift: an ORM class for each reward, registered in `orms`."""

from __future__ import annotations

import json

from workbench.export.adapter import SCORING, head
from workbench.export.plan import Plan
from workbench.export.system import System, models_left_out

OWN = '''
try:
    from swift.rewards import ORM, orms  # version 4
except ImportError:
    from swift.plugin import ORM, orms  # version 3


def _orm(reward):
    """A class whose objects ms-swift calls with texts and the columns of the data set as lists."""

    class Reward(ORM):
        def __call__(self, completions, **kwargs):
            count = len(completions)
            columns = {
                name: values for name, values in kwargs.items() if isinstance(values, list) and len(values) == count
            }
            if GOLD and GOLD not in columns and "solution" in columns:
                columns[GOLD] = columns["solution"]
            prompts = [_prompt(messages) for messages in columns.pop("messages", [[]] * count)]
            return scores(reward, prompts, list(completions), columns)

    Reward.__name__ = Reward.__qualname__ = reward["name"]
    return Reward


def _prompt(messages):
    """The messages without the model's own last one."""
    messages = list(messages or [])
    return messages[:-1] if messages and messages[-1].get("role") == "assistant" else messages


for _reward in REWARDS:
    orms[_reward["name"]] = _orm(_reward)
'''


def adapter(plan: Plan) -> str:
    """The module."""
    return head(plan, f"The rewards of '{plan.name}' for ms-swift.", plan.functions) + SCORING + OWN


def _use(plan: Plan) -> str:
    names = " ".join(_shell(reward.entry.name) for reward in plan.functions)
    weights = " ".join(f"{reward.entry.weight:g}" for reward in plan.functions)
    return f"""\
```sh
swift rlhf --rlhf_type grpo --external_plugins ms_swift_rewards.py \\
    --reward_funcs {names} --reward_weights {weights} ...
```

Columns of the data set arrive under their names; a column `solution` also fills `GOLD` where that is missing."""


def _shell(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _carries(plan: Plan) -> list[str]:
    return [
        "Weights: with the line above, in the same order. `params` and `when` too.",
        "None: as None, which ms-swift leaves out of the sum.",
    ]


def _loses(plan: Plan) -> list[str]:
    lost = models_left_out(plan, "ms-swift")
    if plan.aggregation != "sum_then_normalize":
        lost.append(f'`aggregation = "{plan.aggregation}"` does not: choose ms-swift\'s own setting.')
    if plan.of_groups:
        names = ", ".join(plan.of_groups)
        lost.append(
            f"Group scope ({names}): a device's batch may cut a group in two; see that it holds whole groups."
        )
    return lost or ["Deadlines and memory limits."]


SYSTEM = System("ms-swift", "ms_swift_rewards.py", adapter, _use, _carries, _loses)
