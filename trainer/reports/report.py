"""`report.html` of a run: one page that needs nothing else, written from what the run folder holds.

Written at the end of `train` and again after `merge` and `compare`. No script, nothing from elsewhere; light and dark
follow the reader's system. Every word of a prompt, a completion or a name is escaped. What was not done is said.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rewards.contract import completion_text
from trainer.reports.curves import Curve, Interval, curve_of, curves, intervals
from trainer.reports.stages import (
    courses,
    reward_rows,
    rewards_of_stage,
    settings_rows,
    stage_tables,
    weights_of_stages,
)
from trainer.reports.stretches import Stretch, earlier, read_stretches
from trainer.rundir import RunDir, read_lines, write_whole
from trainer.runfiles import RunFacts, read_facts

REPORT = "report.html"
SHOWN_ROWS, SHOWN_TEXT, SHOWN_WHY = 4, 2_000, 160
"""Completions shown of a sample file, characters of each, and of what is said of a damaged file."""
UNREADABLE = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError)
"""What reading a damaged file raises; pyarrow's own errors are among them."""


def write_report(run: RunDir) -> Path:
    """Write report.html into the run folder.

    Raises:
        OSError: it cannot be written.
    """
    path = run.path / REPORT
    write_whole(path, report(run))
    return path


def report(run: RunDir) -> str:
    """The page as HTML text."""
    from trainer.reports.card import limits_text, seal_text, versions_text

    facts, manifest = read_facts(run), run.manifest()
    stretches = read_stretches(run, facts)
    name = str(manifest.get("set", {}).get("name") or run.name)
    comparison, proof = _object(run.path / "comparison.json"), _object(run.path / "merge-proof.json")
    rewards = [rewards_table(run, manifest), *earlier_rewards(run, manifest, stretches)]
    sections = [
        _head(run, facts, manifest, stretches),
        _section("Rewards", plain(seal_text(facts, stretches)), *rewards),
        _section("Course", "Watch the reward, not the loss.", course(run, manifest)),
        _section("Diagnoses", "What the monitor told, at its worst.", diagnoses_table(run.diagnoses())),
        _section(
            "Held out, while it trained",
            "Every reward on the same prompts, before and now.",
            _or_damaged(lambda: held_out(run, facts, manifest)),
        ),
        _section(
            "Completions", "As they were scored: early, and late.", _or_damaged(lambda: sample_articles(run))
        ),
        _section(
            "Merge",
            merge_about(proof),
            _or_damaged(lambda: proof_table(proof)),
        ),
        _section(
            "Compared with the base",
            "On prompts that were not trained on.",
            _or_damaged(lambda: comparison_part(comparison)),
        ),
        _section("Stages and settings", "", stages_table(run, manifest), settings_table(manifest)),
        _section("Limits", "", _bullets(limits_text(run, facts, manifest))),
        _section("Made with", "", f"<p>{escape(versions_text(run))}</p>"),
    ]
    style = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(name)}: run</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def _section(title: str, about: str, *content: str) -> str:
    intro = f"<p class=about>{escape(about)}</p>" if about else ""
    return f"<section><h2>{escape(title)}</h2>{intro}{''.join(content)}</section>"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, classes: Sequence[str] = ()) -> str:
    """A table; numbers are written short, everything is escaped. `classes` has one for each row, or none."""
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = ""
    for number, row in enumerate(rows):
        kind = f' class="{classes[number]}"' if classes else ""
        cells = [_cell(value) for value in row]
        if classes:
            cells[0] = f"<td><b>{escape(str(row[0]))}</b></td>"
        body += f"<tr{kind}>{''.join(cells)}</tr>"
    return f"<div class=scroll><table><tr>{head}</tr>{body}</table></div>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"<td class=number>{value:.3f}</td>"
    return f"<td>{escape(str(value))}</td>"


def plain(text: str) -> str:
    """A sentence of the model card without its Markdown marks."""
    return text.replace("**", "").replace("`", "")


def _or_damaged(make: Callable[[], str]) -> str:
    """What `make` gives; where a file of the run is damaged, a sentence in its place."""
    try:
        return make()
    except UNREADABLE as error:
        why = str(error).strip().partition("\n")[0][:SHOWN_WHY]
        said = f"Not shown: a file of the run folder is damaged ({type(error).__name__}: {why})."
        return f"<p class=failed>{escape(said)}</p>"


def _first_verdict(comparison: Mapping[str, Any]) -> str:
    try:
        return str(comparison["lines"][0]["verdict"])
    except UNREADABLE:
        return "damaged"


def _bullets(markdown: str) -> str:
    items = "".join(f"<li>{escape(plain(line.removeprefix('- ')))}</li>" for line in markdown.splitlines())
    return f"<ul>{items}</ul>"


# ----------------------------------------------------------------------------------------------- the head


def _head(run: RunDir, facts: RunFacts, manifest: Mapping[str, Any], stretches: Sequence[Stretch]) -> str:
    comparison, proof = _object(run.path / "comparison.json"), _object(run.path / "merge-proof.json")
    name = str(manifest.get("set", {}).get("name") or run.name)
    dead = [
        line["groups/zero_spread"]
        for line in run.metrics()
        if isinstance(line.get("groups/zero_spread"), (int, float))
    ]
    serious = {line["name"] for line in run.diagnoses() if line["severity"] != "info"}
    tiles = [
        (str(sum(stage.step for stage in run.stages())), "steps"),
        *_reward_tiles(run, manifest, stretches),
        (f"{sum(dead) / len(dead):.0%}" if dead else "-", "of the groups taught nothing"),
        (str(len(serious)), "warnings of the monitor"),
        (_evidence(facts, stretches), "evidence for the rewards"),
        ("not yet" if proof is None else "proved" if proof.get("proved") else "not proved", "merge"),
        ("not yet" if comparison is None else _first_verdict(comparison), "against the base"),
    ]
    cells = "".join(
        f"<div class=tile><b>{escape(value)}</b><span>{escape(what)}</span></div>" for value, what in tiles
    )
    where = (
        f"{facts.model} on {facts.device}, started {facts.created}; {facts.train_prompts} prompts, "
        f"{facts.holdout_prompts} held out"
    )
    return f"<header><h1>{escape(name)}</h1><p class=about>{escape(where)}</p><div class=tiles>{cells}</div></header>"


def _reward_tiles(
    run: RunDir, manifest: Mapping[str, Any], stretches: Sequence[Stretch]
) -> list[tuple[str, str]]:
    """A tile for every stage: the totals of two stages are sums of other rewards."""
    told = courses(run, manifest, [one.first for one in stretches[1:]])
    tiles = [
        (
            f"{one.first:.2f} → {one.last:.2f}",
            "reward, first to last"
            + (f", {one.name}" if one.name else "")
            + (", weights adapted" if one.moved else ""),
        )
        for one in told
    ]
    return tiles or [("-", "reward, first to last")]


def _evidence(facts: RunFacts, stretches: Sequence[Stretch]) -> str:
    if facts.sealed:
        return f"sealed, {facts.evidence}"
    if len(stretches) > 1 and not stretches[0].problems:
        return f"sealed to step {stretches[1].first - 1} only"
    return "not sealed"


def rewards_table(run: RunDir, manifest: Mapping[str, Any]) -> str:
    """Name, kind, weight and range of each reward the run used."""
    return table(("reward", "kind", "weight", "range"), reward_rows(run, manifest))


def earlier_rewards(run: RunDir, manifest: Mapping[str, Any], stretches: Sequence[Stretch]) -> list[str]:
    """Of a run that was resumed on other rewards: those of the steps before."""
    return [
        f"<p>{steps}.</p>"
        if tables is None
        else f"<p>{steps}:</p>{rewards_table(run, {**manifest, **tables})}"
        for steps, tables in earlier(stretches)
    ]


# ------------------------------------------------------------------------------------------- the course


def course(run: RunDir, manifest: Mapping[str, Any]) -> str:
    """The curves: the total, each reward, groups without spread, lengths, and the distance where it was measured."""
    lines, stages = run.metrics(), run.stages()
    marks = (
        [(float(run.offset(at) + 1), stage.name) for at, stage in enumerate(stages)]
        if len(stages) > 1
        else []
    )
    names = [str(entry.get("name")) for entry in manifest.get("reward", [])]
    plots: list[tuple[str, list[Curve]]] = [
        ("Total reward", [curve_of("reward", lines, "reward")]),
        ("Each reward", [curve_of(name, lines, f"rewards/{name}/mean") for name in names]),
        (
            "Groups without spread, completions cut off (shares)",
            [
                curve_of("groups that teach nothing", lines, "groups/zero_spread"),
                curve_of("completions cut off", lines, "completions/clipped_ratio"),
            ],
        ),
        (
            "Length of completions, tokens",
            [
                curve_of("mean", lines, "completions/mean_length"),
                curve_of("longest", lines, "completions/max_length"),
            ],
        ),
        (
            "Distance from the starting model (KL, nats a token)",
            [curve_of(key, lines, key) for key in distances(lines)],
        ),
        (
            "Weights that adapted",
            [
                curve_of(name, lines, f"rewards/{name}/weight")
                for name in names
                if any(f"rewards/{name}/weight" in line for line in lines)
            ],
        ),
    ]
    drawn = [(title, curves(series, title, marks=marks)) for title, series in plots]
    parts = [f"<h3>{escape(title)}</h3>{picture}" for title, picture in drawn if picture]
    return "".join(parts) or "<p>No step was logged.</p>"


def distances(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """The metrics that tell the distance from the starting model: TRL's, or ours where beta is 0."""
    return [key for key in ("kl", "policy/kl") if any(isinstance(line.get(key), float) for line in lines)]


def diagnoses_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """The worst of each diagnosis with what it means and what to do."""
    order = ("info", "warning", "critical")
    worst: dict[tuple[str, str], Mapping[str, Any]] = {}
    for line in lines:
        key = (str(line["name"]), str(line.get("subject", "")))
        if key not in worst or order.index(line["severity"]) > order.index(worst[key]["severity"]):
            worst[key] = line
    if not worst:
        return "<p>The monitor had nothing to say.</p>"
    kept = sorted(worst.values(), key=lambda line: (-order.index(line["severity"]), line["step"]))
    rows = [
        (
            " ".join(part for part in (line["name"], line.get("subject", "")) if part),
            f"{line['severity']}, step {line['step']}",
            line["seen"],
            line["means"],
            line["advice"],
        )
        for line in kept
    ]
    classes = [str(line["severity"]) for line in kept]
    return table(("diagnosis", "how bad", "seen", "means", "what to do"), rows, classes=classes)


def held_out(run: RunDir, facts: RunFacts, manifest: Mapping[str, Any]) -> str:
    """The evaluations on held-out prompts made during training, those of every stage by themselves."""
    lines = list(read_lines(run.evaluations_path))
    if not lines:
        return f"<p>{escape(_no_evaluation(facts, manifest))}</p>"
    stages = list(dict.fromkeys(str(line.get("stage") or "") for line in lines))
    parts = []
    for stage in stages:
        head = f"<h3>{escape(stage)}</h3>" if stage else ""
        parts.append(head + _evaluations([line for line in lines if str(line.get("stage") or "") == stage]))
    return "".join(parts)


def _evaluations(lines: Sequence[Mapping[str, Any]]) -> str:
    names = list(lines[-1]["rewards"])
    flat = [
        {
            "step": line["step"],
            **{name: line["rewards"][name]["now"] for name in names if name in line["rewards"]},
        }
        for line in lines
    ]
    picture = curves([curve_of(name, flat, name) for name in names], "Means on held-out prompts")
    last = [
        (name, float(one["base"]), float(one["now"]), span(one), one["verdict"])
        for name, one in lines[-1]["rewards"].items()
    ]
    begun = int(lines[-1].get("base_step", 0))
    paired_with = f"the model as it was after step {begun}" if begun else "the untrained model"
    told = f"<p>At step {int(lines[-1]['step'])}, {int(lines[-1]['prompts'])} prompts, paired with {paired_with}:</p>"
    heads = ("", f"after step {begun}" if begun else "untrained", "now", "difference, 95 % interval", "")
    return picture + told + table(heads, last)


def _no_evaluation(facts: RunFacts, manifest: Mapping[str, Any]) -> str:
    every = held_out_every(manifest)
    if not every:
        return "None was asked for (held_out_every)."
    asked = f"held_out_every = {every} asked for it"
    if not facts.holdout_prompts:
        return f"None could be made: {asked}, but no rows are held out (holdout in [data])."
    return f"None was made: {asked}, but no such step has been made yet, or the weights lay spread over processes."


def held_out_every(manifest: Mapping[str, Any]) -> str:
    """What the run asked of evaluations on held-out prompts; "" where it asked for none in any stage."""
    value = dict(settings_rows(manifest)).get("held_out_every")
    train = manifest.get("train", {})
    asked = any(table.get("held_out_every") for table in [train, *train.get("stage", [])])
    return str(value) if asked else ""


def span(pair: Mapping[str, Any]) -> str:
    """`+0.250 (+0.100 to +0.400)`; the bounds are left out where there are none."""
    if pair.get("low") is None:
        return f"{pair['mean']:+.3f}" if isinstance(pair["mean"], (int, float)) else str(pair["mean"])
    return f"{pair['mean']:+.3f} ({pair['low']:+.3f} to {pair['high']:+.3f})"


# ------------------------------------------------------------------------------------------- completions


def sample_articles(run: RunDir) -> str:
    """Completions of the first and of the last step that was put aside, else recorded, each with its scores."""
    files = sorted(run.samples.glob("step_*.jsonl"))
    if len(files) < 2:
        files = sorted(run.completions.glob("step_*.parquet"))
    chosen = list(dict.fromkeys([*files[:1], *files[-1:]]))
    names = list(dict.fromkeys(name for stage in run.stages() for name in stage.rewards))
    rows = [row for file in chosen for row in _rows_of(file, names)]
    if not rows:
        return "<p>No completion was recorded.</p>"
    return "".join(_article(row) for row in rows)


def _rows_of(file: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """The first rows of a sample file, or of the record of a step in the same form."""
    if file.suffix == ".jsonl":
        return list(itertools.islice(read_lines(file), SHOWN_ROWS))
    from pyarrow import parquet

    rows = parquet.read_table(file).slice(0, SHOWN_ROWS).to_pylist()
    for row in rows:
        row["errors"] = {name: why for name, why in dict(row.get("errors") or {}).items() if why}
    return [
        {**row, "scores": {name: row[name] for name in names if name in row}}
        for row in rows
        if "completion" in row
    ]


def _article(row: Mapping[str, Any]) -> str:
    scores = ", ".join(f"{name} {_score(value)}" for name, value in row["scores"].items())
    facts = (
        f"step {row['step']} · total {_score(row['total'])} · advantage {_score(row['advantage'])} · {scores}"
    )
    wrong = "".join(
        f"<p class=failed>{escape(f'{name}: {why}')}</p>" for name, why in row.get("errors", {}).items()
    )
    return (
        f"<article><p class=small-print>{escape(_question(row['prompt']))}</p>"
        f"<pre>{escape(_cut(completion_text(row['completion'])))}</pre>"
        f"<p class=small-print>{escape(facts)}</p>{wrong}</article>"
    )


def _question(prompt: Any) -> str:
    return _cut(prompt if isinstance(prompt, str) else str(prompt[-1].get("content", "")) if prompt else "")


def _score(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (int, float)) and value == value else "no score"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]} …"


# ----------------------------------------------------------------------------- merge, comparison, settings


def merge_about(proof: Mapping[str, Any] | None) -> str:
    """What the merge proof shows; after full fine-tuning there is no adapter in it."""
    if proof is not None and proof.get("adapter", True) is None:
        return "Full fine-tuning: whether the weights are those that were trained."
    return "Whether the merged weights are base plus adapter."


def proof_table(proof: Mapping[str, Any] | None) -> str:
    """Every check of the merge proof."""
    if proof is None:
        return "<p>Not merged yet: <code>reward-workbench merge</code> does it.</p>"
    verdict = "Proved." if proof["proved"] else "Not proved: nothing was put in place."
    said = {True: "passed", False: "failed", None: "not run"}
    rows = [(check["name"], said[check["passed"]], check["sentence"]) for check in proof["checks"]]
    return f"<p>{verdict}</p>" + table(("check", "", "what was found"), rows)


def comparison_part(comparison: Mapping[str, Any] | None) -> str:
    """The differences with their intervals, the outcome in a sentence, and the worst regressions."""
    if comparison is None:
        return "<p>Not compared yet: <code>reward-workbench compare</code> does it.</p>"
    lines = comparison["lines"]
    spans = [
        Interval(line["name"], float(pair["mean"]), pair["low"], pair["high"])
        for line in lines
        if isinstance((pair := line["paired"])["mean"], (int, float))
    ]
    rows = [
        (line["name"], _number(line["base"]), _number(line["trained"]), span(line["paired"]), line["verdict"])
        for line in lines
    ]
    notes = "".join(f"<p class=small-print>{escape(str(note))}</p>" for note in comparison.get("notes", []))
    heads = ("", "base", "trained", "difference, 95 % interval", "")
    return (
        f"<p>{escape(comparison['sentence'])}.</p>{intervals(spans, 'Differences with their 95 % intervals')}"
        f"{table(heads, rows)}{notes}{_worst(comparison.get('worst', []))}"
    )


def _worst(worst: Sequence[Mapping[str, Any]]) -> str:
    if not worst:
        return "<p>No prompt lost anything of the total.</p>"
    articles = "".join(
        f"<article><p class=small-print>{escape(_question(one['prompt']))} · mean total {one['base_total']:.3f} → "
        f"{one['trained_total']:.3f}; the base's best:</p><pre>{escape(_cut(one['base']))}</pre>"
        "<p class=small-print>the trained model's worst:</p>"
        f"<pre>{escape(_cut(one['trained']))}</pre></article>"
        for one in worst
    )
    return f"<details><summary>The prompts that lost most</summary>{articles}</details>"


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, (int, float)) else value


def stages_table(run: RunDir, manifest: Mapping[str, Any]) -> str:
    """The stages with their rewards, rows, steps and how they ended."""
    rows = []
    for stage, entry, weights in zip(
        run.stages(), stage_tables(run, manifest), weights_of_stages(run, manifest), strict=True
    ):
        where = entry.get("where")
        rows.append(
            (
                stage.name,
                rewards_of_stage(entry, weights),
                json.dumps(where) if where else "all",
                f"{stage.step} of {stage.max_steps}",
                stage.reason or stage.status,
            )
        )
    return table(("stage", "rewards", "rows", "steps", ""), rows)


def settings_table(manifest: Mapping[str, Any]) -> str:
    """Every setting the run was trained under, in every stage."""
    rows = [
        (name, value if isinstance(value, str) else json.dumps(value, default=str))
        for name, value in settings_rows(manifest)
    ]
    return f"<details><summary>All settings</summary>{table(('setting', 'value'), rows)}</details>"


def _object(path: Path) -> Mapping[str, Any] | None:
    """A JSON object, or None where the file is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
