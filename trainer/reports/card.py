"""The model card of a run: README.md, written from what the run folder holds and from nothing else, and the report.

It says what the model was paid for, how strong the evidence was that those rewards pay for the right thing,
under which settings it was trained, and how it compares with its base. What is missing is said to be missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.reports.report import UNREADABLE, held_out_every, write_report
from trainer.reports.stages import (
    courses,
    reward_rows,
    rewards_of_stage,
    settings_rows,
    stage_tables,
    unused_rewards,
    watched_rewards,
    weights_of_stages,
)
from trainer.reports.stretches import Stretch, earlier, read_stretches, sentences
from trainer.rundir import RunDir, write_whole
from trainer.runfiles import RunFacts, read_facts

CARD = "README.md"
HUB_NAMES = {"smollm2": "HuggingFaceTB/SmolLM2-135M-Instruct"}
SHOWN_SETTINGS = (
    "backend",
    "load_in_4bit",
    "learning_rate",
    "optim",
    "lr_scheduler_type",
    "max_steps",
    "num_generations",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "max_prompt_length",
    "max_completion_length",
    "temperature",
    "beta",
    "loss_type",
    "seed",
)


def write_card(run: RunDir) -> Path:
    """Write README.md into the run folder and, where there is one, into its merged model; and report.html anew.

    Returns the first.
    """
    path = run.path / CARD
    try:
        text = card(run)
        write_whole(path, text)
        if (run.path / "merged" / "config.json").is_file():
            write_whole(run.path / "merged" / CARD, text)
        write_report(run)
    except OSError as error:
        raise UsageError(
            f"the model card {path} or the report cannot be written: {error.strerror or error}"
        ) from error
    except UNREADABLE as error:
        raise UsageError(
            f"the model card {path} or the report cannot be written, since a file in {run.path} is damaged: {error!r}"
        ) from error
    return path


def card(run: RunDir) -> str:
    """The card's text, front matter first."""
    facts, manifest = read_facts(run), run.manifest()
    stretches = read_stretches(run, facts)
    name = str(manifest.get("set", {}).get("name") or run.name)
    rewards = [
        rewards_text(run, manifest),
        *earlier_texts(run, manifest, stretches),
        seal_text(facts, stretches),
    ]
    parts = [
        front_matter(facts, name),
        f"# {name}\n\n{_opening(run, facts, manifest)}",
        "## Rewards\n\n" + "\n\n".join(rewards),
        f"## Training\n\n{training_text(run, manifest, stretches)}",
        f"## Watched\n\n{watch_text(run)}",
        f"## Data\n\n{data_text(facts, manifest)}",
        f"## Compared with the base\n\n{_told(comparison_text, run.path / 'comparison.json')}",
        f"## The merge\n\n{_told(proof_text, run.path / 'merge-proof.json')}",
        f"## Limits\n\n{limits_text(run, facts, manifest)}",
        f"## Made with\n\n{versions_text(run)}",
    ]
    return "\n\n".join(parts) + "\n"


def front_matter(facts: RunFacts, name: str) -> str:
    """The YAML the Hub reads; texts are JSON strings, which are YAML too."""
    base = HUB_NAMES.get(facts.model, facts.model)
    lines = ["---", "library_name: transformers", "pipeline_tag: text-generation"]
    if (
        "/" in base
        and not Path(base).is_absolute()
        and not base.startswith((".", "~"))
        and not base.endswith(".gguf")
    ):
        lines.append(f"base_model: {json.dumps(base)}")
    lines += [f"model_name: {json.dumps(name)}", "tags:", "- trl", "- grpo", "- reward-workbench", "---"]
    return "\n".join(lines)


def _opening(run: RunDir, facts: RunFacts, manifest: Mapping[str, Any]) -> str:
    stages = run.stages()
    made, planned = sum(stage.step for stage in stages), sum(stage.max_steps for stage in stages)
    how = "LoRA" if manifest.get("train", {}).get("lora") else "full fine-tuning"
    done = "" if made >= planned or run.is_finished() else f" of {planned} planned"
    text = (
        f"`{HUB_NAMES.get(facts.model, facts.model)}` trained with GRPO ({how}) for {made} steps{done}, "
        f"by the rewards below. Started {facts.created}."
    )
    told = len(stages) > 1 or any(table.get("where") for table in stage_tables(run, manifest))
    return f"{text}\n\n{stages_text(run, manifest)}" if told else text


def stages_text(run: RunDir, manifest: Mapping[str, Any]) -> str:
    """The stages as a table: rewards with the weights that are the stage's own, rows, steps, how it ended."""
    rows = ["| stage | rewards | rows | steps | |", "|---|---|---|---|---|"]
    for stage, table, weights in zip(
        run.stages(), stage_tables(run, manifest), weights_of_stages(run, manifest), strict=True
    ):
        names = rewards_of_stage(table, weights)
        where = table.get("where")
        kept = ", ".join(f"{column} in {value}" for column, value in where.items()) if where else "all"
        rows.append(
            f"| {stage.name} | {names} | {kept} | {stage.step} of {stage.max_steps} | {stage.reason or ''} |"
        )
    return "\n".join(rows)


def watch_text(run: RunDir) -> str:
    """What the monitor told: the worst of each diagnosis, at the step it was first told."""
    worst: dict[str, dict[str, Any]] = {}
    order = ("info", "warning", "critical")
    for line in run.diagnoses():
        before = worst.get(line["name"])
        if before is None or order.index(line["severity"]) > order.index(before["severity"]):
            worst[line["name"]] = line
    serious = [line for line in worst.values() if line["severity"] != "info"]
    if not serious:
        return "The monitor had nothing to warn of."
    return "\n".join(
        f"- **{line['name']}** ({line['severity']}, step {line['step']}): {line['seen']}. {line['means']}."
        for line in serious
    )


def rewards_text(run: RunDir, manifest: Mapping[str, Any]) -> str:
    """The rewards the run used as a table, with the weights it used them with."""
    rows = ["| reward | kind | weight | range |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(cells)} |" for cells in reward_rows(run, manifest)]
    settings = manifest.get("set", {})
    combined = (
        f"Combined by `{settings.get('aggregation', 'sum_then_normalize')}`, advantages scaled by "
        f"`{settings.get('scale_rewards', 'group')}`."
    )
    unused = unused_rewards(run, manifest)
    left = f" In the set, but not used in this run: {', '.join(unused)}." if unused else ""
    return "\n".join([*rows, f"\n{combined}{left}"])


def earlier_texts(run: RunDir, manifest: Mapping[str, Any], stretches: Sequence[Stretch]) -> list[str]:
    """Of a run that was resumed on other rewards: those of the steps before."""
    return [
        f"{steps}." if tables is None else f"{steps}:\n\n{rewards_text(run, {**manifest, **tables})}"
        for steps, tables in earlier(stretches)
    ]


def seal_text(facts: RunFacts, stretches: Sequence[Stretch] = ()) -> str:
    """How far the rewards were proved before the steps that were paid by them."""
    if len(stretches) > 1:
        return (
            f"**Not sealed as a whole**: {'; '.join(sentences(stretches))}. The run was resumed on other rewards with "
            "`--allow-unsealed`, so nobody has shown of all of them that they pay for the task and only for it."
        )
    if not facts.sealed:
        why = f" ({'; '.join(facts.unsealed_because)})" if facts.unsealed_because else ""
        return (
            f"**Not sealed**{why}: the run was made with `--allow-unsealed`, so nobody has shown that these rewards "
            "pay for the task and only for it."
        )
    if facts.evidence == "weak":
        return (
            f"Sealed (`{facts.fingerprint[:12]}`), on **weak evidence**: there were no completions labelled right and "
            "wrong, so the checks could not tell whether right ones are paid more."
        )
    return f"Sealed (`{facts.fingerprint[:12]}`), checked on completions labelled right and wrong."


def training_text(run: RunDir, manifest: Mapping[str, Any], stretches: Sequence[Stretch] = ()) -> str:
    """Hyperparameters, those that stages differ in among them, and how the reward went in each."""
    train = manifest.get("train", {})
    settings = dict(settings_rows(manifest))
    own = [name for table in train.get("stage", []) for name in table if name in settings]
    rows = ["| setting | value |", "|---|---|", f"| preset | {train.get('preset', '-')} |"]
    rows += [
        f"| {name} | {settings[name]} |"
        for name in dict.fromkeys([*SHOWN_SETTINGS, *own])
        if name in settings
    ]
    lora = train.get("lora")
    if isinstance(lora, Mapping):
        targets = lora.get("targets")
        listed = ", ".join(targets) if isinstance(targets, list) else targets
        rows.append(
            f"| LoRA | r {lora.get('r')}, alpha {lora.get('alpha')}, dropout {lora.get('dropout')}, on {listed} |"
        )
    rows += courses_text(run, manifest, stretches)
    rows.append("\nEvery setting stands in `manifest.toml`; `reproduce.sh` trains this run again.")
    return "\n".join(rows)


def courses_text(run: RunDir, manifest: Mapping[str, Any], stretches: Sequence[Stretch]) -> list[str]:
    """How the total went, a paragraph for every stage: totals of different rewards are not compared."""
    told = []
    for one in courses(run, manifest, [stretch.first for stretch in stretches[1:]]):
        if one.lines < 2:
            continue
        name = f"{one.name[:1].upper()}{one.name[1:]}: mean" if one.name else "Mean"
        moved = " Weights adapted in between, so the two are not weighed alike." if one.moved else ""
        told.append(
            f"\n{name} total reward of the first {one.count} logged steps {one.first:.3f}, of the last {one.count} "
            f"{one.last:.3f}.{moved}"
        )
    return told


def data_text(facts: RunFacts, manifest: Mapping[str, Any]) -> str:
    """What it was trained on."""
    data = manifest.get("data", {})
    text = (
        f"{facts.train_prompts} prompts from `{Path(str(data.get('train', '?'))).name}`, "
        f"{facts.holdout_prompts} held out (fingerprint of rows and split `{facts.data_fingerprint[:12]}`)."
    )
    system = data.get("system_prompt")
    return f"{text}\n\nSystem prompt: {json.dumps(system, ensure_ascii=False)}" if system else text


def _told(text: Callable[[Mapping[str, Any] | None], str], path: Path) -> str:
    """What a file says; of a damaged one, that it is."""
    try:
        return text(_read(path))
    except UNREADABLE as error:
        return f"`{path.name}` is damaged and is not shown ({type(error).__name__})."


def comparison_text(comparison: Mapping[str, Any] | None) -> str:
    """The table of comparison.json, or that there is none."""
    if comparison is None:
        return "Not compared yet: `reward-workbench compare` does it."
    rows = ["| | base | trained | difference | 95 % interval |", "|---|---|---|---|---|"]
    for line in comparison["lines"]:
        pair = line["paired"]
        bounds = "-" if pair["low"] is None else f"{pair['low']:+.3f} to {pair['high']:+.3f}"
        numbers = " | ".join(_number(value) for value in (line["base"], line["trained"]))
        rows.append(f"| {line['name']} | {numbers} | {_number(pair['mean'], '+.3f')} | {bounds} |")
    sampling = comparison["sampling"]
    rows.append(
        f"\n{comparison['prompts']} held-out prompts, {comparison['completions']} completions each, temperature "
        f"{sampling['temperature']:g}, top_p {sampling['top_p']:g}. {comparison['sentence']}."
    )
    return "\n".join(rows)


def _number(value: Any, form: str = ".3f") -> str:
    return format(value, form) if isinstance(value, (int, float)) else str(value)


def proof_text(proof: Mapping[str, Any] | None) -> str:
    """Whether the weights are proved to be base plus adapter, or those that were trained where there is no adapter."""
    if proof is None:
        return "Not merged yet: `reward-workbench merge` does it."
    ran = [check for check in proof["checks"] if check["passed"] is not None]
    if proof["proved"] and proof.get("adapter", True) is None:
        return (
            "Full fine-tuning: there was no adapter to merge. The weights are those that were trained: all "
            f"{len(ran)} checks of `merge-proof.json` passed."
        )
    if proof["proved"]:
        return f"Base plus adapter and nothing else: all {len(ran)} checks of `merge-proof.json` passed."
    failed = [check for check in ran if not check["passed"]]
    return "**The last merge was not proved**: " + "; ".join(check["sentence"] for check in failed)


def limits_text(run: RunDir, facts: RunFacts, manifest: Mapping[str, Any]) -> str:
    """What should not be concluded."""
    lines = [
        "- The rewards are what was optimised; they stand for the task and are not the task.",
        "- The comparison uses the same rewards, so it shows what was trained, not what was lost elsewhere.",
    ]
    if not watched_rewards(run, manifest):
        lines.append("- No reward only watched (weight 0): nothing independent of the training was measured.")
    if not facts.holdout_prompts:
        asked = held_out_every(manifest)
        lost = (
            f", so the evaluations asked for (`held_out_every` = {asked}) could not be made" if asked else ""
        )
        lines.append(f"- No prompts were held out{lost}.")
    lines += [f"- {note[:1].upper()}{note[1:]}." for note in facts.notes]
    return "\n".join(lines)


def versions_text(run: RunDir) -> str:
    """The versions the run was made with."""
    environment = run.environment()
    packages = environment.get("packages", {})
    listed = ", ".join(f"{name} {version}" for name, version in packages.items())
    return f"Python {environment.get('python', '?')} on {environment.get('device', '?')}; {listed}."


def _read(path: Path) -> Mapping[str, Any] | None:
    """A JSON object, or None where the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
