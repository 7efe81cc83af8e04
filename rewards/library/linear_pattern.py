r"""Regular expressions that no text can make slow.

Python's own engine tries one way after another and, with an unlucky pattern, takes longer than a training run for
a text a model happened to write. Here all ways are followed at once (an automaton whose states are built as the
text needs them), so the time is linear in the text whatever the pattern is.

The syntax and its meaning are Python's, flags and Unicode included. Refused, because they cannot be followed
this way: back-references, look-ahead and look-behind, conditions, atomic groups and possessive repeats. A
greedy and a lazy repeat are the same here: only whether and where a text matches is told, no groups.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from re import _compiler, _parser  # type: ignore[attr-defined]  # its own reading of a pattern, no second one
from typing import Any

LARGEST = 5_000
"""Steps a pattern may have once its repeats are written out."""

_STATES = 1_000
"""States kept; beyond that they are built anew, so that memory stays bounded."""

_EDGE, _WORD, _NEWLINE, _OTHER, _LAST_NEWLINE = range(5)
"""What stands on one side of a position; the last: a newline with which the text ends, looking forward."""

Span = tuple[int, int]


class LinearPattern:
    r"""A compiled pattern.

    Args:
        pattern: in Python's syntax.
        flags: of `re`, such as `re.DOTALL`.

    Raises:
        ValueError: the pattern is none, or has parts that cannot be matched in linear time.

    >>> LinearPattern(r"\d+").first("room 101")
    (5, 8)
    >>> LinearPattern(r"(a+)+b").first("a" * 10_000) is None
    True
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        try:
            tree = _parser.parse(pattern, flags)
            self._forward = _Machine(tree, reverse=False)
            self._backward = _Machine(tree, reverse=True)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"pattern {pattern!r} cannot be read: {error}") from error
        self.pattern = pattern

    def whole(self, text: str) -> bool:
        """Whether all of the text matches."""
        return self._forward.last_end(text, 0) == len(text)

    def first(self, text: str) -> Span | None:
        """The place of the match that ends first, as far to the right as it goes; None where there is none."""
        end = self._forward.first_end(text, 0)
        if end is None:
            return None
        start = self._backward.first_start(text, end, 0)
        return self.widened(text, (start, end))

    def widened(self, text: str, place: Span) -> Span:
        """A match made as long as it can be from where it begins."""
        return place[0], self._forward.last_end(text, place[0])

    def disjoint(self, text: str, most: int) -> list[Span]:
        """The places of up to `most` matches that do not overlap, each as short as it can be; none is empty.

        >>> LinearPattern("[ab]+").disjoint("ab cab", 9)
        [(0, 1), (1, 2), (4, 5), (5, 6)]
        """
        found: list[Span] = []
        place = 0
        while len(found) < most:
            end = self._forward.first_end(text, place)
            if end is None:
                break
            start = self._backward.first_start(text, end, place)
            if end > start:
                found.append((start, end))
            place = max(end, place + 1)
            if place > len(text):
                break
        return found


@functools.lru_cache(maxsize=256)
def compiled(pattern: str, flags: int = 0) -> LinearPattern:
    """`LinearPattern(pattern, flags)`, kept for the next call."""
    return LinearPattern(pattern, flags)


class _State(dict[int, "tuple[bool, _State | None]"]):
    """Steps of the program a text may be at, and what lies behind it; maps a class of characters to what follows.

    What follows is whether a match ends before the character, and the next state (None: no match from here).
    In a search a match may also begin at each character.
    """

    __slots__ = ("behind", "search", "steps")

    def __init__(self, steps: frozenset[int], behind: int, search: bool) -> None:
        super().__init__()
        self.steps = steps
        self.behind = behind
        self.search = search


class _Machine:
    """A pattern as a program of steps, run forwards over a text or backwards."""

    def __init__(self, tree: Any, *, reverse: bool) -> None:
        self.reverse = reverse
        self.program: list[tuple[Any, ...]] = []
        self.sets: list[Any] = []
        self._set_numbers: dict[Any, int] = {}
        self.flags: int = tree.state.flags
        self.start = self._sequence(tree, self.flags, self._add("accept"))
        self.classes: dict[str, int] = {}
        self._signatures: dict[tuple[Any, ...], int] = {}
        self._members: list[tuple[bool, ...]] = []
        self._kinds: list[int] = []
        self._states: dict[tuple[frozenset[int], int, bool], _State] = {}
        self._is_word = re.compile(r"\w", self.flags & re.ASCII).match

    # ------------------------------------------------------------------------ the program

    def _add(self, *step: Any) -> int:
        if len(self.program) >= LARGEST:
            raise ValueError(f"a pattern of more than {LARGEST} steps is too large to be followed")
        self.program.append(step)
        return len(self.program) - 1

    def _sequence(self, tree: Any, flags: int, following: int) -> int:
        parts = list(tree)
        for part in parts if self.reverse else reversed(parts):
            following = self._node(part[0], part[1], flags, following)
        return following

    def _node(self, op: Any, argument: Any, flags: int, following: int) -> int:
        name = str(op)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._add("set", self._set_number(op, argument, flags), following)
        if name == "AT":
            return self._add("at", _assertion(str(argument), flags), following)
        if name == "BRANCH":
            return self._add("split", *(self._sequence(branch, flags, following) for branch in argument[1]))
        if name == "SUBPATTERN":
            _, added, removed, inner = argument
            if added & (re.ASCII | re.UNICODE):
                raise ValueError(
                    "a flag 'a' or 'u' for a part of a pattern cannot be followed: set it for all"
                )
            return self._sequence(inner, (flags | added) & ~removed, following)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(argument, flags, following)
        raise ValueError(
            f"{_REFUSED.get(name, name.lower().replace('_', ' '))} cannot be matched in linear time: "
            "write the pattern without"
        )

    def _repeat(self, argument: tuple[int, Any, Any], flags: int, following: int) -> int:
        least, most, inner = argument
        if str(most) == "MAXREPEAT":
            loop = self._add("split")
            again = self._sequence(inner, flags, loop)
            self.program[loop] = ("split", again, following)
            following = loop
        else:
            end = following
            for _ in range(most - least):
                following = self._add("split", self._sequence(inner, flags, following), end)
        for _ in range(least):
            following = self._sequence(inner, flags, following)
        return following

    def _set_number(self, op: Any, argument: Any, flags: int) -> int:
        key = (str(op), repr(argument), flags)
        if key not in self._set_numbers:
            state = _parser.State()
            state.str = ""
            state.flags = flags
            one = _parser.SubPattern(state, [(op, argument)])
            self._set_numbers[key] = len(self.sets)
            self.sets.append(_compiler.compile(one, flags).match)
        return self._set_numbers[key]

    # ------------------------------------------------------------------------- the states

    def _class(self, character: str) -> int:
        """The number of the class of characters that this program cannot tell apart."""
        kind = self._kind(character)
        members = tuple(matches(character) is not None for matches in self.sets)
        number = self._signatures.setdefault((kind, members), len(self._signatures))
        if number == len(self._members):
            self._members.append(members)
            self._kinds.append(kind)
        self.classes[character] = number
        return number

    def _state(self, steps: frozenset[int], behind: int, search: bool) -> _State:
        key = (steps, behind, search)
        state = self._states.get(key)
        if state is None:
            if len(self._states) >= _STATES:
                self._states.clear()
            state = self._states[key] = _State(steps, behind, search)
        return state

    def _closure(self, steps: Iterator[int] | frozenset[int], behind: int, ahead: int) -> set[int]:
        """The steps reached without a character, between what lies behind and ahead in the run's direction."""
        before, after = (ahead, behind) if self.reverse else (behind, ahead)
        seen: set[int] = set()
        pending = list(steps)
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self.program[at]
            if step[0] == "split":
                pending += step[1:]
            elif step[0] == "at" and step[1](before, after):
                pending.append(step[2])
        return seen

    def _follow(self, state: _State, number: int) -> tuple[bool, _State | None]:
        """What follows a state on a character of this class."""
        found = state.get(number)
        if found is None:
            found = state[number] = self._followed(state, number, self._kinds[number])
        return found

    def _followed(self, state: _State, number: int, ahead: int) -> tuple[bool, _State | None]:
        reached = self._closure(state.steps, state.behind, ahead)
        members = self._members[number]
        following = {
            self.program[at][2]
            for at in reached
            if self.program[at][0] == "set" and members[self.program[at][1]]
        }
        if state.search:
            following.add(self.start)
        accepts = any(self.program[at][0] == "accept" for at in reached)
        if not following:
            return accepts, None
        return accepts, self._state(frozenset(following), self._kinds[number], state.search)

    def _ends(self, state: _State, ahead: int) -> bool:
        return any(self.program[at][0] == "accept" for at in self._closure(state.steps, state.behind, ahead))

    # --------------------------------------------------------------------------- the runs

    def first_end(self, text: str, place: int) -> int | None:
        """Where the match that ends first from `place` on ends."""
        state: _State | None = self._begin(self._behind(text, place), search=True)
        classes, last = self.classes, len(text) - 1
        for at in range(place, len(text)):
            character = text[at]
            number = classes.get(character)
            if number is None:
                number = self._class(character)
            assert state is not None  # a search always has a state
            if at == last and character == "\n":
                accepts, state = self._followed(state, number, _LAST_NEWLINE)
            else:
                found = state.get(number)
                accepts, state = found if found is not None else self._follow(state, number)
            if accepts:
                return at
        assert state is not None
        return len(text) if self._ends(state, _EDGE) else None

    def last_end(self, text: str, place: int) -> int:
        """Where the longest match that begins at `place` ends; -1 where none begins there."""
        state: _State | None = self._begin(self._behind(text, place), search=False)
        last, longest = len(text) - 1, -1
        for at in range(place, len(text)):
            character = text[at]
            number = self.classes.get(character)
            if number is None:
                number = self._class(character)
            assert state is not None
            if at == last and character == "\n":
                accepts, state = self._followed(state, number, _LAST_NEWLINE)
            else:
                accepts, state = self._follow(state, number)
            if accepts:
                longest = at
            if state is None:
                return longest
        assert state is not None
        return len(text) if self._ends(state, _EDGE) else longest

    def first_start(self, text: str, end: int, place: int) -> int:
        """Where the longest match that ends at `end` begins, not before `place`; run backwards."""
        state = self._begin(self._ahead(text, end), search=False)
        earliest = end
        for at in range(end - 1, place - 1, -1):
            character = text[at]
            number = self.classes.get(character)
            if number is None:
                number = self._class(character)
            accepts, following = self._follow(state, number)
            if accepts:
                earliest = at + 1
            if following is None:
                return earliest
            if at == len(text) - 1 and character == "\n":
                following = self._state(following.steps, _LAST_NEWLINE, False)
            state = following
        return place if self._ends(state, self._behind(text, place)) else earliest

    def _begin(self, behind: int, *, search: bool) -> _State:
        return self._state(frozenset((self.start,)), behind, search)

    def _behind(self, text: str, place: int) -> int:
        return self._kind(text[place - 1]) if place else _EDGE

    def _ahead(self, text: str, place: int) -> int:
        if place >= len(text):
            return _EDGE
        return _LAST_NEWLINE if place == len(text) - 1 and text[place] == "\n" else self._kind(text[place])

    def _kind(self, character: str) -> int:
        if character == "\n":
            return _NEWLINE
        return _WORD if self._is_word(character) else _OTHER


_REFUSED = {
    "GROUPREF": "a back-reference",
    "GROUPREF_EXISTS": "a condition",
    "ASSERT": "a look-ahead or look-behind",
    "ASSERT_NOT": "a look-ahead or look-behind",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}


def _assertion(name: str, flags: int) -> Any:
    """Whether an assertion such as `^` holds between two kinds."""
    lines = bool(flags & re.MULTILINE)
    newlines = (_NEWLINE, _LAST_NEWLINE)
    if name == "AT_BEGINNING":
        return lambda before, after: before == _EDGE or (lines and before in newlines)
    if name == "AT_BEGINNING_STRING":
        return lambda before, after: before == _EDGE
    if name == "AT_END":
        return lambda before, after: after in (_EDGE, _LAST_NEWLINE) or (lines and after == _NEWLINE)
    if name == "AT_END_STRING":
        return lambda before, after: after == _EDGE
    if name == "AT_BOUNDARY":
        return lambda before, after: (before == _WORD) != (after == _WORD)
    if name == "AT_NON_BOUNDARY":
        return lambda before, after: (before == _WORD) == (after == _WORD)
    raise ValueError(f"{name.lower().replace('_', ' ')} cannot be matched in linear time")
