"""Whatever a file holds, reading it gives rows and reasons or one sentence, never a crash."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rewards.errors import SamplesError
from workbench.samples import read_samples

FORMATS = Path(__file__).resolve().parents[3] / "fixtures" / "formats"
LINES = {
    path.relative_to(FORMATS).as_posix(): path.read_text().splitlines()[0]
    for path in sorted(FORMATS.rglob("*.jsonl"))
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "x"]), inner)
    ),
    max_leaves=12,
)


def read(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            samples = read_samples([path])
        except SamplesError:
            return
        assert len(samples) == len(samples.groups) == len(samples.labels) == len(samples.places)
        assert all(len(values) == len(samples) for values in samples.columns.values())
        samples.batch()


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet", ".eval", ""])
@settings(max_examples=40)
@given(content=st.binary(max_size=200))
def test_any_bytes(suffix: str, content: bytes) -> None:
    read(f"s{suffix}", content)


def damaged(value: Any, draw: Any) -> Any:
    """`value` with something at a random place in it replaced or left out."""
    if isinstance(value, dict) and value and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)):
            return {**value, key: damaged(value[key], draw)}
        return {name: item for name, item in value.items() if name != key}
    if isinstance(value, list) and value and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], damaged(value[place], draw), *value[place + 1 :]]
    return draw(VALUES)


@pytest.mark.parametrize("name", LINES)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_record_of_each_format_with_something_in_it_damaged(name: str, data: st.DataObject) -> None:
    line = LINES[name]
    broken = damaged(json.loads(line), data.draw)
    read("s.jsonl", (json.dumps(broken) + "\n" + line).encode())
    read("s.jsonl", (line + "\n" + json.dumps(broken)).encode())


@settings(max_examples=100)
@given(text=st.text(alphabet=',;"\n\r\tab', max_size=60))
def test_any_table(text: str) -> None:
    read("s.csv", b"prompt,completion\n" + text.encode())
