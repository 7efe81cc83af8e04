"""OpenRLHF: `reward_func(queries, prompts, labels)`."""

from __future__ import annotations

from workbench.export.adapter import SCORING, head
from workbench.export.plan import Plan
from workbench.export.system import System, models_left_out, single_score

OWN = '''
ENDINGS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "</s>", "<eos>", "<end_of_turn>", "<pad>")
"""What a completion ends with and no reward should see: OpenRLHF decodes with special tokens."""


def reward_func(queries, prompts, labels, **kwargs):
    """Weighted sums as rewards, the same within 0 and 1 as scores, each reward's own for the logs (NaN: no opinion)."""
    import torch

    completions = [_completion(query, prompt) for query, prompt in zip(queries, prompts)]
    columns = _columns(labels)
    given = {reward["name"]: scores(reward, list(prompts), completions, columns) for reward in REWARDS}
    totals = [total({name: values[row] for name, values in given.items()}) for row in range(len(completions))]
    return {
        "rewards": torch.tensor(totals, dtype=torch.float32),
        "scores": torch.tensor([min(max(value / BEST, 0.0), 1.0) for value in totals], dtype=torch.float32),
        "extra_logs": {
            name: torch.tensor([math.nan if value is None else value for value in values], dtype=torch.float32)
            for name, values in given.items()
        },
    }


def _completion(query, prompt):
    text = query[len(prompt) :] if query.startswith(prompt) else query
    while text.rstrip().endswith(ENDINGS):
        text = text.rstrip()
        text = text[: -max(len(ending) for ending in ENDINGS if text.endswith(ending))]
    return text


def _columns(labels):
    """Labels as columns: a mapping (or one as JSON) has several, anything else is the ground truth."""
    rows = []
    for label in labels:
        if isinstance(label, str) and label.lstrip().startswith("{"):
            try:
                label = json.loads(label)
            except ValueError:
                pass
        rows.append(label if isinstance(label, dict) else {GOLD: label} if GOLD else {})
    return {name: [row.get(name) for row in rows] for name in sorted({name for row in rows for name in row})}
'''


def adapter(plan: Plan) -> str:
    """The module."""
    rewards = [reward for reward in plan.functions if reward.entry.scope == "row"]
    best = sum(
        reward.entry.weight * (reward.entry.range[1] if reward.entry.range else 1.0)
        for reward in rewards
        if reward.entry.weight > 0
    )
    text = head(plan, f"The rewards of '{plan.name}' for OpenRLHF: `reward_func`.", rewards)
    text = text.replace("import inspect\nimport math\n", "import inspect\nimport json\nimport math\n")
    note = '"""The most that the total can be, by the declared ranges (1 where none is declared); for `scores`."""'
    return f"{text}\nBEST = {best or 1.0!r}\n{note}\n{SCORING}{OWN}"


def _use(plan: Plan) -> str:
    return """\
```sh
python -m openrlhf.cli.train_ppo_ray --remote_rm_url openrlhf_rewards.py --label_key LABEL_COLUMN ...
```

A label becomes the column `GOLD`; a label that is a JSON object becomes a column for each key."""


def _carries(plan: Plan) -> list[str]:
    return [
        "Weights: `rewards` is the weighted sum. `params` and `when` too.",
        "None: it adds nothing to the sum, as in TRL, and is NaN in the logs.",
    ]


def _loses(plan: Plan) -> list[str]:
    lost = [*single_score(plan), *models_left_out(plan, "OpenRLHF")]
    if plan.of_groups:
        names = ", ".join(plan.of_groups)
        lost.append(
            f"Group scope: left out ({names}), since OpenRLHF cuts a batch without regard to prompts."
        )
    lost.append(
        "Special tokens at the end of a completion are cut off (`ENDINGS`); add your model's if they are others."
    )
    return lost


SYSTEM = System("openrlhf", "openrlhf_rewards.py", adapter, _use, _carries, _loses)
