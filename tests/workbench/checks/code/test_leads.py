"""Each lead: code that has it, and code that comes close."""

import textwrap

import pytest

# code of the check, a reward that has it (the line that is told carries "# here"), one that comes close
LEADS = {
    "runs-process": (
        "RW901",
        """
        import subprocess, sys
        def reward(completions, **kwargs):
            program = [sys.executable, "-c", completions[0][-1]["content"]]
            return [float(subprocess.run(program).returncode) for _ in completions]  # here
        """,
        """
        import ast
        def reward(completions, **kwargs):
            return [float(ast.literal_eval("1") == len(c)) for c in completions]
        """,
    ),
    "file": (
        "RW902",
        """
        def reward(completions, **kwargs):
            with open("/dev/null", "a") as file:  # here
                file.write("seen")
            return [float(len(c)) for c in completions]
        """,
        """
        WORDS = open("/dev/null").read().split()
        def reward(completions, **kwargs):
            return [float(len(c) + len(WORDS)) for c in completions]
        """,
    ),
    "bare": (
        "RW903",
        """
        def reward(completions, answer, **kwargs):
            scores = []
            for c, a in zip(completions, answer):
                try:
                    scores.append(float(c[-1]["content"] == a))
                except:  # here
                    scores.append(0.0)
            return scores
        """,
        """
        import logging
        def reward(completions, answer, **kwargs):
            try:
                return [float(c[-1]["content"] == a) for c, a in zip(completions, answer)]
            except Exception:
                logging.exception("reward")
                raise
        """,
    ),
    "undefined": (
        "RW904",
        """
        def reward(completions, answer, **kwargs):
            if not completions:
                return [defualt]  # here
            return [float(c[-1]["content"] == a) for c, a in zip(completions, answer)]
        """,
        """
        default: float
        def reward(completions, answer, **kwargs):
            global later
            later = 1.0
            try:
                unicode
            except NameError:
                unicode = str
            return [later * (unicode(c[-1]["content"]) == a) for c, a in zip(completions, answer)]
        """,
    ),
    "default": (
        "RW905",
        """
        def reward(completions, seen=[], **kwargs):  # here
            for c in completions:
                seen.append(c)
            return [float(len(c)) for c in completions]
        """,
        """
        def reward(completions, words=["so"], **kwargs):
            words = list(words)
            words.append("thus")
            return [float(words[0] in c[-1]["content"]) for c in completions]
        """,
    ),
    "dot": (
        "RW906",
        r"""
        import re
        LAYOUT = re.compile(r"^.*<answer>.*</answer>$")  # here
        def reward(completions, **kwargs):
            return [float(bool(LAYOUT.match(c[-1]["content"]))) for c in completions]
        """,
        r"""
        import re
        LAYOUT = re.compile(r"(?s)^.*<answer>[^<]*</answer>$")
        def reward(completions, **kwargs):
            return [float(bool(LAYOUT.match(c[-1]["content"]))) for c in completions]
        """,
    ),
    "dot under a name": (
        "RW906",
        r"""
        import re
        def reward(completions, **kwargs):
            pattern = r"^.*" + r"<answer>.*</answer>$"
            return [float(bool(re.match(pattern, c[-1]["content"]))) for c in completions]  # here
        """,
        r"""
        import re
        FLAGS = re.DOTALL
        def reward(completions, **kwargs):
            pattern = r"^.*<answer>.*</answer>$"
            return [float(bool(re.match(pattern, c[-1]["content"], FLAGS))) for c in completions]
        """,
    ),
    "substring": (
        "RW909",
        """
        def reward(completions, answer, **kwargs):
            return [float(str(a).lower() in c[-1]["content"]) for c, a in zip(completions, answer)]  # here
        """,
        """
        def reward(completions, answer, **kwargs):
            return [float(a in c[-1]["content"].split()) for c, a in zip(completions, answer)]
        """,
    ),
    "equality": (
        "RW910",
        """
        def reward(completions, **kwargs):
            return [float(0.1 + 0.2 * len(c[-1]["content"]) == 0.7) for c in completions]  # here
        """,
        """
        def reward(completions, answer, **kwargs):
            return [float(float(len(c[-1]["content"])) == float(a)) for c, a in zip(completions, answer)]
        """,
    ),
    "set": (
        "RW911",
        """
        def reward(completions, **kwargs):
            scores = []
            for c in completions:
                words = set(c[-1]["content"].split())
                scores.append(float(len(list(words)[0])))  # here
            return scores
        """,
        """
        def reward(completions, **kwargs):
            scores = []
            for c in completions:
                words = set(c[-1]["content"].split())
                scores.append(float(len(sorted(words)[0]) + sum(len(w) for w in words)))
            return scores
        """,
    ),
    "unread": (
        "RW912",
        """
        def reward(completions, answer, **kwargs):  # here
            return [float("<answer>" in c[-1]["content"]) for c in completions]
        """,
        """
        def reward(completions, answer, **kwargs):
            return score(completions, answer)
        def score(texts, golds):
            return [float(g in t[-1]["content"]) for t, g in zip(texts, golds)]
        """,
    ),
    "counted": (
        "RW912",
        """
        def reward(completions, **kwargs):  # here
            return [1.0] * len(completions)
        """,
        """
        def reward(completions, **kwargs):
            return [1.0 / len(c) for c in completions]
        """,
    ),
    "exit": (
        "RW913",
        """
        import sys
        def reward(completions, **kwargs):
            if not completions:
                sys.exit("nothing to score")  # here
            return [float(len(c)) for c in completions]
        """,
        """
        import os, signal
        def reward(completions, **kwargs):
            def stop(child):
                os.kill(child, signal.SIGKILL)
            return [float(len(c)) for c in completions]
        """,
    ),
    "cache": (
        "RW914",
        """
        KNOWN = {}
        def reward(completions, **kwargs):
            for c in completions:
                KNOWN[c[-1]["content"]] = len(c)  # here
            return [float(KNOWN[c[-1]["content"]]) for c in completions]
        """,
        """
        import functools
        KNOWN = {}
        @functools.cache
        def table():
            return {"a": 1}
        def reward(completions, **kwargs):
            for c in completions:
                if len(KNOWN) > 100:
                    KNOWN.clear()
                KNOWN[c[-1]["content"]] = table()
            return [float(len(KNOWN)) for c in completions]
        """,
    ),
    "random": (
        "RW915",
        """
        import random as rnd
        def reward(completions, **kwargs):
            return [rnd.uniform(0, 0.01) for c in completions]  # here
        """,
        """
        import random, zlib
        def reward(completions, **kwargs):
            return [random.Random(zlib.crc32(c[-1]["content"].encode())).random() for c in completions]
        """,
    ),
}


@pytest.mark.parametrize("name", sorted(LEADS))
def test_lead_is_a_note_with_its_line(check, name):
    code, source, _ = LEADS[name]
    [finding] = [finding for finding in check(source, code) if finding.severity == "info"]
    line = next(n for n, text in enumerate(textwrap.dedent(source).split("\n"), 1) if text.endswith("# here"))
    assert (finding.check, finding.line) == (code, line)
    assert finding.message.startswith(f"reward: line {line} ")


@pytest.mark.parametrize("name", sorted(LEADS))
def test_code_that_comes_close_is_left_alone(check, name):
    code, _, source = LEADS[name]
    assert check(source, code) == []


def test_sound_reward_has_no_leads(check, healthy):
    assert check(healthy, "RW9") == []


def test_code_that_the_reward_does_not_use_is_not_read(check):
    source = """
    import sys
    def other(text):
        sys.exit(len(text))
    def reward(completions, **kwargs):
        return [float(len(c)) for c in completions]
    """
    assert check(source, "RW913", declare="") == []
