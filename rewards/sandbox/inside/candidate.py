"""The candidate's side of a graded call: it loads the program and answers calls with plain values.

What is expected never comes here. Whatever the program does to this process, it can only answer for itself:
the answers are judged on the other side of the channel.

Requests and answers are lines of JSON.

    {"op": "call", "of": entry, "a": [...], "k": {...}}     the entry point, or [id] for an object held here
    {"op": "get", "of": entry, "n": name}                   an attribute of the module ("") or of an object
    {"op": "set" | "item" | "put" | "delete" | "has" | "size" | "list" | "text" | "is", ...}
    {"r": value}, {"e": [[class, id], ...], "m": message}, or {"x": why} where the program does not load

An object that is not plain stays here; its handle `{"h": ["o", id, class, kind]}` crosses instead.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from rewards.sandbox.inside.job import CHANNEL, finish
from rewards.sandbox.inside.values import decode, encode

READ = WRITE = CHANNEL
"""The descriptors of the channel; a sandbox elsewhere has two."""

_MAX_LIST = 1_000_000
_MESSAGE = 500


def serve(job: dict[str, Any]) -> None:
    """Load `job["code"]` as the module `job["module"]` and answer until the other side hangs up."""
    module = types.ModuleType(job["module"])
    sys.modules[job["module"]] = module
    failure: BaseException | None = None
    try:
        exec(compile(job["code"], "program.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except BaseException as error:  # noqa: BLE001  # the program's own; told with every answer
        failure = error
    _Candidate(module, failure).answer_all()
    finish(0)


class _Candidate:
    def __init__(self, module: types.ModuleType, failure: BaseException | None) -> None:
        self.module = module
        self.failure = failure
        self.held: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.lines = _lines()

    def answer_all(self) -> None:
        for line in self.lines:
            request = json.loads(line)
            if self.failure is not None:
                send({"x": self.text_of(self.failure)})
                return
            try:
                answer = self.answer(request)
            except BaseException as error:  # noqa: BLE001  # the program's own: it is its answer
                answer = self.error(error)
            send(answer)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        values = [decode(value, self.object_of) for value in request.get("a", ())]
        named = {name: decode(value, self.object_of) for name, value in request.get("k", {}).items()}
        of = self.resolve(request["of"])
        result = {"r": encode(_OPERATIONS[request["op"]](of, request.get("n"), values, named), self.handle)}
        if request.get("back"):
            result["a"] = encode(values, self.handle)
        return result

    def resolve(self, of: Any) -> Any:
        if isinstance(of, list):
            return self.held[of[0]]
        if of == "":
            return self.module
        try:
            return eval(of, self.module.__dict__)  # written by whoever wrote the tests
        except NameError:
            solution = self.module.__dict__.get("Solution")
            if not of.isidentifier() or not hasattr(solution, of):
                raise
            return getattr(solution(), of)  # type: ignore[misc]  # it has the attribute, so it is there

    def handle(self, value: Any) -> Any:
        """The handle of an object that stays here."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.held)
            self.held.append(value)
        kind = "object"
        if isinstance(value, type):
            kind = "exception" if issubclass(value, BaseException) else "class"
        elif callable(value):
            kind = "function"
        told: list[Any] = ["o", number, type(value).__name__, kind]
        if kind == "exception":
            told.append(self.classes(value))
        return {"h": told}

    def object_of(self, told: Any) -> Any:
        """The object of a handle that came back, or a function that calls one on the other side."""
        kind, number = told[0], told[1]
        if kind == "b":
            return getattr(builtins, number)
        return self.held[number] if kind == "o" else self.function_of(number)

    def function_of(self, number: int) -> Callable[..., Any]:
        def function(*values: Any, **named: Any) -> Any:
            given = {name: encode(value, self.handle) for name, value in named.items()}
            send({"f": number, "a": [encode(value, self.handle) for value in values], "k": given})
            answer = json.loads(next(self.lines))
            if "e" in answer:
                raise getattr(builtins, answer["e"], RuntimeError)(answer["m"])
            return decode(answer["r"], self.object_of)

        return function

    def error(self, error: BaseException) -> dict[str, Any]:
        """The answer for a call that raised."""
        try:
            message = str(error)[:_MESSAGE]
        except BaseException:  # noqa: BLE001  # the program's own text of its own error
            message = ""
        return {"e": self.classes(type(error)), "m": message}

    def text_of(self, error: BaseException) -> str:
        """`Type: message` of an exception."""
        message = self.error(error)["m"]
        return f"{type(error).__name__}: {message}" if message else type(error).__name__

    def classes(self, kind: type) -> list[list[Any]]:
        """The classes of an exception, down to the first that Python itself has: name and number."""
        told: list[list[Any]] = []
        for one in kind.__mro__:
            if getattr(builtins, one.__name__, None) is one:
                return [*told, [one.__name__, None]]
            told.append([one.__name__, self.handle_number(one)])
        return told

    def handle_number(self, kind: type) -> int:
        number = self.numbers.get(id(kind))
        if number is None:
            number = self.numbers[id(kind)] = len(self.held)
            self.held.append(kind)
        return number


def _get(of: Any, name: Any, values: list[Any], named: dict[str, Any]) -> Any:
    if name == "*":
        return list(getattr(of, "__all__", [key for key in vars(of) if not key.startswith("_")]))
    return getattr(of, name)


def _list(of: Any, name: Any, values: list[Any], named: dict[str, Any]) -> list[Any]:
    items: list[Any] = []
    for item in of:
        if len(items) >= _MAX_LIST:
            raise ValueError(f"more than {_MAX_LIST} items")
        items.append(item)
    return items


_OPERATIONS: dict[str, Callable[[Any, Any, list[Any], dict[str, Any]], Any]] = {
    "call": lambda of, name, values, named: of(*values, **named),
    "method": lambda of, name, values, named: getattr(of, name)(*values, **named),
    "get": _get,
    "set": lambda of, name, values, named: setattr(of, name, values[0]),
    "item": lambda of, name, values, named: of[values[0]],
    "put": lambda of, name, values, named: of.__setitem__(values[0], values[1]),
    "delete": lambda of, name, values, named: of.__delitem__(values[0]),
    "has": lambda of, name, values, named: values[0] in of,
    "size": lambda of, name, values, named: len(of),
    "list": _list,
    "text": lambda of, name, values, named: repr(of) if name == "repr" else str(of),
    "is": lambda of, name, values, named: isinstance(values[0], of),
}


def _lines() -> Iterator[bytes]:
    with open(READ, "rb", closefd=False) as stream:
        yield from stream


def send(answer: dict[str, Any]) -> None:
    """Write one line into the channel."""
    data = json.dumps(answer, allow_nan=False).encode() + b"\n"
    while data:
        data = data[os.write(WRITE, data) :]
