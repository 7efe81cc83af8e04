"""Where a credit's words stand in the completion, also after the text was changed on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewards.tracing.test_settings import explained

WAYS = {
    "a longer text for a word": ("t.replace('<answer>', 'A:')", "'A:' in text", "<answer>"),
    "a shorter text for a word": ("t.replace('it', 'the thing')", "'the thing' in text", "it"),
    "a pattern's words": ("re.sub('Paris|paris', 'yes!!', t)", "'yes!!' in text", "Paris"),
    "one of several groups": ("t", "re.findall(r'<(\\w+)>(\\w+)', text)[0][1] == 'Paris'", "Paris"),
}


@pytest.mark.parametrize(("made", "test", "words"), WAYS.values(), ids=WAYS)
def test_words_that_stand_for_others_are_those_others(
    tmp_path: Path, made: str, test: str, words: str
) -> None:
    source = f"""import re

def reward(completions, **_):
    scores = []
    for t in completions:
        text = {made}
        scores.append(1.0 if {test} else 0.0)
    return scores
"""
    text = "Is it so? <answer>Paris"
    [credit] = explained(tmp_path, source, 0, [text]).credits
    assert [text[start:end] for start, end in credit.spans] == [words]
