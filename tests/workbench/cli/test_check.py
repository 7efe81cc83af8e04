"""`reward-workbench check`: exit codes, formats, one clear sentence for wrong use."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence

SOUND = """
def reward(completions, answer, **kwargs):
    said = [c.strip(" .*\\r\\n").lower() for c in completions]
    return [float(bool(text) and text == a) for text, a in zip(said, answer)]
"""
RAISES = """
def reward(completions, **kwargs):
    return [1.0 / len(c.split()) for c in completions]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"prompt": "Is 4 even?", "completion": "Yes", "answer": "yes", "label": "right"},
        {"prompt": "Is 4 even?", "completion": "No", "answer": "yes", "label": "wrong"},
        {"prompt": "Is 4 even?", "completion": "I cannot tell", "answer": "yes", "label": "wrong"},
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "sound.py").write_text(SOUND)
    (tmp_path / "raises.py").write_text(RAISES)
    return tmp_path


def test_sound_reward_exits_0_with_a_short_text(folder):
    done = run("check", "sound.py", "--samples", "s.jsonl", cwd=folder)
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("pass: ")
    assert "\x1b" not in done.out


def test_finding_exits_1_and_shows_the_completion(folder):
    done = run("check", "raises.py", "--samples", "s.jsonl", cwd=folder)
    assert done.code == 1
    assert "ZeroDivisionError" in done.out
    assert 'completion  ""' in done.out


def test_json_is_one_strict_object_on_standard_output(folder):
    done = run("check", "raises.py", "--samples", "s.jsonl", "--format", "json", cwd=folder)
    shown = json.loads(done.out)
    assert (done.code, shown["verdict"], shown["strength"]) == (1, "fail", "strong")
    [finding] = [f for f in shown["rewards"][0]["findings"] if f["check"] == "RW110"]
    assert finding["line"] == 3
    assert finding["evidence"]["completion"] == ""


def test_report_is_written_to_a_file(folder):
    done = run(
        "check",
        "sound.py",
        "--samples",
        "s.jsonl",
        "--format",
        "json",
        "--out",
        "r.json",
        cwd=folder,
    )
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("wrote r.json\n")
    assert json.loads((folder / "r.json").read_text())["verdict"] == "pass"


def test_seal_is_written_and_verified_without_samples(folder):
    sealed = run("check", "sound.py", "--samples", "s.jsonl", "--seal", cwd=folder)
    assert sealed.code == 0
    assert "sealed: " in sealed.err
    (folder / "s.jsonl").unlink()
    held = run("check", "sound.py", "--verify-seal", cwd=folder)
    assert held.code == 0
    assert held.out.startswith("the seal holds: ")
    (folder / "sound.py").write_text(SOUND.replace("text == a", "text != a"))
    broken = run("check", "sound.py", "--verify-seal", cwd=folder)
    assert broken.code == 1
    assert "its code changed" in sentence(broken)


SHORT = """
def short(completions, **kwargs):
    return [float(len(c) < 12) for c in completions]
"""


def test_a_seal_of_samples_read_in_another_form_says_that_training_reads_them_as_they_are(folder):
    (folder / "chat.py").write_text(SOUND.replace("c.strip(", "c[0]['content'].strip("))
    (folder / "rewardset.toml").write_text('[[reward]]\nfunction = "chat.py::reward"\n')
    options = ["--samples", "s.jsonl", "--quick", "--seal", "--read-as", "chat"]
    done = run("check", "rewardset.toml", *options, cwd=folder)
    assert done.code == 0
    assert 'training reads so with read_as = "chat" under [set]' in done.err
    (folder / "rewardset.toml").write_text(
        '[set]\nread_as = "chat"\n[[reward]]\nfunction = "chat.py::reward"\n'
    )
    assert "training reads so" not in run("check", "rewardset.toml", *options, cwd=folder).err


def test_checks_held_back_are_told_with_verdict_and_seal(folder):
    (folder / "two.py").write_text(SOUND.replace("def reward", "def correct") + SHORT)
    done = run("check", "two.py", "--samples", "s.jsonl", "--quick", "--seal", cwd=folder)
    assert done.code == 0
    held = r"\d+ checks? of '\w+'( and '\w+')? held back"
    assert re.match(rf"pass, with {held}: ", done.out[done.out.rindex("pass") :])
    assert re.search(
        rf"sealed: .*; it covers nothing of {held}: declare .* or run with --assume-kinds", done.err
    )


def test_set_with_findings_is_not_sealed(folder):
    done = run("check", "raises.py", "--samples", "s.jsonl", "--seal", cwd=folder)
    assert done.code == 1
    assert sentence(done).startswith("error: not sealed: 1 finding")
    assert not list(folder.glob("*.seal.json"))


def test_manifest_names_the_samples_and_the_level_that_fails(folder):
    (folder / "rewardset.toml").write_text(
        '[set]\nsamples = "s.jsonl"\n[[reward]]\nfunction = "raises.py::reward"\n'
        '[check]\nwaive = [{ check = "RW110", reason = "a demonstration" }]\n'
    )
    done = run("check", ".", "--select", "RW110", cwd=folder)
    assert done.code == 0
    assert "a demonstration" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["check", "sound.py", "--samples", "s.jsonl", "--select", "RW999"], 2, "there is no check RW999"),
        (
            ["check", "sound.py", "--samples", "s.jsonl", "--format", "xml"],
            2,
            "known formats are text, json, junit, sarif, github, html",
        ),
        (["check", "sound.py", "--select", "wrong-lenght"], 2, "did you mean RW104 (wrong-length)?"),
        (["check", "sound.py", "--ignore", "RW1004"], 2, "did you mean RW104 (wrong-length)?"),
        (["check", "sound.py", "--baseline", "gone.json"], 2, "there is no baseline gone.json"),
        (["check", "sound.py", "--format", "html", "--out", "sound.py/where.html"], 2, "cannot be written"),
        (["check", "gone.py", "--samples", "s.jsonl"], 2, "gone.py"),
        (["check", "sound.py", "--samples", "gone.jsonl"], 2, "gone.jsonl"),
        (["check"], 2, "check needs a TARGET"),
        (["check", "sound.py", "--verify-seal"], 1, "there is no seal"),
    ],
)
def test_wrong_use_is_one_sentence_with_its_exit_code(folder, arguments, code, words):
    done = run(*arguments, cwd=folder)
    assert done.code == code
    assert words in sentence(done)


def test_file_that_does_not_load_exits_3(folder):
    (folder / "bad.py").write_text("def reward(completions:")
    done = run("check", "bad.py", "--samples", "s.jsonl", cwd=folder)
    assert done.code == 3
    assert "SyntaxError" in sentence(done)


def test_only_findings_that_the_baseline_has_not_fail(folder):
    arguments = ("check", "raises.py", "--samples", "s.jsonl", "--select", "RW110")
    assert run(*arguments, "--format", "json", "--out", "b.json", cwd=folder).code == 1
    known = run(*arguments, "--baseline", "b.json", cwd=folder)
    assert known.code == 0
    assert "1 known to the baseline" in known.out
    text = (folder / "raises.py").read_text()
    (folder / "raises.py").write_text(
        text + "\n\ndef second(completions, **kwargs):\n    return [c[9] for c in completions]\n"
    )
    new = run(*arguments, "--baseline", "b.json", cwd=folder)
    assert new.code == 1
    assert "1 known to the baseline" in new.out


def test_a_full_disk_leaves_the_old_report(folder):
    (folder / "r.html").write_text("old")
    done = run(
        "check", "sound.py", "--samples", "s.jsonl", "--format", "html", "--out", "r.html",
        cwd=folder, file_size=512,
    )  # fmt: skip
    assert done.code == 2
    assert "r.html cannot be written" in sentence(done)
    assert (folder / "r.html").read_text() == "old"


def test_waivers_that_fit_nothing_are_told(folder):
    (folder / "rewardset.toml").write_text(
        '[set]\nsamples = "s.jsonl"\n[[reward]]\nfunction = "sound.py::reward"\n[check]\nwaive = ['
        '{ check = "RW110", reason = "old" }, { check = "RW150", reason = "a slip of the pen" }]\n'
    )
    done = run("check", ".", "--select", "RW110", cwd=folder)
    assert "nothing to waive, RW110 finds nothing" in done.err
    assert "there is no check RW150" in done.err


def test_list_and_explain_need_no_target(folder):
    assert "RW104  error    wrong-length" in run("check", "--list", cwd=folder).out
    assert run("check", "--explain", "rw104", cwd=folder).out.startswith("RW104 wrong-length (error")


def test_durations_are_told_on_demand(folder):
    done = run("check", "sound.py", "--samples", "s.jsonl", "--durations", "--select", "RW110", cwd=folder)
    assert "RW110" in done.out
    assert " s\n" in done.out


def test_heavy_packages_are_not_imported(folder):
    code = (
        "import sys; sys.argv = ['reward-workbench', 'check', 'sound.py', '--samples', 's.jsonl']\n"
        "from workbench.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = [name for name in ('torch', 'trl', 'transformers', 'datasets', 'gradio') if name in sys.modules]\n"
        "sys.stderr.write(f'heavy={heavy}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith("heavy=[]")


@pytest.mark.parametrize("option", [("--select", "RW104"), ("--ignore", "RW")])
def test_a_seal_stands_for_all_checks(folder, option):
    done = run("check", "sound.py", "--samples", "s.jsonl", "--seal", *option, cwd=folder)
    assert done.code == 2
    assert sentence(done).startswith("error: --seal stands for all checks: leave out --select and --ignore")
    assert not (folder / "sound.py.seal.json").exists()
