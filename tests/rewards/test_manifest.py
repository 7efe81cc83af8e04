"""Reading and writing rewardset.toml."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewards.errors import ManifestError
from rewards.manifest import read_manifest, update_reward, write_text

WHOLE = """
# the set
[set]
name = "gsm8k"
samples = "samples.jsonl"

[[reward]]
function = "rewards.py::correctness_reward"   # pays most
name = "correctness"
kind = "correctness"
weight = 2.0
range = [0.0, 1.0]
params = { tolerance = 0.01 }
adaptive = { low = 0.2 }

[[reward]]
function = "package.module:length"

[check]
waive = [{ check = "RW203", reward = "length", reason = "length is the point" }]

[train]
preset = "cpu"
model = "toy"
learning_rate = 1e-3
[[train.stage]]
name = "format"
rewards = ["length"]
max_steps = 40
beta = 0.1
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "rewardset.toml"
    path.write_text(text)
    return path


def test_a_whole_manifest_is_read(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path, WHOLE))
    first, second = manifest.reward
    assert (first.name, first.weight, first.range, first.params) == (
        "correctness",
        2.0,
        (0.0, 1.0),
        {"tolerance": 0.01},
    )
    assert (second.name, second.weight, second.range, second.timeout_s) == ("length", 1.0, None, None)
    assert manifest.sample_paths == [tmp_path / "samples.jsonl"]
    assert manifest.train.settings == {"learning_rate": 1e-3}
    assert manifest.train.stage[0].settings == {"beta": 0.1}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[set\n", "rewardset.toml is no valid TOML: "),
        ("", "rewardset.toml has no [[reward]] table"),
        ("[sett]\n", "'sett' is no key here; did you mean 'set'?"),
        (
            '[[reward]]\nfunction="a.py::f"\nwieght=1\n',
            "[[reward]] 1 ('a.py::f'): 'wieght' is no key here; did you mean 'weight'?",
        ),
        ('[[reward]]\nname="f"\n', "[[reward]] 1 ('f'): 'function' is missing"),
        ('[[reward]]\nfunction="a.py::f"\nweight="x"\n', "weight='x' (str) must be a valid number"),
        ('[[reward]]\nfunction="a.py::f"\nweight=inf\n', "weight=inf (float) must be a finite number"),
        (
            '[[reward]]\nfunction="a.py::f"\nrange=[1,0]\n',
            "must be [low, high] with low below high, not [1, 0]",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nkind="correct"\n',
            "kind='correct' (str) must be 'correctness', 'format'",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nrange=[1]\n',
            "range=[1] (list) must be two finite numbers, [low, high]",
        ),
        ('[[reward]]\nfunction="a.py::f"\nrange=[0.0, inf]\n', "where there is no limit, leave it out"),
        (
            '[[reward]]\nfunction="a.py::f"\nparams={ since = [2024-01-01] }\n',
            "has since = datetime.date(2024, 1, 1) (date), which must be text, a finite number, true, false",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nwhen={ level = { a = nan } }\n',
            "has level = nan (float), which must be",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\ntimeout_s=1e300\n',
            "timeout_s=1e+300 (float) must be less than or equal",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nmemory_mb=99999999999999\n',
            "must be less than or equal to 16777216",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nadaptive={ max = inf }\n',
            "max=inf (float) must be a finite number",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\n[check]\nwaive=[3]\n',
            "[check]: waive[0]=3 (int) must be a valid dictionary",
        ),
        (
            '[[reward]]\nfunction="some-model"\n',
            'must be "FILE.py::NAME", "package.module:NAME" or a reward model',
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nname="f"\n[[reward]]\nfunction="b.py::f"\nname="f"\n',
            "names two rewards 'f'; give one of them another name",
        ),
        (
            '[set]\nname = "x"\n[[reward]]\nfunction="a.py::f"\nweight = ' + "1" * 5001,
            "rewardset.toml, line 5: a number of more than 4300 digits cannot be read; write a smaller one",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nparams = ' + "{a=" * 3000 + "1" + "}" * 3000,
            "rewardset.toml nests lists or tables too deeply to be read; write them flatter",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\n[reward.params.' + ".".join("a" * 900) + "]\nb = 1\n",
            "nests a more than 50 deep; write it flatter",
        ),
        ('[[reward]]\nfunction="a.py::f"\nweight = 0x1' + "0" * 5000, "weight="),
        (
            '[[reward]]\nfunction="a.py::f"\nparams = { most = 0x1' + "0" * 5000 + " }",
            "has most = a value too long to be shown (int), which must be text, a finite number",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\n[[train.stage]]\nuntil={ metric="r", abve=1.0 }\n',
            "'abve' is no key here; did you mean 'above'?",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\nadaptive={ lov=0.1 }\n',
            "'lov' is no key here; did you mean 'low'?",
        ),
        (
            '[[reward]]\nfunction="a.py::f"\n[[train.stage]]\nname="one"\nrewards=["g"]\n',
            "stage 'one' uses reward 'g', which is not in the set",
        ),
    ],
)
def test_a_faulty_manifest_is_one_sentence_with_the_place(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ManifestError, match=r"^[^\n]+$") as caught:
        read_manifest(write(tmp_path, text))
    assert sentence in str(caught.value)


def test_a_mark_at_the_start_of_the_file_is_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "rewardset.toml"
    path.write_text(WHOLE, encoding="utf-8-sig")
    assert read_manifest(path).set.name == "gsm8k"
    update_reward(path, "correctness", weight=3.0)
    assert read_manifest(path).reward[0].weight == 3.0
    assert "# pays most" in path.read_text(encoding="utf-8")


TWICE = """
[[reward]]
function = "a.py::f"
[[reward]]
function = "sub/b.py::f"
[[reward]]
function = "sub/b.py::f"
weight = 2.0
[[reward]]
function = "b:g"
name = "f"
"""


def test_rewards_of_one_name_in_two_files_get_names_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, TWICE)
    manifest = read_manifest(path)
    assert [entry.name for entry in manifest.reward] == ["f (a.py)", "f (b.py)", "f (b.py, 2)", "f"]
    assert [sorted(entry.stated) for entry in manifest.reward] == [
        ["function"],
        ["function"],
        ["function", "weight"],
        ["function", "name"],
    ]
    update_reward(path, "f (b.py, 2)", weight=5.0)
    assert [entry.weight for entry in read_manifest(path).reward] == [1.0, 1.0, 5.0, 1.0]


def test_changing_a_weight_keeps_comments_and_everything_else(tmp_path: Path) -> None:
    path = write(tmp_path, WHOLE)
    update_reward(path, "correctness", weight=1.5)
    assert path.read_text() == WHOLE.replace("weight = 2.0", "weight = 1.5")
    with pytest.raises(ManifestError, match="has no reward 'nope'"):
        update_reward(path, "nope", weight=1.0)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, WHOLE)

    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ManifestError, match="No space left on device; the old file is unchanged"):
        write_text(path, "new")
    assert path.read_text() == WHOLE
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot be written"):
        write_text(tmp_path / "missing" / "rewardset.toml", "new")
