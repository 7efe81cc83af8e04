"""CSV: separators, cells of several lines, and rows that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.errors import SamplesError
from tests.workbench.samples.conftest import Write
from workbench.samples import read_samples

HEADER = "prompt,completion,answer"


def test_cells_of_several_lines_are_read(formats: Path) -> None:
    samples = read_samples([formats / "prompt_completion.csv"])
    assert len(samples) == 48
    assert samples.completions[0].count("\n") == 2
    assert samples.columns["answer"][0] == "18"
    assert not samples.skipped


@pytest.mark.guide("G18")
def test_byte_order_mark_semicolons_and_other_names_are_read_with_mapped_columns(formats: Path) -> None:
    names = {"Prompt": "prompt", "Response": "completion", "Reference": "answer"}
    samples = read_samples([formats / "prompt_completion_bom_semicolon.csv"], columns=names)
    assert list(samples.columns) == ["answer"]
    assert samples.completions[0].endswith("A: 26")


@pytest.mark.guide("G18")
def test_a_knowledge_base_names_its_columns_and_the_mapping_is_offered(write) -> None:
    path = write("s.csv", "question,response,expert_answer", "q,r,e")
    with pytest.raises(SamplesError) as caught:
        read_samples([path])
    assert str(caught.value) == (
        f"{path}: no `prompt` and no `completion` column; the columns are question, response, expert_answer; "
        "if they are meant, say --columns question=prompt,response=completion, or write "
        '`columns = { question = "prompt", response = "completion" }` under [data] in rewardset.toml'
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(write, separator: str) -> None:
    text = [row.replace(",", separator) for row in (HEADER, '"x",y,1', "e,f,2")]
    assert read_samples([write("s.csv", *text)]).completions == ["y", "f"]


def test_a_separator_inside_quoted_cells_misleads_nobody(write) -> None:
    path = write("s.csv", "prompt;completion", '"a, b, c";"d, e, f"', '"g, h, i";"j, k, l"')
    assert read_samples([path]).completions == ["d, e, f", "j, k, l"]


def test_cells_are_text_and_an_empty_one_is_missing_but_an_empty_completion_is_empty(write) -> None:
    samples = read_samples([write("s.csv", HEADER, "p,,", "p,c,007")])
    assert samples.completions == ["", "c"]
    assert samples.columns["answer"] == [None, "007"]


def test_a_row_of_another_width_is_told(write) -> None:
    samples = read_samples([write("s.csv", HEADER, "p,c,1", "p,c", "p,c,1,2")])
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (3, "2 cells where the header has 3"),
        (4, "4 cells where the header has 3"),
    ]


def test_a_quote_that_is_never_closed_is_told_with_the_line_it_opens_on(write) -> None:
    samples = read_samples([write("s.csv", HEADER, "p,c,1", 'p,"c,1', "p,c,1")])
    assert len(samples) == 1
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (3, "a quoted cell that opens in this row is never closed")
    ]


def test_a_stray_quote_costs_one_row(write) -> None:
    samples = read_samples([write("s.csv", HEADER, 'p,"c" x,1', "p,d,1")])
    assert samples.completions == ["d"]
    assert samples.skipped[0].line == 2


def test_line_numbers_count_the_lines_inside_cells(write) -> None:
    samples = read_samples([write("s.csv", HEADER, 'p,"a', "b", 'c",1', "p,d,1")])
    assert [place.line for place in samples.places] == [2, 5]


def test_bytes_that_are_no_text_cost_one_row(write) -> None:
    path = write("s.csv", HEADER, "p,caf\u00e9,1", "p,d,1", encoding="latin-1")
    samples = read_samples([path])
    assert samples.completions == ["d"]
    assert [(skip.line, skip.why) for skip in samples.skipped] == [(2, "not UTF-8 text")]


def test_a_cell_larger_than_the_default_limit_is_read(write) -> None:
    assert len(read_samples([write("s.csv", HEADER, f"p,{'x' * 200_000},1")]).completions[0]) == 200_000


@pytest.mark.parametrize("dump", [json.dumps, str])
def test_chat_in_a_cell_is_chat_whether_json_or_as_pandas_writes_it(write, dump) -> None:
    chat = [{"role": "assistant", "content": "it's 4"}]
    cell = dump(chat).replace('"', '""')
    samples = read_samples([write("s.csv", HEADER, f'p,"{cell}",1')])
    assert samples.completions == [chat]


def test_tab_separated_files_are_read(write) -> None:
    assert read_samples([write("s.tsv", "prompt\tcompletion", "p\tc")]).completions == ["c"]


@pytest.mark.parametrize("source", ["response", "completion"])
def test_an_empty_completion_is_empty_under_any_name(write, source: str) -> None:
    path = write("s.csv", f"prompt,{source},answer", "p,,1", "p,c,")
    samples = read_samples([path], columns={source: "completion"})
    assert (samples.completions, samples.columns["answer"], samples.skipped) == (["", "c"], ["1", None], [])


def test_a_header_that_names_a_column_twice_is_refused(write: Write) -> None:
    with pytest.raises(SamplesError, match="2 columns are called 'completion'; rename them"):
        read_samples([write("s.csv", "prompt,completion,completion", "p,a,b")])
    assert len(read_samples([write("t.csv", "prompt,completion,,", "p,a,,")])) == 1
