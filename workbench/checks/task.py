"""What the samples say about a reward's task: which completions are right, what they earn, where the answer stands.

The exploit and answer checks compare what a made-up completion earns with what a right sample of the same prompt
earns. This module finds those right samples (by label where the labels judge the reward, else by the ground truth
where the reward is declared to be about correctness, else by the score), the place of the answer in them, and the
kind of reward the checks may assume: as declared, or as the labelled samples show. What only a name suggests is
kept apart (`suggested`), and nothing rests on it unless the user says so.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.answer_form import THOUGHTS, Slot, places, read_json, same_answer
from workbench.checks.golds import alternatives, different, find_gold, read_golds
from workbench.kinds import suggested_kind

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

CASES = 6
"""Prompts that made-up completions are tried under."""
SHARE = 0.6
"""The share of right samples in which the ground truth must stand for its form to be known."""

SHORTEST = 5
"""Words or characters below which a number of a column is taken for something else than a length."""

_LONGER = re.compile(r"\w{3,}")
_TAG = re.compile(r"</?([A-Za-z][\w.-]{0,30})>")
_ROW = re.compile(r"^[^|\n]*\|[^|\n]*\|", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FENCED = re.compile(r"```[\w+-]*[ \t]*\r?\n.*?```", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """One prompt to try completions under: a right completion of it, and what right and wrong ones earn.

    `full` is the least that a right sample of the prompt earns, `floor` the most that a wrong one below it does;
    `slot` is where the answer stands in `text`, where that is known; `gold` the answer asked for (the word that the
    samples write for True, the accepted one of several), `also` what is accepted beside it.
    """

    row: int
    text: str
    full: float
    floor: float
    slot: Slot | None = None
    gold: Any = None
    also: Sequence[Any] = ()

    @property
    def form(self) -> str:
        """The form the answer stands in; "whole" where none is known."""
        return self.slot.form if self.slot is not None else "whole"

    def pays(self, score: float) -> bool:
        """Whether a score is as good as a right sample's."""
        return score >= self.full - 1e-6 * max(1.0, abs(self.full))

    def falls_short(self, score: float) -> bool:
        """Whether a score is clearly below a right sample's: by a tenth of what lies between right and wrong.

        Less is what a reward that also looks at length or layout takes for the words around an answer.
        """
        return score < self.full - max(1e-6, 0.1 * (self.full - self.floor))


@dataclass(frozen=True)
class Task:
    """What is known about a reward's task.

    `kind` is what the checks may assume and `how` where it is from ("declared", "shown" by labelled samples, or
    "assumed" because the user said so); `suggested` is what only a name or a column speaks for. `column` holds
    the ground truth, `golds` are the answers it asks for by row; `tags` are the tags that all right samples have, in
    order, `lines` the lines that all have, and `openings` what begins a line in all of them; `programs` says whether
    right samples hold fenced code; `penalty` that the reward only takes away; `marks` are the marks of a layout that
    all right samples have ("tags", "fence", "box", "json", "hash", "table", "list", "heading").
    """

    kind: str | None = None
    how: str = ""
    suggested: str | None = None
    cases: tuple[Case, ...] = ()
    right: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    column: str | None = None
    golds: Mapping[int, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    programs: bool = False
    penalty: bool = False
    marks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    openings: tuple[str, ...] = ()

    @property
    def top(self) -> float | None:
        """The most a right sample earns."""
        return max((case.full for case in self.cases), default=None)

    @property
    def options(self) -> list[Any]:
        """The different ground truths there are."""
        return list({str(gold): gold for gold in self.golds.values()}.values())

    @property
    def thinks(self) -> bool:
        """Whether right samples think inside a tag before they answer."""
        return any(tag.lower() in THOUGHTS for tag in self.tags)


def read_task(subject: RewardSubject, *, assume: bool = False) -> Task:
    """What the samples say about the reward of `subject`; no cases where right does not earn more than wrong."""
    suggested = _suggested(subject)
    declared = subject.description.entry.kind
    declared = None if declared == "other" else declared
    known = declared or (suggested if assume else None)
    right, wrong = _sorted_out(subject, known)
    if not right:
        return Task(known, "declared" if declared else "assumed", suggested)
    assert subject.batch is not None
    texts = {row: subject.text(row) for row in right}
    column, slots = _answers(subject, texts)
    golds: dict[int, Any] = {}
    if column is not None:
        golds = read_golds({row: subject.batch.columns[column][row] for row in subject.usable}, slots)
    cases = _cases(subject, right, wrong, slots, column, golds)
    tags = _common_tags(texts.values())
    programs = sum(bool(_FENCED.search(text)) for text in texts.values()) > len(texts) / 2 and column is None
    kind, how = known, "declared" if declared else "assumed"
    if known is None and cases and subject.judged and subject.labelled("right") and wrong:
        shown = _shown(subject, column, tags, wrong, list(texts.values()), programs=programs)
        # partial ones paid in full say that it may be about a part of the task, unless its name speaks of the answer
        other = suggested != "correctness" and _pays_partial(subject, cases)
        kind, how = None if other and shown not in ("format", "length") else shown, "shown"
    bounds = subject.declared_range
    ceiling = bounds[1] if bounds else max(subject.scores.values(), default=0.0)
    several = len({subject.batch.groups[row] for row in texts}) > 1
    return Task(
        kind,
        how if kind else "",
        suggested,
        tuple(cases),
        tuple(right),
        tuple(wrong),
        column,
        golds,
        tags,
        programs,
        ceiling <= 0 and kind != "correctness",
        _common_marks(list(texts.values()), tags),
        _common_lines(list(texts.values())) if several else (),
        _common_openings(list(texts.values())) if several else (),
    )


def _sorted_out(subject: RewardSubject, kind: str | None) -> tuple[list[int], list[int]]:
    """Right and wrong rows: by label, by the ground truth, or (for a declared kind) by the scores themselves."""
    scored = subject.scores
    if subject.judged:
        right = [row for row in subject.labelled("right") if row in scored]
        wrong = [row for row in subject.labelled("wrong", "hack") if row in scored]
        if right and wrong:
            return right, wrong
    if kind == "correctness":
        right, wrong = _by_ground_truth(subject)
        if right and wrong:
            return right, wrong
    if kind is None or not scored:
        return [], []
    top, low = max(scored.values()), min(scored.values())
    if top <= low:
        return [], []
    right = [row for row, score in scored.items() if score >= top - 1e-9]
    return right, [row for row, score in scored.items() if score <= low + 0.1 * (top - low)]


def _by_ground_truth(subject: RewardSubject) -> tuple[list[int], list[int]]:
    """Rows whose final answer is the ground truth, and rows whose answer in the same form surely is not."""
    assert subject.batch is not None
    for column in subject.reads:
        golds = subject.batch.columns[column]
        rows = [row for row in subject.scores if golds[row] is not None][:400]
        found = {row: find_gold(subject.text(row), golds[row]) for row in rows}
        forms = Counter(slot.form for slot in found.values() if slot is not None)
        if not forms:
            continue
        form = forms.most_common(1)[0][0]
        right = [row for row, slot in found.items() if slot is not None and slot.form == form]
        wrong = []
        for row in rows:
            said = [place.answer for place in places(subject.text(row)) if place.form == form]
            if found[row] is None and said and same_answer(said[0], golds[row]) is False:
                wrong.append(row)
        return right, wrong
    return [], []


def _answers(subject: RewardSubject, texts: Mapping[int, str]) -> tuple[str | None, dict[int, Slot]]:
    """The column with the ground truth, and the place of the answer in the right rows; columns read come first."""
    assert subject.batch is not None
    rows = list(texts)[:60]
    best: tuple[str | None, dict[int, Slot]] = (None, {})
    others = [name for name in subject.batch.columns if name not in subject.reads]
    for column in (*subject.reads, *others):
        if column in others and best[0] is not None:
            break
        golds = subject.batch.columns[column]
        known = [row for row in rows if golds[row] not in (None, "")]
        found = {row: find_gold(texts[row], golds[row]) for row in known}
        slots = {row: slot for row, slot in found.items() if slot is not None}
        several = different(golds[row] for row in slots) or len(rows) == 1
        if known and len(slots) >= SHARE * len(known) and several and len(slots) > len(best[1]):
            best = (column, slots)
    if best[0] is None:
        return best
    golds = subject.batch.columns[best[0]]
    more = {row: find_gold(text, golds[row]) for row, text in texts.items() if row not in best[1]}
    return best[0], {**best[1], **{row: slot for row, slot in more.items() if slot is not None}}


def _cases(
    subject: RewardSubject,
    right: Iterable[int],
    wrong: Iterable[int],
    slots: Mapping[int, Slot],
    column: str | None,
    golds: Mapping[int, Any],
) -> list[Case]:
    """One case for each of a few prompts whose right sample earns more than its wrong ones."""
    assert subject.batch is not None
    groups = subject.batch.groups
    scores = subject.scores
    wrong = [
        row for row in wrong if subject.samples is None or subject.samples.labels[row] != "hack"
    ] or list(wrong)
    everywhere = [scores[row] for row in wrong]
    by_group: dict[str, list[int]] = {}
    for row in right:
        by_group.setdefault(groups[row], []).append(row)
    made: list[Case] = []
    for group, rows in by_group.items():
        mine = [scores[row] for row in wrong if groups[row] == group] or everywhere
        least = min(mine, default=None)
        paid = [row for row in rows if least is not None and scores[row] > least + 1e-9]
        if not paid:
            continue
        full = min(scores[row] for row in paid)
        floor = max(score for score in mine if score < full - 1e-9)
        row = min(paid, key=lambda r: (r not in slots and bool(slots), len(subject.text(r)), r))
        gold = golds.get(row)
        also = alternatives(subject.batch.columns[column][row], gold) if column else ()
        made.append(Case(row, subject.text(row), full, floor, slots.get(row), gold, also))
    if slots:
        made = [case for case in made if case.slot is not None] or made
    return _spread(made)


def _spread(cases: list[Case]) -> list[Case]:
    """A few cases with different ground truths: negative, large, fractional and short ones are all tried."""
    if len(cases) <= CASES:
        return cases
    chosen: dict[str, Case] = {}
    for case in cases:
        chosen.setdefault(_sort_of(case.gold), case)
    step = max(1, len(cases) // CASES)
    rest = [case for case in cases[::step] if case not in chosen.values()]
    return [*chosen.values(), *rest][:CASES]


def _sort_of(gold: Any) -> str:
    text = str(gold)
    signs = "".join(mark for mark in ("-", ".", "/") if mark in text)
    return f"{type(gold).__name__}{signs}{len(text) > 3}{text[:1].isdigit()}"


def _shown(
    subject: RewardSubject,
    column: str | None,
    tags: tuple[str, ...],
    wrong: Iterable[int],
    texts: Sequence[str],
    *,
    programs: bool,
) -> str | None:
    """The kind that samples labelled right and wrong show, None where they show none."""
    if column is None and _asks_for_length(subject):
        return "length"
    if column not in subject.reads and not subject.reads and not subject.reads_prompts:
        return "format" if _laid_out(subject, texts, tags, wrong) else None
    if column in subject.reads or (programs and _reads_text(subject)):
        return "correctness"
    if _reads_text(subject):
        return "content" if _speaks_of_it(subject) and not subject.compares else None
    return "relevance" if subject.reads_prompts and not subject.reads and not subject.compares else None


def _pays_partial(subject: RewardSubject, cases: Iterable[Case]) -> bool:
    """Whether a sample labelled partial earns as much as a right one."""
    least = min(case.full for case in cases)
    return any(subject.scores[row] >= least for row in subject.labelled("partial") if row in subject.scores)


def _laid_out(
    subject: RewardSubject, texts: Sequence[str], tags: tuple[str, ...], wrong: Iterable[int]
) -> bool:
    """Whether all right samples have marks of a layout that not all wrong ones have."""
    marks, lines = _common_marks(texts, tags), _common_lines(texts)
    for row in wrong:
        here = [*texts[:1], subject.text(row)]
        if set(_common_tags(here)) < set(tags) or set(_common_marks(here, tags)) < set(marks):
            return True
        own = {line.strip() for line in subject.text(row).splitlines()}
        if any(line not in own for line in lines):
            return True
    return False


def _reads_text(subject: RewardSubject) -> bool:
    """Whether the reward reads a column of texts, lists or objects that differ between rows."""
    assert subject.batch is not None
    for column in subject.reads:
        values = [value for value in subject.batch.columns[column] if value is not None]
        if (
            any(isinstance(value, (str, list, dict)) for value in values)
            and len({str(v) for v in values}) > 1
        ):
            return True
    return False


def _speaks_of_it(subject: RewardSubject) -> bool:
    """Whether most right samples have a word of a text that the reward reads in their row.

    Else the column says how to write (a language, a rule), and what is said is another matter.
    """
    assert subject.batch is not None
    rows = subject.labelled("right")
    shared = 0
    for row in rows:
        said = set(_LONGER.findall(subject.text(row).casefold()))
        values = [subject.batch.columns[column][row] for column in subject.reads]
        shared += bool(said & {word for value in values for word in _words_of(value)})
    return shared >= SHARE * len(rows)


def _words_of(value: Any) -> set[str]:
    """The longer words of a text, of the items of a list, of the values of an object."""
    if isinstance(value, str):
        return set(_LONGER.findall(value.casefold()))
    items = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    )
    return {word for item in items for word in _words_of(item)}


def _asks_for_length(subject: RewardSubject) -> bool:
    """Whether a column of numbers says how many words or characters the right samples have, about."""
    assert subject.batch is not None
    rows = subject.labelled("right")
    for column in subject.reads:
        values = subject.batch.columns[column]
        known = [row for row in rows if isinstance(values[row], (int, float)) and values[row] > 0]
        if not known or len(known) < len(rows) or min(values[row] for row in known) < SHORTEST:
            continue
        for count in (_words, len):
            near = sum(0.6 <= count(subject.text(row)) / values[row] <= 1.6 for row in known)
            if near >= 0.8 * len(known):
                return True
    return False


def _words(text: str) -> int:
    return len(text.split())


def _common_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Names of the tags that every text opens and closes, in the order of the first text."""
    common: list[str] | None = None
    for text in texts:
        opened = list(dict.fromkeys(match[1] for match in _TAG.finditer(text)))
        here = [name for name in opened if f"<{name}>" in text and f"</{name}>" in text]
        common = here if common is None else [name for name in common if name in here]
    return tuple(common or ())


def _common_marks(texts: Sequence[str], tags: tuple[str, ...]) -> tuple[str, ...]:
    looks: dict[str, Callable[[str], bool]] = {
        "fence": lambda text: "```" in text,
        "box": lambda text: "\\boxed{" in text,
        "json": lambda text: read_json(text) is not None,
        "hash": lambda text: "####" in text,
        "table": lambda text: len(_ROW.findall(text)) > 1,
        "list": lambda text: len(_ITEM.findall(text)) > 1,
        "heading": lambda text: bool(_HEADING.search(text)),
    }
    found = [name for name, look in looks.items() if texts and all(look(text) for text in texts)]
    return ("tags", *found) if tags else tuple(found)


def _common_lines(texts: Sequence[str]) -> tuple[str, ...]:
    """Lines that every one of several different texts has, in the order of the first."""
    if len(set(texts)) < 2:
        return ()
    rest = [set(map(str.strip, text.splitlines())) for text in texts[1:]]
    lines = [line.strip() for line in texts[0].splitlines() if line.strip()]
    return tuple(line for line in dict.fromkeys(lines) if all(line in others for others in rest))


def _common_openings(texts: Sequence[str]) -> tuple[str, ...]:
    """The first words of lines that begin a line in every one of several different texts, in the order of the first.

    >>> _common_openings(["Dear Ann,\\nKind regards,\\nJo", "Dear Mr Holm,\\nI am ill.\\nKind regards,\\nMo"])
    ('Dear', 'Kind regards,')
    """
    if len(set(texts)) < 2:
        return ()
    first, *rest = [[line.split() for line in text.splitlines() if line.strip()] for text in texts]
    found = []
    for words in first:
        shared = min(max(_shared_words(words, other) for other in lines) if lines else 0 for lines in rest)
        if shared:
            found.append(" ".join(words[:shared]))
    return tuple(dict.fromkeys(found))


def _shared_words(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _suggested(subject: RewardSubject) -> str | None:
    """What the reward's name or the columns it reads speak for."""
    kind = suggested_kind(subject.name)
    if kind is None and any(name in ("answer", "solution", "target", "gold") for name in subject.reads):
        return "correctness"
    return kind


def columns_read(
    tree: ast.Module, lines: set[int], names: Iterable[str], columns: Iterable[str]
) -> list[str]:
    """Columns a reward reads: those it names as arguments, and those it takes out of its keyword rest by name."""
    known = list(columns)
    read = {name for name in names if name in known}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Subscript, ast.Call)) and node.lineno in lines:
            key: ast.expr | None = None
            if isinstance(node, ast.Subscript):
                key = node.slice
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop") and node.args:
                key = node.args[0]
            if isinstance(key, ast.Constant) and key.value in known:
                read.add(str(key.value))
            elif isinstance(key, ast.Attribute):  # columns[self.column]: named elsewhere in the file
                read |= {name for name in known if name in _texts_of(tree)}
    return [name for name in known if name in read]


def _texts_of(tree: ast.Module) -> set[str]:
    """The texts that stand in a file as values."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


__all__ = ["Case", "Task", "columns_read", "read_task"]
