"""verifiers: functions and weights for its `Rubric`."""

from __future__ import annotations

from workbench.export.adapter import SCORING, head
from workbench.export.plan import Plan
from workbench.export.system import System, models_left_out, single_score

OWN = '''

def _of_one(reward):
    """A function of one rollout, as verifiers calls it."""

    def call(prompt, completion, answer="", state=None, info=None, **kwargs):
        value = scores(reward, [prompt], [completion], _columns([answer], [info]))[0]
        return 0.0 if value is None or math.isnan(value) else value

    call.__name__ = call.__qualname__ = reward["name"]
    return call


def _of_group(reward):
    """A function of all rollouts of a prompt; verifiers knows it by its plural parameters."""

    def call(prompts, completions, answers=None, states=None, infos=None, **kwargs):
        count = len(completions)
        values = scores(reward, prompts, completions, _columns(answers or [""] * count, infos or [None] * count))
        return [0.0 if value is None or math.isnan(value) else value for value in values]

    call.__name__ = call.__qualname__ = reward["name"]
    return call


def _columns(answers, infos):
    rows = [{**(info or {}), **({GOLD: answer} if GOLD else {})} for answer, info in zip(answers, infos)]
    return {name: [row.get(name) for row in rows] for name in sorted({name for row in rows for name in row})}


FUNCS = [_of_group(reward) if reward["scope"] == "group" else _of_one(reward) for reward in REWARDS]
WEIGHTS = [reward["weight"] for reward in REWARDS]


def rubric(**options):
    """The rewards as a rubric."""
    import verifiers

    return verifiers.Rubric(funcs=FUNCS, weights=WEIGHTS, **options)
'''


def adapter(plan: Plan) -> str:
    """The module."""
    return (
        head(plan, f"The rewards of '{plan.name}' for verifiers: `rubric()`.", plan.functions) + SCORING + OWN
    )


def _use(plan: Plan) -> str:
    return """\
```python
import verifiers as vf
from verifiers_rewards import rubric

environment = vf.SingleTurnEnv(dataset=data, rubric=rubric())
```

`answer` becomes the column `GOLD`, the keys of `info` become columns of their own. This is for environments with a
`Rubric` (verifiers 0.1)."""


def _carries(plan: Plan) -> list[str]:
    carried = ["Weights, `params` and `when`."]
    if plan.of_groups:
        carried.append(
            f"Group scope ({', '.join(plan.of_groups)}): as functions of all rollouts of a prompt."
        )
    return carried


def _loses(plan: Plan) -> list[str]:
    none = "None: verifiers wants a number, so a reward without an opinion gives 0.0, which is an opinion."
    errors = "Errors: verifiers logs a reward that raises and counts 0.0."
    return [none, errors, *single_score(plan), *models_left_out(plan, "verifiers")]


SYSTEM = System("verifiers", "verifiers_rewards.py", adapter, _use, _carries, _loses)
