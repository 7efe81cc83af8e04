"""Code does the same traced and untraced: results, exceptions, effects, laziness."""

from __future__ import annotations

import ast
import functools
import importlib.util
import io
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.contract import Batch, call
from rewards.rewardset import RewardSet
from rewards.tracing.recorder import recording
from rewards.tracing.rewrite import instrument
from tests.rewards.tracing.keys import FUNCTIONS, explainer

LANGUAGE = Path(__file__).parent / "language.py"


def load(path: Path, name: str, *, traced: bool) -> types.ModuleType:
    """Run a file as a module, instrumented or not."""
    tree = ast.parse(path.read_text())
    if traced:
        tree = ast.fix_missing_locations(instrument(tree, path))
    module = types.ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    exec(compile(tree, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


@functools.cache
def language(traced: bool) -> types.ModuleType:
    return load(LANGUAGE, f"language_{traced}", traced=traced)


def outcome(module: types.ModuleType, name: str) -> str:
    """What a case logs, returns or raises, and where."""
    log: list[Any] = []
    try:
        result: Any = getattr(module, name)(log)
    except Exception as error:  # noqa: BLE001  # whatever the case raises is its outcome
        trace = error.__traceback__
        lines = []
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(LANGUAGE):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        result = (type(error).__name__, str(error), lines)
    return repr((log, result))


CASES = [name for name in dir(language(False)) if name.startswith("case_")]


@pytest.mark.parametrize("name", CASES)
def test_instrumented_code_behaves_the_same_when_nobody_records(name: str) -> None:
    assert outcome(language(True), name) == outcome(language(False), name)


@pytest.mark.parametrize("name", CASES)
def test_instrumented_code_behaves_the_same_while_recorded(name: str) -> None:
    expected = outcome(language(False), name)
    with recording():
        found = outcome(language(True), name)
    assert found == expected


TEXT = "The quick brown fox\njumps over the lazy dog, twice; and <b>then</b> naps.\n" * 3

STANDARD: dict[str, Callable[[Any], Any]] = {
    "difflib": lambda m: (
        m.SequenceMatcher(None, TEXT[:120], TEXT[40:160]).ratio(),
        list(m.unified_diff(TEXT.splitlines(), TEXT[10:].splitlines())),
    ),
    "textwrap": lambda m: (m.wrap(TEXT, 30), m.dedent("  a\n   b\n"), m.shorten(TEXT, 40)),
    "statistics": lambda m: (m.mean([1, 2, 3.5]), m.stdev([1, 2, 3.5]), m.quantiles(range(20))),
    "fractions": lambda m: (
        str(m.Fraction(3, 4) + m.Fraction("1.25") / 3),
        m.Fraction(10, 4) > m.Fraction(5, 2),
    ),
    "_pydecimal": lambda m: (
        str(m.Decimal("1.1").sqrt() * 3),
        str(m.Decimal("123.456").quantize(m.Decimal("0.1"))),
    ),
    "json.decoder": lambda m: (
        m.py_scanstring('abc\\n\\u1234d"', 0),
        m.JSONDecoder().decode('{"a":[1,null]}'),
    ),
    "re._parser": lambda m: repr(m.parse(r"(?P<a>a+|b{2,3})(?:x|[y-z0-9])*?(?=\d)\b.(?i:q)")),
    "string": lambda m: (m.capwords(TEXT), m.Template("$a ${b} $$").substitute(a=1, b=2)),
    "shlex": lambda m: (m.split('a \'b c\' "d\\"e" f#g'), m.quote("a b")),
    "heapq": lambda m: (list(m.merge([1, 4], [2, 3])), m.nlargest(2, [1, 5, 3], key=lambda x: -x)),
    "random": lambda m: (m.Random(7).sample(range(100), 5), m.Random(7).gauss(0, 1)),
    "configparser": lambda m: _configuration(m),
    "csv": lambda m: (
        list(m.DictReader(io.StringIO("a,b\n1,2\n"))),
        m.Sniffer().sniff("a;b\n1;2\n").delimiter,
    ),
    "pprint": lambda m: m.pformat({"a": list(range(30)), "b": {"c": TEXT}}, width=40),
    "ast": lambda m: m.unparse(ast.parse("def f(a,*b,c=1):\n  return [i for i in a if i] or {**c}\n")),
    "tokenize": lambda m: [
        t[:2] for t in m.generate_tokens(io.StringIO("def f(x):\n  return x+'a'\n").readline)
    ],
    "copy": lambda m: m.deepcopy([1, [2, 3], {"x": (1, 2)}]),
    "collections": lambda m: (
        m.Counter(TEXT).most_common(3),
        m.namedtuple("P", "x y")(1, 2),
        m.ChainMap({3: 4})[3],
    ),
    "functools": lambda m: (
        m.reduce(lambda a, b: a + b, [1, 2, 3]),
        sorted([3, 1], key=m.cmp_to_key(lambda a, b: a - b)),
    ),
    "urllib.parse": lambda m: (
        m.urlparse("http://a/b?c=d#e"),
        m.quote("a b/é"),
        m.urljoin("http://a/b/c", "../d"),
    ),
}


def _configuration(module: Any) -> Any:
    parser = module.ConfigParser()
    parser.read_string("[a]\nx=1\ny=%(x)s2\n[b]\nz: 3\n")
    return {section: dict(parser[section]) for section in parser.sections()}


@pytest.mark.parametrize("name", sorted(STANDARD))
def test_modules_of_the_standard_library_compute_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    expected = repr(STANDARD[name](load(Path(spec.origin), name, traced=False)))
    traced = load(Path(spec.origin), name, traced=True)
    assert repr(STANDARD[name](traced)) == expected
    with recording():
        found = repr(STANDARD[name](traced))
    assert found == expected


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "42",
        "-3.5",
        "1,000",
        "\n",
        " ",
        "First,",
        "so",
        "more",
        "{",
        '"',
        "[1]",
        "B",
    ]
)
COMPLETIONS = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)


def same_call(file: Path, name: str, batch: Batch) -> None:
    """One reward gives the same scores, states, errors and prints traced and untraced."""
    loaded = explainer(file)
    plain = call(loaded.plain.function(name), batch)
    with recording():
        traced = call(loaded.traced.function(name), batch)
    assert plain.scores.tobytes() == traced.scores.tobytes()
    assert plain.status.tolist() == traced.status.tolist()
    assert plain.errors == traced.errors
    assert plain.printed == traced.printed
    assert plain.metrics == traced.metrics


@pytest.mark.parametrize("file", sorted(path.name for path in FUNCTIONS.glob("*.py")))
@settings(max_examples=12)
@given(texts=st.lists(COMPLETIONS, min_size=1, max_size=3), answer=COMPLETIONS)
def test_rewards_score_the_same_on_any_text(file: str, texts: list[str], answer: str) -> None:
    path = FUNCTIONS / file
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    batch = Batch([[]] * len(texts), completions, columns={"answer": [answer] * len(texts)})
    for name in explainer(path).plain.names:
        same_call(path, name, batch)


@pytest.mark.parametrize("file", sorted(path.name for path in FUNCTIONS.glob("*.py")))
@settings(max_examples=6)
@given(text=COMPLETIONS, answer=COMPLETIONS)
def test_credits_add_up_on_any_text(file: str, text: str, answer: str) -> None:
    path = FUNCTIONS / file
    batch = Batch([[]], [[{"role": "assistant", "content": text}]], columns={"answer": [answer]})
    loaded = explainer(path)
    for name in loaded.plain.names:
        explanation = loaded.explain(name, batch, 0)
        total = sum(credit.points for credit in explanation.credits)
        assert explanation.error is not None or explanation.exact
        assert explanation.score is None or total == pytest.approx(explanation.score, abs=1e-9)
        assert all(
            0 <= start < end <= len(text) for credit in explanation.credits for start, end in credit.spans
        )


def test_a_file_of_the_user_keeps_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "r.py"
    file.write_text(
        '"""Doc."""\nfrom __future__ import annotations\n\n\ndef r(completions, **kwargs):\n    return [1 / 0]\n'
    )
    rewards = RewardSet.load(file, transform=instrument)
    result = call(rewards.function("r"), Batch([""], ["x"]))
    assert result.errors[0] == "ZeroDivisionError: division by zero (r.py:6)"
