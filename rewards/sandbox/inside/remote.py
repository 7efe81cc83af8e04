"""The judging side of the channel: stand-ins for what the candidate program defines.

Only plain values come over; they are this side's own objects with this side's own methods. What is not plain is
a `Remote`: it can be called, its attributes can be read, it can be listed. Its own opinion of what it equals,
whether it is true, or what comes of adding to it, is not asked for: an object that equals everything would be
paid. Comparing one raises, and so fails the test. What it contains and how long it is, is found by listing it and
looking here. Only an object that tests made themselves, of a class that they name as one (`Stack()`), is asked.
"""

from __future__ import annotations

import builtins
import json
import os
import select
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from rewards.sandbox.inside.values import Uncrossable, decode, encode

Plain = TypeVar("Plain")

_MAX_LINE = 16 << 20
_NO_PLAIN = "is no plain value and is not compared"


class CandidateGone(BaseException):
    """The program's process ended; not an `Exception`, so that no test takes it for the one it expects."""


class RemoteError(Exception):
    """An exception of the program that is of no class Python itself has."""


class _CameFromThere(Exception):
    """A value of the program that has no way back to it."""


class Ungradable(BaseException):
    """The tests ask for what cannot cross to the program: a fault of the tests, not of the program."""


class Channel:
    """Requests to the program and its answers.

    Args:
        fd: a descriptor to read and write.
        objects: let objects that tests made of the program's classes say what they contain (tests of classes).
        caller: a descriptor on which something comes when the program has ended, where its own does not close;
            then `fd` does not block.
    """

    def __init__(self, fd: int, *, objects: bool = False, caller: int | None = None) -> None:
        self.fd = fd
        self.objects = objects
        self.caller = caller
        self.asked = 0
        self.gone = False
        self._buffer = bytearray()
        self._functions: list[Callable[..., Any]] = []
        self._errors: dict[int, type[BaseException]] = {}
        self._raised: list[BaseException] = []
        self._took_containers = False

    def ask(
        self,
        op: str,
        of: Any,
        name: str = "",
        values: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:
        """One operation of `rewards.sandbox.inside.candidate`; its value.

        Raises:
            CandidateGone: its process ended, or answered nothing that is an answer.
            Exception: what the program raised, as the nearest class that Python itself has.
            Ungradable, TypeError: an argument cannot cross; see `encoded`.
        """
        self.asked += 1
        given = named or {}
        keywords = dict(zip(given, self.encoded(tuple(given.values())), strict=True))
        request = {"op": op, "of": of, "n": name, "a": self.encoded(values), "k": keywords}
        self._send(request)
        while True:
            answer = self._receive()
            if "f" not in answer:
                break
            self._send(self._called_back(answer))
        if "x" in answer:
            self.gone = True
            raise CandidateGone(f"the program does not load: {answer['x']}")
        try:
            if "e" in answer:
                raised = self._exception(answer["e"], str(answer.get("m", "")))
                self._raised.append(raised)
            else:
                value = decode(answer["r"], self._remote)
                self._took_containers |= isinstance(value, (list, tuple, dict, set, frozenset))
                return value
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise CandidateGone(f"no answer: {error}") from None
        raise raised

    def encoded(self, values: tuple[Any, ...]) -> list[Any]:
        """Arguments as they cross.

        Raises:
            Ungradable: one of the tests' own cannot cross.
            TypeError: one that came from the program cannot go back: it was no value that a test could use.
        """
        try:
            return [encode(value, self._handle) for value in values]
        except _CameFromThere as error:
            raise TypeError(f"{error} cannot go back to the program") from None
        except Uncrossable as error:  # nested too deeply: by the tests, or in what they got
            if self._took_containers:
                raise TypeError(f"{error} cannot go back to the program") from None
            raise Ungradable(f"the tests pass {error} to the program") from None

    def _handle(self, value: Any) -> Any:
        if isinstance(value, Remote):
            return {"h": ["o", value.__dict__["_id"]]}
        for number, kind in self._errors.items():
            if kind is value:
                return {"h": ["o", number]}
        if any(one is value for one in self._raised):
            raise _CameFromThere(f"an exception of class {type(value).__name__}")
        if isinstance(value, type):
            name = value.__name__
            if issubclass(value, BaseException) and vars(builtins).get(name) is value:
                return {"h": ["b", name]}
            if value is RemoteError:
                raise _CameFromThere("a class")
        elif callable(value):
            self._functions.append(value)
            return {"h": ["f", len(self._functions) - 1]}
        raise Ungradable(f"the tests pass a value of type {type(value).__name__} to the program")

    def _remote(self, told: Any) -> Any:
        number, name, kind = int(told[1]), str(told[2]), str(told[3])
        if kind == "exception":
            return self._error_class(told[4])
        return Remote(self, number, name)

    def _error_class(self, classes: list[Any]) -> type[BaseException]:
        """The class here that stands for an exception's: `classes` are names and numbers down to Python's own."""
        base: type[BaseException] = RemoteError
        found = getattr(builtins, str(classes[-1][0]), None) if classes[-1][1] is None else None
        if isinstance(found, type) and issubclass(found, (Exception, SystemExit)):
            base = found
        for name, number in reversed(classes):
            if number is None:
                continue
            if number not in self._errors:
                bases = (base,) if issubclass(base, RemoteError) else (RemoteError, base)
                self._errors[number] = type(str(name), bases, {})
            base = self._errors[number]
        return base

    def _exception(self, classes: list[Any], message: str) -> BaseException:
        kind = self._error_class(classes)
        try:
            return kind(message)
        except TypeError:  # one that wants more than a text
            return RemoteError(f"{kind.__name__}: {message}")

    def _called_back(self, answer: dict[str, Any]) -> dict[str, Any]:
        try:
            function = self._functions[int(answer["f"])]
            values = [decode(value, self._remote) for value in answer["a"]]
            named = {str(name): decode(value, self._remote) for name, value in answer["k"].items()}
            return {"r": encode(function(*values, **named), self._handle)}
        except Exception as error:  # noqa: BLE001  # the program sees what it would have seen
            return {"e": type(error).__name__, "m": str(error)[:500]}

    def _send(self, value: dict[str, Any]) -> None:
        data = json.dumps(value, allow_nan=False).encode() + b"\n"
        try:
            while data:
                if self.caller is not None and select.select([self.caller], [self.fd], [])[0]:
                    self._lost()
                try:
                    data = data[os.write(self.fd, data) :]
                except BlockingIOError:
                    continue
        except OSError:
            self._lost()

    def _receive(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            data = self._read()
            if not data or len(self._buffer) > _MAX_LINE:
                self._lost()
            self._buffer += data
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or (rest and "f" not in answer):  # an answer nobody asked for
            self._lost()
        return answer  # type: ignore[no-any-return]

    def _read(self) -> bytes:
        try:
            if self.caller is not None:
                ready = select.select([self.fd, self.caller], [], [])[0]
                if self.fd not in ready:
                    return b""
            return os.read(self.fd, 1 << 16)
        except OSError:
            return b""

    def _lost(self) -> None:
        self.gone = True
        raise CandidateGone("the program's process ended")


class Remote:
    """An object of the program, or its entry point."""

    def __init__(self, channel: Channel, of: Any, name: str) -> None:
        self.__dict__.update(_channel=channel, _id=of, _of=[of] if isinstance(of, int) else of, _name=name)
        self.__dict__.update(_called=name, _made=False)

    def _ask(self, op: str, name: str = "", *values: Any) -> Any:
        mine = self.__dict__
        return mine["_channel"].ask(op, mine["_of"], name, values)

    def __call__(self, *values: Any, **named: Any) -> Any:  # noqa: D102
        mine = self.__dict__
        value = mine["_channel"].ask("call", mine["_of"], "", values, named)
        if isinstance(value, Remote) and mine["_channel"].objects and _names_a_class(mine["_called"]):
            value.__dict__["_made"] = True
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _called(self._ask("get", name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ask("list"))

    def __len__(self) -> int:
        return _checked(self._ask("size"), int) if self.__dict__["_made"] else len(self._ask("list"))

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", "", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("put", "", key, value)

    def __delitem__(self, key: Any) -> None:
        self._ask("delete", "", key)

    def __contains__(self, value: Any) -> bool:
        if self.__dict__["_made"]:
            return _checked(self._ask("has", "", value), bool)
        return any(item == value for item in self)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, Remote) and _checked(self._ask("is", "", value), bool)

    def __str__(self) -> str:
        return _checked(self._ask("text", "str"), str)

    def __repr__(self) -> str:
        return f"<{self.__dict__['_name']} of the program>"

    def __enter__(self) -> Any:
        return self._ask("method", "__enter__")

    def __exit__(self, *about: Any) -> None:
        self._ask("method", "__exit__", None, None, None)

    def _refuse(self, *others: Any) -> Any:
        raise TypeError(f"what the program returned ({self.__dict__['_name']}) {_NO_PLAIN}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Remote) and other.__dict__["_id"] == self.__dict__["_id"]:
            return True  # the same object, told by its number here
        return bool(self._refuse())

    def __ne__(self, other: object) -> bool:
        return not self == other

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse
    __hash__ = _refuse


def _called(value: Any, name: str) -> Any:
    """A value of the program, with the name by which the tests got it."""
    if isinstance(value, Remote):
        value.__dict__["_called"] = name
    return value


def _names_a_class(name: str) -> bool:
    """Whether a name is written as those of classes are: what a function returns is not to vouch for itself."""
    return name.lstrip("_")[:1].isupper()


def _checked(value: Any, kind: type[Plain]) -> Plain:
    if type(value) is not kind:
        raise TypeError(f"the program answered with {type(value).__name__} where {kind.__name__} is due")
    return value


class RemoteModule(types.ModuleType):
    """The program as a module that tests import."""

    def __init__(self, channel: Channel, name: str) -> None:
        super().__init__(name)
        self.__dict__["_channel"] = channel

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dict__["_channel"].ask("get", "", "*")
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _called(self.__dict__["_channel"].ask("get", "", name), name)
