"""JSON: valid, under a schema, with right fields."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.credits import recording
from rewards.library import json_fields, json_format, json_schema
from rewards.library.json_reading import NotJson, parse_json

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def valid(text: str, **options: Any) -> float | None:
    return json_format([text], **options)[0]


def fields(text: str, reference: Any, **options: Any) -> float | None:
    return json_fields([text], [reference], **options)[0]


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        " [1]\n",
        '```json\n{"a": 1}\n```',
        '```\n[{"a": false}]\n```',
        '<think>{"a"</think>\n{"a": 1}',
    ],
)
def test_an_object_or_array_is_paid_bare_or_in_a_fence(text: str) -> None:
    assert valid(text) == 1.0


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    "text",
    [
        "[{}]", '{"a": null}', '{"a": "", "b": [" "]}', "", "null", "42", "NaN", '"text"',
        "true", "{}", "[]", "{ }", '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}',
        '{"a": 1, "a": 2}', '{"a": 1} there', 'Here: {"a": 1}', '{"a": 1}{"b": 2}', "{'a': 1}", '{"a": 1,}', '{"a"',
        '```json\n{"a": 1}', '```json\n{}\n```', '```\n{"a": 1}\n```\n```\n{"a": 1}\n```', '```\n{"a": 1}\n``` ok',
        "[" * 3000 + "]" * 3000, "[" + "1" * 5000 + "]", '{"a": "\n"}',
    ],
)  # fmt: skip
def test_what_is_no_json_or_empty_or_has_company_is_not(text: str) -> None:
    assert valid(text) == 0.0


def test_the_shape_the_tag_and_company_may_be_asked_for() -> None:
    assert [valid("[1]", json_shape=shape) for shape in ("array", "object")] == [1.0, 0.0]
    assert valid('So: <answer>{"a": 1}</answer>', json_tag="answer") == 1.0
    assert valid('{"a": 1}', json_tag="answer") == 0.0
    assert valid('Here:\n```json\n{"a": 1}\n```\nDone.', json_alone=False) == 1.0
    assert valid('It is {"a": 1}, I think.', json_alone=False) == 1.0


def test_of_several_fences_the_last_counts() -> None:
    text = '```\n{"a": 1}\n```\nNo:\n```\n{"a": 2}\n```'
    assert fields(text, {"a": 2}) == 1.0
    assert fields(text, {"a": 1}) == 0.0


@given(VALUES)
def test_what_python_writes_is_read_as_it_was(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value


def test_the_reason_is_told() -> None:
    with pytest.raises(NotJson, match="a key stands twice"):
        parse_json('{"a": 1, "a": 1}')
    with recording(1) as record:
        valid('{"a": NaN}')
    assert record.by_row()[0][0]["note"] == "NaN is no JSON"


# ------------------------------------------------------------------------------------------- schema


def fits(text: str, schema: Any = PERSON, **options: Any) -> float | None:
    return json_schema([text], schema, **options)[0]


def test_json_that_fits_the_schema_is_paid() -> None:
    assert fits('{"name": "Ann", "age": 3}') == 1.0
    assert fits('```json\n{"name": "Ann"}\n```') == 1.0
    assert fits('{"age": 3}') == 0.0
    assert fits('{"name": "Ann", "age": true}') == 0.0
    assert fits("{}", {"type": "object"}) == 0.0


def test_a_strict_schema_wants_every_property_and_no_other() -> None:
    assert fits('{"name": "Ann"}', strict_schema=True) == 0.0
    assert fits('{"name": "Ann", "age": 3, "x": 1}') == 1.0
    assert fits('{"name": "Ann", "age": 3, "x": 1}', strict_schema=True) == 0.0
    assert fits('{"name": "Ann", "age": 3}', strict_schema=True) == 1.0


def test_a_column_has_a_schema_a_row_as_text_or_mapping_or_none() -> None:
    column = [PERSON, json.dumps(PERSON), None, "", "no schema", {"type": "nothing"}]
    assert json_schema(['{"name": "Ann"}'] * 6, column) == [1.0, 1.0, None, None, None, None]


def test_nulls_that_a_table_filled_into_a_schema_do_not_matter() -> None:
    assert fits('{"name": "Ann"}', [{**PERSON, "minimum": None, "$ref": None}]) == 1.0


@pytest.mark.parametrize("schema", [None, 7, "no JSON", {"type": "nothing"}, {"pattern": r"(a)\1"}])
def test_a_schema_for_all_that_is_none_is_refused(schema: Any) -> None:
    with pytest.raises(ValueError, match=r"reward 'json_schema': schema=.* must be a JSON schema"):
        fits('{"name": "Ann"}', schema)


def test_nothing_is_fetched() -> None:
    with recording(1) as record:
        assert fits('{"a": 1}', {"$ref": "http://localhost:9/schema.json"}) == 0.0
    assert "refers to something elsewhere" in record.by_row()[0][0]["note"]


def test_patterns_and_uniqueness_take_linear_time() -> None:
    schema = {
        "items": {"type": ["object", "string"], "pattern": r"^(a+)+$"},
        "uniqueItems": True,
        "patternProperties": {r"^(b+)+$": {"type": "integer"}},
    }
    start = time.process_time()
    assert fits(json.dumps(["a" * 5_000 + "!"]), schema) == 0.0
    assert fits(json.dumps([{"n": n} for n in range(20_000)]), schema) == 1.0
    assert fits(json.dumps({"b" * 5_000 + "!": "x"}), schema) == 1.0
    assert time.process_time() - start < 4.0
    assert fits('[{"a": 1}, {"a": 1.0}]', schema) == 0.0


def test_what_does_not_fit_is_told() -> None:
    with recording(1) as record:
        fits('{"name": "Ann", "age": -1}')
    assert record.by_row()[0][0]["note"] == "age: -1 is less than the minimum of 0"


# ------------------------------------------------------------------------------------------- fields


def test_each_field_counts_the_same_also_inside_objects() -> None:
    reference = {"name": "Ann", "home": {"city": "Bonn", "zip": 53111}, "tags": ["a", "b"]}
    assert fields(json.dumps(reference), reference) == 1.0
    assert fields('{"name": "Ann", "home": {"city": "Bonn"}}', reference) == 0.5
    assert fields('{"tags": ["b", "a"]}', reference) == 0.0


def test_a_field_nobody_asked_for_lowers_the_share() -> None:
    assert fields('{"a": 1, "b": 2}', {"a": 1}) == 0.5
    with recording(1) as record:
        fields('{"a": 1, "b": 2}', {"a": 1})
    assert [credit["name"] for credit in record.by_row()[0]] == ["a", "fields nobody asked for"]


@pytest.mark.parametrize(
    ("text", "reference", "equal"),
    [
        ('{"a": 1.0}', '{"a": 1}', True),
        ('{"a": true}', '{"a": 1}', False),
        ('{"a": "1"}', '{"a": 1}', False),
        ('{"a": " x  y"}', '{"a": "x y"}', True),
        ('{"a": "X"}', '{"a": "x"}', False),
        ('{"a": null}', '{"a": null}', True),
        ('{"a": {}}', '{"a": {}}', True),
        ('{"a.b": 1}', {"a": {"b": 1}}, False),
        ("[1, 2]", [1, 2], True),
        ("[1, 2]", [2, 1], False),
    ],
)
def test_when_two_values_are_equal(text: str, reference: Any, equal: bool) -> None:
    assert (fields(text, reference) == 1.0) == equal


@pytest.mark.parametrize("reference", [None, "", "no JSON", "7", 7, {}, [], {"a": None}])
def test_a_reference_that_is_none_is_not_scored(reference: Any) -> None:
    assert fields('{"a": 1}', reference) is None


def test_null_fields_of_a_table_are_absent_those_of_a_text_are_not() -> None:
    assert fields('{"a": 1}', {"a": 1, "b": None}) == 1.0
    assert fields('{"a": 1}', '{"a": 1, "b": null}') == 0.5


@given(VALUES, VALUES)
def test_adding_a_missing_right_field_never_lowers_the_score(one: Any, other: Any) -> None:
    whole = json.dumps({"a": one, "b": other})
    less = fields(json.dumps({"a": one}), whole) or 0.0
    assert less <= (fields(whole, whole) or 0.0) == 1.0


def test_all_values_at_once_are_no_json() -> None:
    assert fields('{"a": 1, "a": 2, "a": 3}', {"a": 2}) == 0.0


@pytest.mark.parametrize("member", [json_format, json_schema, json_fields])
def test_wrong_parameters_are_refused(member: Any) -> None:
    with pytest.raises(ValueError, match=f"reward '{member.__name__}': json_tag='<a>'"):
        member(["x"], **{"answer": ["x"], "schema": {}, "json_tag": "<a>"})
    with pytest.raises(ValueError, match=f"reward '{member.__name__}': json_alone='no'"):
        member(["x"], **{"answer": ["x"], "schema": {}, "json_alone": "no"})
