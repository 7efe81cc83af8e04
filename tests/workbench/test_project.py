"""`init`: templates that run as they stand, a project around a file, and nothing overwritten."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from rewards.contract import call
from rewards.errors import UsageError
from rewards.manifest import read_manifest
from rewards.rewardset import RewardSet
from rewards.running import Runner
from workbench import project
from workbench.kinds import suggested_kind
from workbench.project import create_from_file, create_from_template, template_names
from workbench.samples import Samples, read_samples

TEMPLATES = template_names()


def around(folder: Path, file: Path) -> list[Path]:
    with Runner() as runner:
        return create_from_file(folder, file, runner.inspect(str(file)))


def total_by_label(folder: Path) -> dict[str | None, list[float]]:
    manifest = read_manifest(folder / "rewardset.toml")
    samples = read_samples(manifest.sample_paths, columns=manifest.data.columns)
    rewards = RewardSet.load(folder)
    totals = sum(
        entry.weight * call(function, samples.batch(), params=entry.params).scores
        for entry, function in zip(rewards.entries, rewards.functions, strict=True)
    )
    by_label: dict[str | None, list[float]] = defaultdict(list)
    for label, total in zip(samples.labels, totals, strict=True):
        by_label[label].append(float(total))
    return by_label


# --------------------------------------------------------------------------------------- templates


def test_the_templates_are_those_that_the_command_names() -> None:
    assert TEMPLATES == ["arithmetic", "code", "gsm8k", "json", "qa", "summary"]


@pytest.mark.guide("G28")
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_makes_a_whole_project(tmp_path: Path, template: str) -> None:
    files = create_from_template(tmp_path / "p", template)
    assert {"rewards.py", "rewardset.toml", "samples.jsonl", "README.md", ".gitignore"} <= {
        file.name for file in files
    }
    manifest = read_manifest(tmp_path / "p" / "rewardset.toml")
    assert len(manifest.reward) == 3
    assert manifest.resolve(manifest.data.train) in files
    assert all(entry.range in ((0.0, 1.0), (-1.0, 0.0)) and entry.kind for entry in manifest.reward)
    assert not read_samples(manifest.sample_paths, columns=manifest.data.columns).skipped


@pytest.mark.guide("G4")
@pytest.mark.parametrize("template", TEMPLATES)
def test_in_a_template_no_lesser_kind_outweighs_correctness(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    entries = read_manifest(tmp_path / "p" / "rewardset.toml").reward
    right = next(entry.weight for entry in entries if entry.kind == "correctness")
    assert all(entry.weight < right for entry in entries if entry.kind != "correctness")


@pytest.mark.parametrize("template", ["code", "json", "qa", "summary"])
def test_newer_templates_use_the_library_and_write_one_reward_out(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    functions = [entry.function for entry in read_manifest(tmp_path / "p" / "rewardset.toml").reward]
    assert any(function.startswith("rewards.library") for function in functions)
    assert any(function.startswith("rewards.py::") for function in functions)


@pytest.mark.guide("G5")
@pytest.mark.parametrize("template", TEMPLATES)
def test_no_prompt_of_the_samples_is_trained_on(tmp_path: Path, template: str) -> None:
    create_from_template(tmp_path / "p", template)
    manifest = read_manifest(tmp_path / "p" / "rewardset.toml")
    samples = read_samples(manifest.sample_paths, columns=manifest.data.columns)
    asked = {prompt[-1]["content"] for prompt in samples.prompts}
    trained = manifest.resolve(manifest.data.train).read_text("utf-8")
    assert len(asked) >= 12
    assert template in ("gsm8k", "arithmetic") or not [
        text for text in asked if json.dumps(text)[1:-1] in trained
    ]


@pytest.mark.parametrize("template", TEMPLATES)
def test_in_a_template_every_right_row_beats_every_wrong_and_every_hack(
    tmp_path: Path, template: str
) -> None:
    create_from_template(tmp_path / "p", template)
    totals = total_by_label(tmp_path / "p")
    assert min(totals["right"]) > max(totals["wrong"])
    assert min(totals["right"]) > max(totals["hack"])
    if "partial" in totals:
        assert max(totals["wrong"]) < min(totals["partial"]) <= max(totals["partial"]) < min(totals["right"])


@pytest.mark.guide("G28")
def test_the_gsm8k_template_is_the_guides_project(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "gsm8k")
    manifest = read_manifest(tmp_path / "p" / "rewardset.toml")
    assert [entry.name for entry in manifest.reward] == ["correctness", "format", "incremental_format"]
    assert manifest.data.columns == {"question": "prompt"}
    assert "<answer>" in manifest.data.system_prompt
    assert (manifest.train.model, manifest.train.preset, manifest.train.lora) == (
        "Qwen/Qwen2.5-1.5B-Instruct",
        "small-gpu",
        True,
    )


@pytest.mark.guide("G28")
def test_the_gsm8k_template_reads_the_answer_after_the_four_hashes(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "gsm8k")
    reward = RewardSet.load(tmp_path / "p").function("correctness")
    said = [[{"role": "assistant", "content": "<think>9 * 2</think><answer>$18</answer>"}]] * 3
    assert reward(completions=said, answer=["9 * 2 = <<9*2=18>>18\n#### 18", "18", "no number"]) == [
        1.0,
        1.0,
        None,
    ]


@pytest.mark.guide("G2")
def test_samples_of_the_gsm8k_template_come_in_groups_that_teach_something(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "gsm8k")
    samples = read_samples([tmp_path / "p" / "samples.jsonl"])
    mixed = [group for group in set(samples.groups) if len(labels_of(samples, group)) > 1]
    assert len(set(samples.groups)) == 48
    assert len(mixed) > 30


def labels_of(samples: Samples, group: str) -> set[str | None]:
    return {label for label, own in zip(samples.labels, samples.groups, strict=True) if own == group}


def test_the_arithmetic_template_stays_inside_one_epoch(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "arithmetic")
    manifest = read_manifest(tmp_path / "p" / "rewardset.toml")
    settings = manifest.train.settings
    prompts_a_step = settings["per_device_train_batch_size"] / settings["num_generations"]
    lines = (tmp_path / "p" / "train.jsonl").read_text().splitlines()
    assert len(set(lines)) == len(lines)
    assert len(lines) * (1 - manifest.data.holdout) > settings["max_steps"] * prompts_a_step


def test_the_arithmetic_template_has_a_shadow_reward(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "arithmetic")
    weights = {entry.name: entry.weight for entry in read_manifest(tmp_path / "p" / "rewardset.toml").reward}
    assert weights == {"format": 1.0, "correctness": 2.0, "brevity": 0.0}


@pytest.mark.guide("G5")
def test_prompts_of_the_arithmetic_template_show_a_solved_example_that_is_never_asked(tmp_path: Path) -> None:
    create_from_template(tmp_path / "p", "arithmetic")
    samples = read_samples([tmp_path / "p" / "samples.jsonl"])
    for prompt in samples.prompts:
        assert [message["role"] for message in prompt] == ["system", "user", "assistant", "user"]
        assert prompt[2]["content"] == "<answer>5</answer>"
        assert prompt[1]["content"] != prompt[3]["content"]


def test_an_unknown_template_is_answered_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no template 'poetry'; there are arithmetic, code, gsm8k, json, qa, summary"
    ):
        create_from_template(tmp_path / "p", "poetry")


# ---------------------------------------------------------------------------------- around a file


@pytest.mark.guide("G4")
def test_a_project_around_a_file_copies_it_and_suggests_weights_by_kind(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    text = "def {}(completions, **kwargs):\n    return [0.0 for _ in completions]\n\n\n"
    source.write_text(
        "".join(text.format(name) for name in ("correctness", "xml_format", "short_length", "r1"))
    )
    before = source.read_bytes()
    around(tmp_path / "p", source)
    entries = read_manifest(tmp_path / "p" / "rewardset.toml").reward
    assert [(entry.kind, entry.weight) for entry in entries] == [
        ("correctness", 2.0),
        ("format", 0.5),
        ("length", 0.2),
        (None, 1.0),
    ]
    assert source.read_bytes() == (tmp_path / "p" / "mine.py").read_bytes() == before
    assert RewardSet.load(tmp_path / "p").names == ["correctness", "xml_format", "short_length", "r1"]


def test_local_modules_that_a_file_imports_come_along(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mine.py").write_text(
        "from parts.reading import text\n\n\ndef f(completions, **kwargs):\n    return [text(c) for c in completions]\n"
    )
    (tmp_path / "a" / "parts").mkdir()
    (tmp_path / "a" / "parts" / "reading.py").write_text("def text(c):\n    return 1.0\n")
    around(tmp_path / "p", tmp_path / "a" / "mine.py")
    shutil.rmtree(tmp_path / "a")
    assert RewardSet.load(tmp_path / "p").functions[0](completions=["x"]) == [1.0]


def test_a_file_inside_the_folder_is_used_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(
        "def f(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    )
    assert around(tmp_path, tmp_path / "code" / "mine.py") == [tmp_path / "rewardset.toml"]
    assert read_manifest(tmp_path / "rewardset.toml").reward[0].function == "code/mine.py::f"


def test_what_a_mark_declares_is_not_said_again(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from rewards import reward\n\n\n@reward(name='layout', kind='format', weight=0.7, range=(0, 1))\n"
        "def f(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    )
    around(tmp_path / "p", tmp_path / "mine.py")
    text = (tmp_path / "p" / "rewardset.toml").read_text()
    assert "weight =" not in text
    entry = RewardSet.load(tmp_path / "p").entries[0]
    assert (entry.name, entry.kind, entry.weight) == ("layout", "format", 0.7)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("correctness_reward_func", "correctness"),
        ("answer_format", "format"),
        ("xmlcount", "format"),
        ("isCorrect", "correctness"),
        ("brevity", "length"),
        ("repetition_penalty", "style"),
        ("foo", None),
    ],
)
def test_a_kind_is_read_from_a_name(name: str, kind: str | None) -> None:
    assert suggested_kind(name) == kind


# ---------------------------------------------------------------------------------- nothing is lost


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_what_exists_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text("mine")
    with pytest.raises(UsageError, match=r"already has rewards\.py; nothing was written"):
        create_from_template(tmp_path)
    assert left(tmp_path) == ["rewards.py"]
    assert (tmp_path / "rewards.py").read_text() == "mine"


def test_a_folder_with_other_files_can_become_a_project(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    create_from_template(tmp_path, "arithmetic")
    assert {"notes.txt", "rewardset.toml"} <= set(left(tmp_path))
    assert not [name for name in left(tmp_path) if name.startswith(".init-")]


def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("mine")
    with pytest.raises(UsageError, match="is a file; name a folder"):
        create_from_template(tmp_path / "p")


def test_missing_parents_are_made_and_the_folder_can_be_entered(tmp_path: Path) -> None:
    create_from_template(tmp_path / "a" / "b", "arithmetic")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o777 & ~current_umask()


def current_umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EACCES, "no permission to write there"), (errno.EROFS, "the file system is read-only")],
)
def test_a_folder_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(**_keywords: object) -> str:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(project.tempfile, "mkdtemp", refuse)
    with pytest.raises(UsageError, match=f"^no project was made in .*: {words}$"):
        create_from_template(tmp_path / "p")
    assert left(tmp_path) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.copyfile

    def copy(source: Path, target: Path) -> None:
        if source.name == "samples.jsonl":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    monkeypatch.setattr(project.shutil, "copyfile", copy)
    with pytest.raises(UsageError, match="the disk is full"):
        create_from_template(tmp_path / "p")
    assert left(tmp_path) == []


def test_a_move_that_fails_half_way_takes_back_what_it_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if self.name == "samples.jsonl":
            raise OSError(errno.EIO, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(UsageError, match="Input/output error"):
        create_from_template(tmp_path)
    assert left(tmp_path) == ["notes.txt"]
