"""A JSON schema, compiled once, safe on whatever a model writes.

Validation is `jsonschema`'s, with three changes: nothing is fetched from elsewhere, `pattern` and
`patternProperties` cannot be made slow by a text (a schema with a pattern that cannot be matched in linear time is
refused), and `uniqueItems` takes linear time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rewards.library.linear_pattern import compiled


class BadSchema(ValueError):
    """A schema that is none, or that refers to something elsewhere."""


class Schema:
    """A schema to validate values with.

    Args:
        schema: the schema.
        strict: take every property of an object as required and no other as allowed, where the schema does not
            say.

    Raises:
        BadSchema: it is no schema.

    >>> Schema({"type": "object", "properties": {"a": {"type": "integer"}}}).problem({"a": True})
    "a: True is not of type 'integer'"
    >>> Schema({"type": "object", "properties": {"a": {}}}, strict=True).problem({"b": 1}) is None
    False
    """

    def __init__(self, schema: Any, *, strict: bool = False) -> None:
        import jsonschema
        import referencing

        if not isinstance(schema, Mapping):
            raise BadSchema("it is no object")
        schema = closed(schema) if strict else schema
        base = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        try:
            base.check_schema(schema)
            for pattern in _patterns(schema):
                compiled(pattern)
        except jsonschema.SchemaError as error:
            raise BadSchema(error.message[:200]) from error
        except RecursionError as error:
            raise BadSchema("nested too deep") from error
        except ValueError as error:
            raise BadSchema(str(error)) from error
        changed = {"pattern": _pattern, "patternProperties": _pattern_properties, "uniqueItems": _unique}
        kind: Any = jsonschema.validators.extend(base, changed)  # type: ignore[no-untyped-call]
        self._validator = kind(schema, registry=referencing.Registry(), format_checker=base.FORMAT_CHECKER)

    def problem(self, value: Any) -> str | None:
        """What is wrong with a value, in one sentence; None where it is valid."""
        import referencing.exceptions

        try:
            error = next(self._validator.iter_errors(value), None)
        except RecursionError:
            return "nested too deep"
        except referencing.exceptions.Unresolvable as missing:
            return f"the schema refers to something elsewhere: {str(missing)[:80]}"
        if error is None:
            return None
        path = ".".join(str(part) for part in error.absolute_path)
        return f"{path}: {error.message[:120]}" if path else error.message[:120]


def closed(schema: Any) -> Any:
    """The schema with every object closed: all its properties required, no others allowed.

    >>> closed({"properties": {"a": {}}})
    {'properties': {'a': {}}, 'required': ['a'], 'additionalProperties': False}
    """
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {
        key: value if key in ("enum", "const", "default") else closed(value) for key, value in schema.items()
    }
    if isinstance(schema.get("properties"), Mapping):
        made["properties"] = {name: closed(one) for name, one in schema["properties"].items()}
        made["required"] = list(schema["properties"])
        made.setdefault("additionalProperties", False)
    return made


def _patterns(schema: Any) -> Iterator[str]:
    """Every pattern of a schema."""
    pending = [schema]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            if isinstance(one.get("pattern"), str):
                yield one["pattern"]
            if isinstance(one.get("patternProperties"), Mapping):
                yield from one["patternProperties"]
            pending += one.values()
        elif isinstance(one, list):
            pending += one


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    import jsonschema

    if not validator.is_type(instance, "string"):
        return
    if compiled(pattern).first(instance) is None:
        yield jsonschema.ValidationError(f"{instance[:60]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, inner in patterns.items():
        for key, value in instance.items():
            if compiled(pattern).first(key) is not None:
                yield from validator.descend(value, inner, path=key, schema_path=pattern)


def _unique(validator: Any, wanted: bool, instance: Any, schema: Any) -> Iterator[Any]:
    import jsonschema

    if not wanted or not validator.is_type(instance, "array"):
        return
    seen = {json.dumps(_plain(item), sort_keys=True) for item in instance}
    if len(seen) < len(instance):
        yield jsonschema.ValidationError("an item stands twice")


def _plain(value: Any) -> Any:
    """A value whose JSON text is the same for equal values: 1.0 is 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
