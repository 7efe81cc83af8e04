"""`reward-workbench selftest`: wrong use is one sentence; what it measures is tested with the engine."""

import pytest

from tests.workbench.cli.command import run, sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "xml"], "--format xml: known formats are text, markdown, json"),
        (["--zoo", "zebras"], "there is no zoo 'zebras'"),
    ],
)
def test_wrong_use_exits_2_with_a_sentence(tmp_path, arguments, words):
    done = run("selftest", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert words in sentence(done)
