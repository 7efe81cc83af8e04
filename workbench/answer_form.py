r"""Where a completion's answer stands, and whether it is the ground truth: learned from the data themselves.

A right sample shows the form that the data ask for: `<answer>42</answer>`, `\boxed{42}`, `#### 42`, `Answer: B`, a
JSON object, or the bare text. `find_slot` looks in a completion for the place where the ground truth stands; the
slot then writes any other answer in the same form. `same_answer` says whether two answers are equal, and is as
careful as a negative control has to be: True and False are proofs, None means that nobody knows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rewards.library.extraction import find_answer, last_block, last_boxed
from rewards.library.number import read_number, same_value

THOUGHTS = ("think", "thinking", "thought", "thoughts", "reasoning", "reason", "scratchpad", "analysis")
"""Names of tags whose content is no answer."""

LONGEST = 4000
"""No answer is looked for in completions of more characters."""

_OPENING = re.compile(r"<([A-Za-z][\w.-]{0,30})>")
_HASHED = re.compile(r"####[ \t]*(.+?)\s*$")
_WRAPPED = re.compile(r"\s*(?:\$+\s*)?\\boxed\{(.*)\}\s*\$*\s*", re.DOTALL)
_MARKS = " \t\r\n*_`().\"'"
_LOOSE = f"{_MARKS}:="
_LABELLED = re.compile(r"[ \t*_>#-]*[A-Za-z][A-Za-z ]{0,30}[*_]*:[*_]*[ \t]+(?P<answer>\S.*?)\s*$")
_SPLIT = re.compile(r"\s*(?:;|\band\b|\bor\b|,(?!\d{3}(?:\D|$)))\s*")
_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\r?\n(.*?)\n?```", re.DOTALL)


@dataclass(frozen=True)
class Slot:
    """The place of the answer in a text: `text[start:end]`, and the form it was found in.

    `form` is "tag:NAME", "boxed", "hash", "line", "json", "whole" or "number".
    """

    text: str
    start: int
    end: int
    form: str

    @property
    def answer(self) -> str:
        """The answer as it is written there."""
        return self.text[self.start : self.end]

    @property
    def before(self) -> str:
        """The text before the answer."""
        return self.text[: self.start]

    @property
    def after(self) -> str:
        """The text behind the answer."""
        return self.text[self.end :]

    def write(self, answer: str) -> str:
        """The text with another answer in this place."""
        return self.before + answer + self.after

    def exactly(self, answer: str) -> str | None:
        r"""The same, None where a reader of the form does not find just that answer there.

        >>> find_slot(r"\boxed{\sqrt{3}}", r"\sqrt{3}").exactly(r"\sqrt{3}}ing") is None
        True
        """
        own = next(
            (place for place in places(self.text) if place.form == self.form and _holds(place, self)), None
        )
        text = self.write(answer)
        if own is None:
            return text
        wanted = own.answer[: self.start - own.start] + answer + own.answer[self.end - own.start :]
        forms = ("json", "whole") if self.form in ("json", "whole") else (self.form,)
        found = (place.answer for place in places(text) if place.form in forms)
        return text if any(said.strip(_LOOSE) == wanted.strip(_LOOSE) for said in found) else None

    def mark(self, answer: str) -> str:
        """Another answer in this form by itself, without the text around it: `<answer>7</answer>`."""
        if self.form.startswith("tag:"):
            tag = self.form[4:]
            return f"<{tag}>{answer}</{tag}>"
        if self.form == "boxed":
            return f"\\boxed{{{answer}}}"
        if self.form == "hash":
            return f"#### {answer}"
        if self.form == "line":
            line = self.before.rpartition("\n")[2]
            return f"{line}{answer}{self.after.partition(chr(10))[0]}"
        return answer


def find_slot(text: str, gold: Any) -> Slot | None:
    r"""The place in `text` where the answer `gold` stands; the last and narrowest of several, None where there is none.

    >>> find_slot("<think>6 or 7</think><answer>7</answer>", 7)
    Slot(text='<think>6 or 7</think><answer>7</answer>', start=29, end=30, form='tag:answer')
    >>> find_slot("It is hot.\nAnswer: (B).", "B").write("C")
    'It is hot.\nAnswer: (C).'
    >>> find_slot(r"So \boxed{8}.", "7") is None
    True
    """
    if gold is None or len(text) > LONGEST:
        return None
    for slot in places(text):
        found = _narrowed(slot, gold)
        if found is not None:
            return found
    return None


def places(text: str) -> Iterator[Slot]:
    """Every place where an answer may stand in `text`, the most telling form first."""
    names = dict.fromkeys(match[1] for match in _OPENING.finditer(text))
    for name in reversed(list(names)):
        if name.lower() not in THOUGHTS:
            block = last_block(text, name)
            if block is not None:
                yield Slot(text, block.start, block.end, f"tag:{name}")
    box = last_boxed(text)
    if box is not None:
        yield Slot(text, box.start, box.end, "boxed")
    for form in ("hash", "line"):
        found = find_answer(text, forms=(form,))
        if found is not None and found.form == form:
            yield Slot(text, found.start, found.end, form)
    yield from _labelled(text)
    fenced = _FENCE.search(text)
    if fenced is not None and read_json(fenced[2]) is not None:
        yield Slot(text, fenced.start(2), fenced.end(2), "json")
    bare = text.strip()
    start = text.find(bare)
    if bare:
        yield Slot(text, start, start + len(bare), "json" if read_json(bare) is not None else "whole")
    yield from _behind_thoughts(text)
    number = find_answer(text, forms=("number",))
    if number is not None and number.form == "number":
        yield Slot(text, number.start, number.end, "number")


def _holds(place: Slot, slot: Slot) -> bool:
    return place.start <= slot.start and slot.end <= place.end


def _labelled(text: str) -> Iterator[Slot]:
    """What stands behind a word and a colon on the last line: `Result: 7`."""
    start = text.rstrip().rfind("\n") + 1
    found = _LABELLED.match(text, start) if len(text) - start < 500 else None
    if found is not None:
        yield Slot(text, found.start("answer"), found.end("answer"), "line")


def _behind_thoughts(text: str) -> Iterator[Slot]:
    """Everything behind a block of thoughts that was closed."""
    ends = [(text.rfind(f"</{name}>"), len(name) + 3) for name in THOUGHTS]
    at, length = max(ends)
    rest = text[at + length :].strip() if at >= 0 else ""
    if rest:
        start = text.find(rest, at + length)
        yield Slot(text, start, start + len(rest), "whole")


def _narrowed(slot: Slot, gold: Any) -> Slot | None:
    """The slot without the decoration around the answer, where the answer is `gold`."""
    answer = slot.answer
    kept = (
        (answer.strip(), answer.strip(_MARKS))
        if slot.form == "json"
        else (answer.strip(_MARKS), answer.strip())
    )
    for bare in kept:
        if bare and same_answer(bare, gold) is True:
            start = slot.start + answer.find(bare)
            return Slot(slot.text, start, start + len(bare), slot.form)
    return None


def same_answer(written: str, gold: Any) -> bool | None:
    """True where `written` is the answer `gold`, False where it surely is another one, None where it is not clear.

    Numbers are compared by value, lists without regard to order, JSON as JSON, text without regard to case and
    punctuation. A text that contains the other one, or two numbers that may be roundings, prove nothing.

    >>> same_answer("1,250.0", "1250"), same_answer("1251", 1250), same_answer("about 1250", 1250)
    (True, False, None)
    >>> same_answer("Paris.", "paris"), same_answer("Rome", "Paris"), same_answer("Paris, Texas", "Paris")
    (True, False, None)
    >>> same_answer("3, 2", ["2", "3"]), same_answer('{"a": 2}', {"a": 1})
    (True, False)
    """
    if isinstance(gold, Mapping):
        value = read_json(written)
        return None if value is None else _json_key(value) == _json_key(gold)
    if isinstance(gold, (list, tuple)):
        return _same_list(written, gold)
    if isinstance(gold, bool):
        words = {"true": True, "yes": True, "false": False, "no": False}
        said = words.get(written.strip(_MARKS).lower())
        return None if said is None else said is gold
    return _same_text(written, gold_text(gold))


def gold_text(gold: Any) -> str:
    """A ground truth as the text of an answer.

    What follows `####`, what its last box holds, a whole float without `.0`; else the text itself.
    """
    if isinstance(gold, float) and gold.is_integer() and abs(gold) < 1e15:
        return str(int(gold))
    text = str(gold).strip()
    hashed = _HASHED.search(text)
    if hashed is not None:
        return hashed[1]
    boxed = _WRAPPED.fullmatch(text)
    if boxed is not None and last_boxed(boxed[1]) is None:
        return boxed[1].strip()
    box = last_boxed(text) if "\\boxed{" in text else None
    return box.text.strip() if box is not None else text


def value_of(text: str) -> Fraction | None:
    """The number a text consists of, a percentage as hundredths; None for anything else, units included."""
    number = read_number(text.strip())
    if number is None or (number.unit and number.unit not in ("dollar", "euro", "pound sterling", "yen")):
        return None
    return number.value / 100 if number.percent else number.value


def read_json(text: str) -> Any:
    """The JSON object or list a text consists of, also in a fence; None for anything else."""
    bare = text.strip()
    fenced = _FENCE.fullmatch(bare)
    bare = fenced[2].strip() if fenced else bare
    if bare[:1] not in ("{", "["):
        return None
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


def _json_key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def _same_list(written: str, gold: Sequence[Any]) -> bool | None:
    value = read_json(written)
    if isinstance(value, list):
        return Counter(map(_json_key, value)) == Counter(map(_json_key, gold)) or None
    if not gold or any(isinstance(item, (Mapping, list, tuple)) or item is None for item in gold):
        return None
    parts = [part.rpartition("=")[2] for part in _SPLIT.split(written.strip(_MARKS)) if part.strip()]
    if len(parts) == 1 and len(gold) > 1 and all(value_of(part) is not None for part in parts[0].split()):
        parts = parts[0].split()
    if not parts:
        return None
    wanted = [gold_text(item) for item in gold]
    if len(parts) == len(wanted) and all(any(_same_text(p, w) for w in wanted) for p in parts):
        return all(any(_same_text(p, w) for p in parts) for w in wanted) or None
    known = [value_of(part) for part in parts]
    golds = [value_of(item) for item in wanted]
    if None in known or None in golds:
        return None
    return False if set(known) != set(golds) else None


def _same_text(written: str, gold: str) -> bool | None:
    if written.strip() == gold.strip():
        return True
    one, other = read_number(written.strip()), read_number(gold.strip())
    if one is not None and other is not None:
        values = value_of(written), value_of(gold)
        if values[0] is None or values[1] is None:
            return None if one.value == other.value else False
        if same_value(values[0], values[1], one.digits, other.digits):
            return True
        near = abs(values[0] - values[1]) <= abs(values[1]) * Fraction(1, 100)
        return None if near and (one.digits or other.digits) else False
    if one is not None or other is not None:
        return None
    said, wanted = _plain(written), _plain(gold)
    if not said or not wanted:
        return None
    if said == wanted:
        return True
    return None if said in wanted or wanted in said else False


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


__all__ = ["THOUGHTS", "Slot", "find_slot", "gold_text", "places", "read_json", "same_answer", "value_of"]
