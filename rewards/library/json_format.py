"""JSON: that it is some, that it fits a schema, that its fields are right.

All three read it alike (`rewards.library.json_reading`): after the thinking, bare or in a fence, strictly. What
is empty is no JSON anybody asked for, and a bare number, text or null is none either.
"""

from __future__ import annotations

import functools
import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.json_reading import (
    SHAPES,
    NotJson,
    Read,
    find_json,
    has_shape,
    parse_json,
    says_something,
)
from rewards.library.json_schemas import BadSchema, Schema
from rewards.library.parameters import flag, one_of, wrong
from rewards.library.references import not_scored, tell_unread
from rewards.marks import reward


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def json_format(
    completions: list[Any],
    *,
    json_shape: str = "object or array",
    json_tag: str = "",
    json_alone: bool = True,
    **columns: Any,
) -> list[float | None]:
    """Reward JSON.

    1.0 where a completion gives, after its thinking, one JSON object or array with something in it, bare or in a
    fence; 0.0 for anything else: other text beside it, a bare number, text or null, NaN and infinite numbers, a
    key that stands twice, a fence that is not closed, a skeleton of nulls, blank texts and empty brackets.

    Args:
        completions: chat or plain text.
        json_shape: "object", "array" or "object or array".
        json_tag: the tag whose last block has to hold the JSON, such as "answer"; "": none.
        json_alone: false: text may stand around the fence or the outermost brackets.

    Returns:
        One of 0.0, 1.0 per completion.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> json_format(['{"a": 1}', '```json\\n[1, 2]\\n```', "{}", "42", '{"a": NaN}', '{"a": 1} there'])
    [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    shape = one_of("json_format", "json_shape", json_shape, SHAPES)
    alone = flag("json_format", "json_alone", json_alone)
    tag = _tag("json_format", json_tag)
    return [_format(text, shape, tag, alone) for text in map(completion_text, completions)]


@reward(kind="format", weight=1.0, range=(0.0, 1.0), scope="row", abstains=True)
def json_schema(
    completions: list[Any],
    schema: Any = None,
    *,
    json_tag: str = "",
    json_alone: bool = True,
    strict_schema: bool = False,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward JSON that fits a schema.

    1.0 where the JSON a completion gives (as `json_format` reads it) is valid under the schema, else 0.0. An empty
    object or array is never paid. Nothing is fetched: a `$ref` to another document cannot be read.

    Args:
        completions: chat or plain text.
        schema: one JSON schema for all (a mapping or JSON text, from `params`), or a column with one a row.
        json_tag: the tag whose last block has to hold the JSON, such as "answer"; "": none.
        json_alone: false: text may stand around the fence or the outermost brackets.
        strict_schema: take every property of every object as required, and no other as allowed, where the schema
            itself does not say.
        log_metric: TRL's; told the share of rows that cannot be scored, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the row has no schema, or one that is none.

    Raises:
        ValueError: if the schema for all is missing or no schema, or another parameter not what it should be.

    >>> wanted = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}
    >>> json_schema(['{"age": 3}', '{"age": "3"}', "{}"], schema=wanted)
    [1.0, 0.0, 0.0]
    """
    alone = flag("json_schema", "json_alone", json_alone)
    strict = flag("json_schema", "strict_schema", strict_schema)
    tag = _tag("json_schema", json_tag)
    schemas = _schemas(schema, len(completions), strict)
    scores = [
        not_scored(None, "a schema") if one is None else _schema(text, one, tag, alone)
        for text, one in zip(map(completion_text, completions), schemas, strict=True)
    ]
    tell_unread(log_metric, "json_schema", scores)
    return scores


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def json_fields(
    completions: list[Any],
    answer: list[Any],
    *,
    json_tag: str = "",
    json_alone: bool = False,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward right fields.

    The JSON a completion gives is compared with the reference field by field; objects inside objects are gone
    through, arrays are one field. Every field counts the same, and so does one that the reference does not have,
    which is wrong. Equal are: numbers of one value (1 and 1.0), texts that differ only in white space or Unicode
    form, `true`, `false` and `null` each with itself alone. Text around the JSON does not matter unless
    `json_alone` is set; `json_format` is there for that.

    Args:
        completions: chat or plain text.
        answer: column with the references: JSON text, or objects and arrays. In an object that is no text, a null
            field counts as absent, because tables fill in what is missing with nulls.
        json_tag: the tag whose last block has to hold the JSON, such as "answer"; "": none.
        json_alone: whether only the JSON may be there.
        log_metric: TRL's; told the share of rows that cannot be scored, where there are any.

    Returns:
        The share of fields that are right, per completion; None where the reference is missing, empty or no
        object or array.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> json_fields(['{"a": 1, "b": "x"}', '{"a": 1, "b": "y"}', "a: 1"], answer=['{"a": 1, "b": "x"}'] * 3)
    [1.0, 0.5, 0.0]
    >>> json_fields(["[false, true]"], answer=["[0, 1]"])
    [0.0]
    """
    alone = flag("json_fields", "json_alone", json_alone)
    tag = _tag("json_fields", json_tag)
    scores = [
        _fields(completion_text(completion), reference, tag, alone)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "json_fields", scores)
    return scores


# ------------------------------------------------------------------------------------------- one row


def _read(text: str, tag: str, alone: bool, shape: str = "object or array") -> Read:
    read = find_json(text, tag=tag, alone=alone)
    if not has_shape(read.value, shape):
        raise NotJson(f"no {shape}, or an empty one")
    return read


def _format(text: str, shape: str, tag: str, alone: bool) -> float:
    try:
        read = _read(text, tag, alone, shape)
        if not says_something(read.value):
            raise NotJson("nothing in it")
    except NotJson as error:
        return credit("JSON", 0.0, of=1.0, span=(0, len(text)), note=str(error))
    return credit("JSON", 1.0, of=1.0, span=read.span)


def _schema(text: str, schema: Schema, tag: str, alone: bool) -> float:
    try:
        read = _read(text, tag, alone)
    except NotJson as error:
        return credit("fits the schema", 0.0, of=1.0, span=(0, len(text)), note=str(error))
    problem = schema.problem(read.value)
    return credit("fits the schema", float(problem is None), of=1.0, span=read.span, note=problem)


def _fields(text: str, reference: Any, tag: str, alone: bool) -> float | None:
    known = _reference(reference)
    if known is None:
        return not_scored(reference, "a JSON object or array with something in it")
    wanted = flat(known)
    try:
        read = _read(text, tag, alone)
    except NotJson as error:
        return credit("JSON", 0.0, of=1.0, span=(0, len(text)), note=str(error))
    found = flat(read.value)
    surplus = sum(1 for path in found if path not in wanted)
    fields = len(wanted) + surplus
    right = 0
    for path, value in wanted.items():
        is_right = path in found and same(found[path], value)
        note = None if is_right else ("missing" if path not in found else "another value")
        credit(path or "the array", is_right / fields, of=1 / fields, span=read.span, note=note)
        right += is_right
    if surplus:
        credit("fields nobody asked for", 0.0, of=0.0, span=read.span, note=f"{surplus} lower each share")
    return right / fields


def flat(value: Any) -> dict[str, Any]:
    """The fields of a JSON value by their path; one without a path where it is no object.

    >>> flat({"a": {"b": 1}, "c": [2]})
    {'a.b': 1, 'c': [2]}
    """
    fields: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, one = pending.pop()
        if isinstance(one, Mapping) and one:
            inner = [
                (f"{path}.{_escaped(key)}" if path else _escaped(key), item) for key, item in one.items()
            ]
            pending += reversed(inner)
        else:
            fields[path] = one
    return fields


def _escaped(key: Any) -> str:
    """A key as part of a path, so that `{"a.b": 1}` is not `{"a": {"b": 1}}`."""
    return str(key).replace("\\", "\\\\").replace(".", "\\.")


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; true is not 1, 1 is 1.0, white space in texts does not matter.

    >>> same([1, "a  b"], [1.0, "a b"]), same(True, 1), same({"a": None}, {})
    (True, False, False)
    """
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            if left.keys() != right.keys():
                return False
            pending += [(left[key], right[key]) for key in left]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif isinstance(left, str) and isinstance(right, str):
            if _plain(left) != _plain(right):
                return False
        elif _kind(left) != _kind(right) or left != right:
            return False
    return True


def _kind(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


# ---------------------------------------------------------------------------- columns and parameters


def _reference(value: Any) -> Any:
    """The reference as an object or array that is not empty; None where it is none."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except NotJson:
            return None
    else:
        value = _without_nulls(value)
    return value if has_shape(value, "object or array") else None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_nulls(item) for item in value]
    return value


def _schemas(value: Any, rows: int, strict: bool) -> list[Schema | None]:
    """A schema for each row."""
    if isinstance(value, list):
        return [_row_schema(one, strict) for one in value]
    try:
        if value is None:
            raise BadSchema("there is none")
        return [_compiled(_text_of(value), strict)] * rows
    except BadSchema as error:
        raise wrong("json_schema", "schema", value, f"a JSON schema ({error})") from error


def _row_schema(value: Any, strict: bool) -> Schema | None:
    try:
        return None if value is None or value == "" else _compiled(_text_of(value), strict)
    except BadSchema:
        return None


def _text_of(value: Any) -> str:
    """A schema as JSON text; nulls of a mapping are what a table filled in."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        raise BadSchema("it is no object")
    try:
        return json.dumps(_without_nulls(value), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSchema(str(error)) from error


@functools.lru_cache(maxsize=1024)
def _compiled(text: str, strict: bool) -> Schema:
    try:
        return Schema(parse_json(text), strict=strict)
    except NotJson as error:
        raise BadSchema(str(error)) from error


def _tag(name: str, value: Any) -> str:
    if isinstance(value, str) and not any(sign in value for sign in "<>/ \n"):
        return value
    raise wrong(name, "json_tag", value, 'the name of a tag such as "answer", or ""')
