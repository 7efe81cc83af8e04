"""verl: `compute_score` for its naive manager, `compute_score_batch` for its batch manager."""

from __future__ import annotations

from workbench.export.adapter import SCORING, head
from workbench.export.plan import Plan
from workbench.export.system import System, models_left_out, single_score

OWN = '''

def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """The total of one completion under "score", and what each reward gave under its name (NaN: no opinion).

    Rewards that compare the completions of a prompt have nothing to compare here and are left out.
    """
    rewards = [reward for reward in REWARDS if reward["scope"] == "row"]
    return _graded(rewards, [data_source], [solution_str], [ground_truth], [extra_info])[0]


def compute_score_batch(data_sources, solution_strs, ground_truths, extra_infos, **kwargs):
    """The same for a whole batch at once, with the rewards that compare completions."""
    return _graded(REWARDS, data_sources, solution_strs, ground_truths, extra_infos)


def _graded(rewards, data_sources, solution_strs, ground_truths, extra_infos):
    rows = []
    for source, truth, extra in zip(data_sources, ground_truths, extra_infos):
        known = truth if isinstance(truth, dict) else {GOLD: truth} if GOLD else {}
        rows.append({**(extra or {}), "data_source": source, **known})
    columns = {name: [row.get(name) for row in rows] for name in sorted({name for row in rows for name in row})}
    prompts = [row.get("prompt") or row.get("question") or "" for row in rows]
    columns = {name: values for name, values in columns.items() if name not in ("prompt", "completion")}
    given = {reward["name"]: scores(reward, prompts, list(solution_strs), columns) for reward in rewards}
    return [
        {
            "score": total({name: values[row] for name, values in given.items()}),
            **{name: math.nan if values[row] is None else values[row] for name, values in given.items()},
        }
        for row in range(len(rows))
    ]
'''


def adapter(plan: Plan) -> str:
    """The module."""
    return (
        head(plan, f"The rewards of '{plan.name}' for verl: `compute_score`.", plan.functions) + SCORING + OWN
    )


def _use(plan: Plan) -> str:
    return """\
```sh
python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\
    custom_reward_function.path=verl_rewards.py custom_reward_function.name=compute_score
```

or, in one call for the whole batch, `reward_model.reward_manager=batch` and
`custom_reward_function.name=compute_score_batch`. `ground_truth` becomes the column `GOLD` (a mapping: the columns of
its keys), the keys of `extra_info` become columns,
and its `prompt` or `question` the prompt, which verl does not pass."""


def _carries(plan: Plan) -> list[str]:
    return [
        "Weights: `score` is the weighted sum. `params` and `when` too.",
        "None: it adds nothing to the sum, as in TRL, and is NaN under the reward's own name. A completion on which "
        "every reward abstains has 0.0.",
    ]


def _loses(plan: Plan) -> list[str]:
    lost = single_score(plan) + models_left_out(plan, "verl")
    if plan.of_groups:
        names = ", ".join(plan.of_groups)
        lost.append(
            f"Group scope ({names}): only `compute_score_batch` has it, and only where a batch holds whole groups."
        )
    return lost


SYSTEM = System("verl", "verl_rewards.py", adapter, _use, _carries, _loses)
