"""TRL: a module with `reward_funcs`, `reward_weights` and the settings of `GRPOConfig` that belong to the set."""

from __future__ import annotations

from workbench.export.adapter import head
from workbench.export.plan import Plan
from workbench.export.system import System

OWN = '''

def _bound(reward):
    """The function with its params bound, abstaining where `when` does not hold, under the reward's name."""
    function, params, when = FUNCTIONS[reward["name"]], reward["params"], reward["when"]
    if not params and not when and getattr(function, "__name__", "") == reward["name"]:
        return function

    def chosen(keywords):
        count = len(keywords["completions"])
        rows = [
            row
            for row in range(count)
            if all(
                name in keywords and keywords[name][row] in (value if isinstance(value, list) else [value])
                for name, value in when.items()
            )
        ]
        if len(rows) < count:
            keywords = {
                name: [value[row] for row in rows] if isinstance(value, list) and len(value) == count else value
                for name, value in keywords.items()
            }
        return rows, count, {**keywords, **params}

    def spread(rows, count, values):
        given = [None] * count
        for row, value in zip(rows, values):
            given[row] = value
        return given

    def call(**keywords):
        rows, count, keywords = chosen(keywords)
        return spread(rows, count, function(**keywords)) if rows else [None] * count

    async def call_async(**keywords):
        rows, count, keywords = chosen(keywords)
        return spread(rows, count, await function(**keywords)) if rows else [None] * count

    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))
    bound = call_async if is_async else call
    bound.__name__ = bound.__qualname__ = reward["name"]
    return bound


reward_funcs = [_bound(reward) for reward in REWARDS] + MODELS
reward_weights = [reward["weight"] for reward in REWARDS] + MODEL_WEIGHTS
grpo_settings = {"reward_weights": reward_weights, **SETTINGS}
'''


def adapter(plan: Plan) -> str:
    """The module."""
    models = [reward.reference for reward in plan.models]
    weights = [reward.entry.weight for reward in plan.models]
    settings = {"multi_objective_aggregation": plan.aggregation, "scale_rewards": plan.scale_rewards}
    data = f"\nMODELS = {models!r}\nMODEL_WEIGHTS = {weights!r}\nSETTINGS = {settings!r}\n"
    return (
        head(plan, f"The rewards of '{plan.name}' for TRL: `reward_funcs`, `reward_weights`.", plan.functions)
        + data
        + OWN
    )


def _use(plan: Plan) -> str:
    return """\
```python
from trl import GRPOConfig, GRPOTrainer
from trl_rewards import grpo_settings, reward_funcs

trainer = GRPOTrainer(model, reward_funcs=reward_funcs, args=GRPOConfig(..., **grpo_settings), train_dataset=data)
```"""


def _carries(plan: Plan) -> list[str]:
    carried = ["Weights, names, `params`, `when`, None, group scope, aggregation and scaling: all of it."]
    models = ", ".join(reward.entry.name for reward in plan.models)
    return carried + (
        [f"Reward models ({models}) by name; a folder is named by its place on this machine."]
        if models
        else []
    )


def _loses(plan: Plan) -> list[str]:
    return [
        "Deadlines, memory limits and processes of their own: a reward that raises or hangs stops the run."
    ]


SYSTEM = System("trl", "trl_rewards.py", adapter, _use, _carries, _loses)
