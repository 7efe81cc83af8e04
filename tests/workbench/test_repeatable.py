"""The look at a reward's code: what may be kept, what may not, and what an edit changes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rewards.rewardset import RewardSet
from workbench.repeatable import Look, installed, look, looks


def looked(folder: Path, text: str, name: str = "pays", **files: str) -> Look:
    """The look at one reward of a file of this text."""
    (folder / "rewards.py").write_text(text)
    for other, content in files.items():
        (folder / f"{other}.py").write_text(content)
    loaded = RewardSet.load(folder / f"rewards.py::{name}").describe()
    return look(loaded.rewards[0], loaded.root)


PLAIN = """
import re
from functools import lru_cache
TAG = re.compile(r"<a>(.*?)</a>", re.DOTALL)
WEIGHTS = {"a": 0.5}

@lru_cache
def worth(text):
    found = TAG.findall(text)
    parts = []
    parts.append(WEIGHTS["a"] * len(found))
    return sum(parts)

def pays(completions, **kwargs):
    scores = []
    for text in completions:
        scores.append(worth(text))
    return scores
"""


def test_plain_code_may_be_kept(tmp_path: Path) -> None:
    assert looked(tmp_path, PLAIN) == Look(looked(tmp_path, PLAIN).digest, None, False)


def one(worth: str, before: str = "", inside: str = "") -> str:
    """A file with one reward that pays `worth` for each completion `c`."""
    return f"{before}\ndef pays(completions, **_):\n    {inside or 'pass'}\n    return [{worth} for c in completions]\n"


REFUSED = {
    "clock": one("time.time()", "import time"),
    "date": one("datetime.datetime.now().year", "import datetime"),
    "random": one("random.random()", "import random"),
    "numpy's random": one("np.random.rand()", "import numpy as np"),
    "late import": one("float(os.environ['X'])", inside="import os"),
    "file": one("float(c in words)", inside="words = open('w.txt').read()"),
    "file read by a parser": one(
        "float(c in ET.parse('w.xml').getroot().text)", "import xml.etree.ElementTree as ET"
    ),
    "file read by an imported parser": one(
        "float(c in parse('w.xml').toxml())", "from xml.dom.minidom import parse"
    ),
    "path": one("Path('x').stat().st_size", "from pathlib import Path"),
    "network": one("len(socket.gethostname())", "import socket"),
    "local module with random": one("mine.score(c)", "import mine"),
    "global": one("n", "n = 0", "global n; n += 1"),
    "list": one("len(SEEN)", "SEEN = []", "SEEN.append(1)"),
    "dict": one("1.0", "MEMO = {}", "MEMO['n'] = 1"),
    "other name": one("len(s)", "SEEN = []", "s = SEEN; s += [1]"),
    "default": "def pays(completions, seen=[], **_):\n    seen.append(1)\n    return [len(seen)] * len(completions)\n",
    "iterator": one("next(N)", "import itertools\nN = itertools.count()"),
    "object": (
        "class R:\n    def __init__(self):\n        self.n = 0\n    def __call__(self, completions, **_):\n"
        "        self.n += 1\n        return [self.n] * len(completions)\npays = R()\n"
    ),
    "closure": (
        "def make():\n    seen = []\n    def inner(completions, **_):\n        seen.append(1)\n"
        "        return [len(seen)] * len(completions)\n    return inner\npays = make()\n"
    ),
    "attribute": one("pays.n", inside="pays.n = getattr(pays, 'n', 0) + 1"),
    "eval": one("float(eval(c))"),
    "hidden name": one("getattr(math, c)(1)", "import math"),
    "short deadline": one("len(parse(c, parsing_timeout=1))", "from math_verify import parse"),
    "judge": one("float(len(str(judge)))", "from rewards.library import judge"),
    "star import": one("uniform(0, 1)", "from random import *"),
    "star import of what computes": one("sqrt(len(c))", "from math import *"),
    "star import of a helper's": one("uniform(0, 1)", "from star import *"),
    "a random name of a helper": one("mine.random.random()", "import mine"),
    "docstring of another": one("len(mine.__doc__)", "import mine"),
    "place of the file": one("len(__file__)"),
    "heap": one("len(H)", "import heapq\nH = []", "[heapq.heappush(H, c) for c in completions]"),
    "list of a dict": one("1.0", "SEEN = {'a': []}", "SEEN.get('a').append(1)"),
    "list of a dict by another name": one("1.0", "SEEN = {'a': []}", "s = SEEN['a']; s += [1]"),
    "list in a loop": one("1.0", "SEEN = {'a': []}", "[s.append(1) for k, s in SEEN.items()]"),
    "method handed over": one("1.0", "SEEN = []", "list(map(SEEN.append, completions))"),
    "object of a package": one(
        "1.0", "from difflib import SequenceMatcher\nM = SequenceMatcher()", "M.set_seq1('x')"
    ),
    "given to its own function": (
        "SEEN = []\ndef note(seen, c):\n    seen.append(c)\n    return len(seen)\n"
        "def pays(completions, **_):\n    return [note(SEEN, c) for c in completions]\n"
    ),
    "given by its own function": (
        "SEEN = []\ndef seen():\n    return SEEN\n"
        "def pays(completions, **_):\n    seen().append(1)\n    return [len(SEEN)] * len(completions)\n"
    ),
    "of a helper": one("len(KNOWN)", "from kept import KNOWN", "KNOWN.get('a').append(1)"),
    "of a module": one("1.0", "import kept\nimport heapq", "heapq.heappush(kept.KNOWN['a'], 1)"),
    "changed by another function": "N = [1]\n" + one("N[0]") + "\ndef other():\n    N.append(2)\n",
    "rebound by another function": "N = 1\n" + one("N") + "\ndef other():\n    global N\n    N = 2\n",
    "heap of an object": (
        "import heapq\nclass R:\n    def __init__(self):\n        self.h = []\n"
        "    def __call__(self, completions, **_):\n"
        "        heapq.heappush(self.h, 1)\n        return [len(self.h)] * len(completions)\npays = R()\n"
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_code_that_reads_more_than_the_row_is_not_kept(tmp_path: Path, what: str) -> None:
    mine = "def score(c):\n    import random\n    return random.random()\n"
    star, kept = "from random import *\n", "KNOWN = {'a': []}\n"
    found = looked(tmp_path, REFUSED[what], mine=mine, star=star, kept=kept)
    assert found.why_not is not None


HARMLESS = {
    "table": one("WEIGHTS.get(c, 0.0)", "WEIGHTS = {'a': 1.0}"),
    "sum over a table": one("sum(w * c.count(k) for k, w in W.items())", "W = {'a': 1.0}"),
    "number out of a table": one("total", "W = {'a': 1.0}", "total = W['a']; total += 1"),
    "words": one("len(WORDS & set(c.split()))", "WORDS = set('a b'.split())"),
    "patterns": one(
        "sum(len(p.findall(c)) for p in P)", "import re\nP = [re.compile(w) for w in ('a', 'b')]"
    ),
    "table given to its own function": (
        "W = {'a': 1.0}\ndef worth(c, table):\n    return table.get(c, 0.0)\n"
        "def pays(completions, **_):\n    return [worth(c, W) for c in completions]\n"
    ),
    "lists of its own": one("len(out)", "", "out = []; out.append([1]); out[0].append(2)"),
}


@pytest.mark.parametrize("what", HARMLESS)
def test_reading_module_level_objects_is_no_state(tmp_path: Path, what: str) -> None:
    assert looked(tmp_path, HARMLESS[what]).why_not is None


def test_the_reason_names_the_line(tmp_path: Path) -> None:
    assert (
        looked(tmp_path, REFUSED["list"]).why_not
        == "rewards.py, line 3: it changes SEEN, which outlives the call"
    )


def test_what_is_declared_random_is_not_kept(tmp_path: Path) -> None:
    text = "from rewards import reward\n@reward(deterministic=False)\ndef pays(completions, **_):\n    return [1.0]\n"
    assert looked(tmp_path, text).why_not == "it is declared deterministic = false"


def test_an_edit_to_another_reward_of_the_file_changes_nothing(tmp_path: Path) -> None:
    other = "\ndef other(completions, **_):\n    return [0.0 for _ in completions]\n"
    before = looked(tmp_path, PLAIN + other)
    assert looked(tmp_path, PLAIN + other.replace("0.0", "1.0")).digest == before.digest
    assert looked(tmp_path, "# a remark\n" + PLAIN).digest == before.digest
    assert looked(tmp_path, PLAIN + "\nWORDS = ['x']\nLATER = re.compile('y')\n").digest == before.digest


def test_unused_neighbours_that_read_files_are_no_obstacle(tmp_path: Path) -> None:
    rest = '\nimport os\n\ndef train():\n    return open("x")\n\nif __name__ == "__main__":\n    train()\n'
    assert looked(tmp_path, PLAIN + rest).why_not is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5", "0.75"),
        ("re.DOTALL", "0"),
        ("len(found)", "len(found) + 1"),
        ("import re\n", "import re\nTAG = 1\n"),
    ],
)
def test_an_edit_to_what_it_uses_changes_the_digest(tmp_path: Path, old: str, new: str) -> None:
    before = looked(tmp_path, PLAIN)
    assert looked(tmp_path, PLAIN.replace(old, new, 1)).digest != before.digest


def test_module_level_code_with_effects_always_counts(tmp_path: Path) -> None:
    effect = PLAIN + "\nWEIGHTS.update(a=2.0)\n"
    assert looked(tmp_path, effect).digest != looked(tmp_path, PLAIN).digest


def test_local_helpers_count_as_far_as_they_are_used(tmp_path: Path) -> None:
    text = (
        "from helper import worth\ndef pays(completions, **_):\n    return [worth(c) for c in completions]\n"
    )
    helper = "def worth(c):\n    return 1.0\n\ndef other(c):\n    return open(c)\n"
    before = looked(tmp_path, text, helper=helper)
    assert before.why_not is None
    assert looked(tmp_path, text, helper=helper.replace("open(c)", "2")).digest == before.digest
    assert looked(tmp_path, text, helper=helper.replace("1.0", "2.0")).digest != before.digest
    whole = looked(
        tmp_path,
        text.replace("from helper import worth", "import helper").replace("worth(c)", "helper.worth(c)"),
    )
    assert whole.why_not == "helper.py, line 5: it uses open"


def test_a_module_imported_for_its_effect_counts(tmp_path: Path) -> None:
    text = "import patches\n" + PLAIN
    before = looked(tmp_path, text, patches="import string\nstring.of_mine = 1\n")
    assert before.digest != looked(tmp_path, text, patches="import string\nstring.of_mine = 2\n").digest


def test_mathematics_has_deadlines_so_slow_rows_are_told_apart() -> None:
    found = RewardSet.load("rewards.library:maths_equal").describe()
    seen = look(found.rewards[0], found.root)
    assert (seen.why_not, seen.deadlines) == (None, True)


def test_params_belong_to_what_is_kept(tmp_path: Path) -> None:
    digests = set()
    (tmp_path / "rewards.py").write_text(PLAIN)
    for params in ("{}", "{ x = 1 }", "{ x = 2 }"):
        manifest = f'[[reward]]\nfunction = "rewards.py::pays"\nparams = {params}\n'
        (tmp_path / "rewardset.toml").write_text(manifest)
        loaded = RewardSet.load(tmp_path).describe()
        digests.add(look(loaded.rewards[0], loaded.root).digest)
    assert len(digests) == 3


def test_what_a_linked_file_imports_is_looked_for_beside_the_link(tmp_path: Path) -> None:
    real, drafts = tmp_path / "real", tmp_path / "drafts"
    real.mkdir()
    drafts.mkdir()
    (real / "common.py").write_text("from worth import worth\n")
    (real / "worth.py").write_text("def worth(c):\n    return 1.0\n")
    (drafts / "common.py").symlink_to(real / "common.py")
    text = (
        "from common import worth\ndef pays(completions, **_):\n    return [worth(c) for c in completions]\n"
    )
    before = looked(drafts, text, worth="def worth(c):\n    return 1.0\n")
    assert before.why_not is None
    assert looked(drafts, text, worth="def worth(c):\n    return 5.0\n").digest != before.digest


def test_code_that_is_nested_too_deeply_is_not_kept(tmp_path: Path) -> None:
    rungs = "".join(f"        elif c == '{rung}':\n            score = {rung}.0\n" for rung in range(400))
    text = "def pays(completions, **_):\n    scores = []\n    for c in completions:\n        score = 0.0\n"
    text += (
        f"        if c == 'x':\n            pass\n{rungs}        scores.append(score)\n    return scores\n"
    )
    assert looked(tmp_path, text).why_not == "its code is nested too deeply to be read"


def files(folder: Path, **texts: str) -> None:
    """Files below a folder; `__` in a name is a slash, and `init` a package's own file."""
    for name, text in texts.items():
        path = folder / (name.replace("__", "/").replace("init", "__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


PACKAGE = {
    "imported whole": (one("pkg.TH", "import pkg.sub"), "TH = {}\n"),
    "patches a module of its own": (one("f()", "from pkg.sub import f"), "from . import sub\nsub.TH = {}\n"),
    "patches what is imported": (one("sub.TH", "from pkg import sub"), "from . import sub\nsub.TH = {}\n"),
}


@pytest.mark.parametrize("what", PACKAGE)
def test_an_edit_to_the_init_file_of_a_package_changes_the_digest(tmp_path: Path, what: str) -> None:
    text, init = PACKAGE[what]
    files(tmp_path, pkg__sub="TH = 0.0\ndef f():\n    return TH\n", pkg__init=init.format("1.0"))
    before = looked(tmp_path, text)
    files(tmp_path, pkg__init=init.format("2.0"))
    assert before.why_not is None
    assert looked(tmp_path, text).digest != before.digest


def test_the_package_of_a_dotted_reward_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files(tmp_path, graded__init="from . import sub\nsub.TH = 1.0\n", graded__sub="TH = 0.0\n" + one("TH"))
    loaded = RewardSet.load("graded.sub:pays").describe()
    before = look(loaded.rewards[0], loaded.root)
    files(tmp_path, graded__init="from . import sub\nsub.TH = 2.0\n")
    assert look(loaded.rewards[0], loaded.root).digest != before.digest


def looked_at_set(folder: Path, b: str) -> Look:
    """The look at the reward of a.py, which uses a helper, in a set with this b.py."""
    files(folder, a=one("helper.f()", "import helper"), b=b, helper="TH = 1.0\ndef f():\n    return TH\n")
    tables = '[[reward]]\nfunction = "a.py::pays"\n[[reward]]\nfunction = "b.py::pays"\nname = "b"\n'
    (folder / "rewardset.toml").write_text(tables)
    loaded = RewardSet.load(folder).describe()
    return looks(loaded.only(["pays"]), loaded)["pays"]


@pytest.mark.parametrize(
    "patch",
    [
        "import helper\nhelper.TH = {}\n",
        "from other import go\ngo({})\n",
        "import helper\nvars(helper).update(TH={})\n",
    ],
)
def test_what_another_file_of_the_set_does_to_modules_counts(tmp_path: Path, patch: str) -> None:
    files(tmp_path, other="import helper\ndef go(n):\n    helper.TH = n\n")
    before = looked_at_set(tmp_path, one("0.0", patch.format("5.0")))
    after = looked_at_set(tmp_path, one("0.0", patch.format("6.0")))
    assert before.digest != after.digest or before.why_not is not None


def test_a_module_that_another_reward_changes_while_it_runs_is_state(tmp_path: Path) -> None:
    found = looked_at_set(tmp_path, one("0.0", "import helper", "helper.TH = 5.0"))
    assert found.why_not == "b.py, line 3: it changes helper, which outlives the call"


def test_other_files_that_only_define_and_read_are_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "from pathlib import Path\nWORDS = Path('words.txt').read_text().split()\n"
    (tmp_path / "words.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    before = looked_at_set(tmp_path, words + one("0.0"))
    after = looked_at_set(tmp_path, words + one("1.0"))
    assert (before.why_not, before.digest) == (None, after.digest)


def test_a_docstring_that_is_read_counts(tmp_path: Path) -> None:
    text = one("len(__doc__)")
    before = looked(tmp_path, '"""alpha"""\n' + text)
    assert looked(tmp_path, '"""alphabet"""\n' + text).digest != before.digest
    assert looked(tmp_path, '"""a"""\n' + PLAIN).digest == looked(tmp_path, '"""b"""\n' + PLAIN).digest


def test_a_file_of_the_same_time_and_size_is_another_file(tmp_path: Path) -> None:
    before = looked(tmp_path, one("1.0"))
    stat = (tmp_path / "rewards.py").stat()
    (tmp_path / "rewards.py").write_text(one("2.0"))
    os.utime(tmp_path / "rewards.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    loaded = RewardSet.load(tmp_path / "rewards.py::pays").describe()
    assert look(loaded.rewards[0], loaded.root).digest != before.digest


def test_a_package_that_is_installed_meanwhile_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = installed()
    (tmp_path / "new-1.0.dist-info").mkdir()
    assert installed() != before


def test_code_that_was_written_while_it_was_scored_is_doubtful(tmp_path: Path) -> None:
    found = looked(tmp_path, PLAIN)
    written = (tmp_path / "rewards.py").stat().st_ctime_ns
    assert (found.changed_since(written), found.changed_since(written + 1)) == (True, False)
