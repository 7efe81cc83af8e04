"""RW402: a right answer is refused because of how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from workbench.answer_form import gold_text, same_answer, value_of
from workbench.answer_variants import equal_forms
from workbench.checks.check import RewardCheck, number, shown_pattern
from workbench.checks.exploits.prompt_echo import prompt_texts
from workbench.checks.finding import Cost, Finding
from workbench.checks.golds import find_gold
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case, Task
from workbench.checks.trials import Outcome, Trial, try_out

_MONEY = re.compile(
    r"[$\u20ac\u00a3\u00a5]|\b(?:dollars?|cents?|euros?|pounds?|price|cost|costs|pay|earns?)\b", re.I
)
_LEAD = re.compile(r"[^\W\d_]+[ \t]*[:=][ \t]*\Z")
Change = Callable[[str], str]
CASES: tuple[tuple[Change, str], ...] = (
    (str.lower, "in small letters"),
    (str.capitalize, "with a capital letter"),
    (str.title, "with capital letters"),
    (str.upper, "in capital letters"),
)
MOST = 60
"""Right samples that are asked for the case they write."""
_AROUND = re.compile(r"\A[^\w+\-\u2212]+|[^\w%]+\Z")
_FENCE_NAMED = re.compile(r"```\w")
_FENCE = re.compile(r"```([\w+-]*)[ \t]*\n")


class EqualForms(RewardCheck):
    """The same answer in another form earns clearly less.

    A model writes 1,250 or 1250.0, a typographic minus, a line break after the tag. Each right answer that is
    refused is noise in the advantages, and teaches a spelling instead of the task. Only forms are tried that mean
    the same to any reader: signs, trailing zeros, thousands separators, a currency sign, fractions, percentages, a
    final full stop, white space and line ends; JSON with other spacing, key order or a fence; a letter in
    brackets; another case where right samples write it; a fence without its language, unless the prompt names it.
    Where the plain ground truth is refused as well, what stands around it is asked for, and nothing is said. Where
    only forms are refused that hardly any model writes (a plus sign, Windows line ends, a currency sign where the
    prompt is not about money, 211/5 for 42.2) it is information.

    Example:
        return [float(answer.strip() == gold) ...]        # "42.0" for 42

    Remedy:
        Bring both sides into one normal form before they are compared: parse numbers, load JSON, strip decoration.
    """

    code = "RW402"
    name = "equal-forms"
    severity = "warning"
    summary = "a right answer is refused because of how it is written"
    cost = Cost.TEACHES_WRONG
    version = 2
    kinds = frozenset({"correctness", "format"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding that names all the forms that are refused."""
        task = subject.task
        exact = task.kind == "correctness"
        layout = task.kind == "format" and ("json" in task.marks or bool(task.tags))
        if not task.cases or not subject.steadiness.reliable or not (exact or layout):
            return
        cases = _cases_written(subject, task) if exact else []
        trials = [
            trial
            for case in task.cases
            for trial in (*_other_case(case, cases), *_trials(subject, task, case))
        ]
        refused = [outcome for outcome in try_out(subject, trials) if outcome.refused and not _bare(outcome)]
        if not refused:
            return
        forms = list(dict.fromkeys(outcome.trial.what for outcome in refused))
        best = min(refused, key=lambda o: (forms.index(o.trial.what), len(o.trial.text)))
        case = best.trial.case
        more = f"; also refused: {', '.join(forms[1:])}" if len(forms) > 1 else ""
        yield self.finding(
            f"{subject.name} refuses right {_shown(best.trial)} earns {number(best.score)} instead of "
            f"{number(case.full)}{more}.",
            advice="Bring both sides into one normal form before they are compared: parse numbers, load JSON, strip "
            "what is around the answer.",
            cause="refused forms",
            severity="info" if all(_is_rare(subject, outcome) for outcome in refused) else None,
            reward=subject.name,
            evidence=subject.evidence(
                case.row, completion=subject.shaped(best.trial.text), got=best.score, expected=case.full
            ),
            line=subject.description.line,
            count=len({outcome.trial.case.row for outcome in refused}),
        )


def _shown(trial: Trial) -> str:
    """What is refused, in words: the answer, or a whole completion where no place of an answer is known."""
    case = trial.case
    if case.slot is None:
        return f"completions because of how they are written: a right sample {trial.what}"
    right = "the answer" if isinstance(case.gold, Mapping) else shown_pattern(gold_text(case.gold))
    said = shown_pattern(_written(trial))
    return f"answers because of how they are written: {said} for {right} ({trial.what})"


def _bare(outcome: Outcome) -> bool:
    """Whether the plain ground truth is refused in the same place: it asks for what stands around it, `$8`."""
    return any(outcome.trial.case.falls_short(score) for score in outcome.controls)


def _is_rare(subject: RewardSubject, outcome: Outcome) -> bool:
    """Whether hardly any model writes the form: a reward that refuses it alone loses next to nothing."""
    what, row = outcome.trial.what, outcome.trial.case.row
    assert subject.batch is not None
    if what == "with a currency sign":
        return not _MONEY.search(prompt_texts(subject.batch.prompts[row])[1])
    if what in ("as a fraction", "as a mixed number"):
        value = value_of(gold_text(outcome.trial.case.gold))
        return "." in gold_text(outcome.trial.case.gold) and value is not None and abs(value.numerator) > 20
    return what == "with a plus sign" or what.endswith("with Windows line ends")


def _trials(subject: RewardSubject, task: Task, case: Case) -> Iterable[Trial]:
    """The right sample with its answer in other forms."""
    slot = case.slot
    if task.kind == "correctness" and slot is not None and slot.form != "number":
        plain = _plain(case)
        for variant in equal_forms(case.gold, form=slot.form):
            if "\n" in variant.text and slot.form in ("line", "hash"):
                continue
            text = slot.exactly(variant.text)
            if text is not None:
                yield Trial(case, text, variant.what, plain)
        if slot.form == "line":
            yield from _lines(case)
        if isinstance(case.gold, (list, tuple)) and ", " in slot.answer and slot.form != "json":
            yield Trial(case, slot.write(slot.answer.replace(", ", ",")), "without blanks between its parts")
    if task.kind == "correctness" and slot is not None and slot.form == "number" and not slot.after.strip():
        yield Trial(case, f"{slot.before}{slot.answer}.", "with a full stop behind it")
        if not _asked_to_end(subject, case):
            yield Trial(case, f"{slot.before}{slot.answer} in all, to be exact.", "with words behind it")
    if task.kind == "format" and task.tags:
        yield from _line_breaks(task, case)
    if "json" in task.marks and "```" not in case.text:
        body = case.text.strip()
        yield Trial(case, f"```json\n{body}\n```", "in a JSON fence")
        yield Trial(case, f"\n{body}\n", "with empty lines around it")
    if task.programs:
        assert subject.batch is not None
        asked = prompt_texts(subject.batch.prompts[case.row])[1]
        if not _FENCE_NAMED.search(asked):
            yield from _fences(case)


def _plain(case: Case) -> str | None:
    """The sample with its answer alone where that has marks around it which the ground truth has not; else None."""
    if case.slot is None or isinstance(case.gold, (Mapping, list, tuple)):
        return None
    bare = _AROUND.sub("", case.slot.answer)
    marked = bare != case.slot.answer and same_answer(bare, case.gold) is True
    return case.slot.write(bare) if marked and case.slot.answer != gold_text(case.gold) else None


def _other_case(case: Case, changes: Iterable[tuple[Change, str]]) -> Iterable[Trial]:
    """The answer in the case in which other right samples write theirs."""
    slot = case.slot
    if slot is None:
        return
    said = {slot.answer}
    for change, what in changes:
        other = change(slot.answer)
        text = slot.exactly(other) if other not in said else None
        if text is not None:
            yield Trial(case, text, what)
        said.add(other)


def _cases_written(subject: RewardSubject, task: Task) -> list[tuple[Change, str]]:
    """The changes of case that turn a ground truth into the answer of a right sample."""
    known = [(subject.text(row), task.golds.get(row)) for row in task.right[:MOST]]
    pairs = [(find_gold(text, gold), gold_text(gold)) for text, gold in known if isinstance(gold, str)]
    said = [(slot.answer, gold) for slot, gold in pairs if slot is not None and slot.answer != gold]
    return [(change, what) for change, what in CASES if any(answer == change(gold) for answer, gold in said)]


def _asked_to_end(subject: RewardSubject, case: Case) -> bool:
    """Whether the words right before the number are the prompt's: it says how to end, and more words are not the form.

    Of "Estimate: 305", a prompt that says: finish with "Estimate: <number>".
    """
    assert subject.batch is not None
    assert case.slot is not None
    lead = _LEAD.search(case.slot.before)
    return lead is not None and lead[0].strip() in prompt_texts(subject.batch.prompts[case.row])[1]


def _lines(case: Case) -> Iterable[Trial]:
    """The last line in the ways a model decorates it."""
    assert case.slot is not None
    answer = case.slot.answer
    if not answer.isalpha():
        return
    head, _, line = case.text.rstrip().rpartition("\n")
    start = f"{head}\n" if head else ""
    if answer not in line:
        return
    plain = line.rstrip(".")
    if len(answer) == 1 and f"({answer})" not in line:
        yield Trial(case, f"{start}{_last(plain, answer, f'({answer})')}", "with the letter in brackets")
    if "**" not in plain:
        yield Trial(case, f"{start}**{plain}**", "in bold")
    yield Trial(case, f"{start}{plain}.", "with a final full stop")


def _line_breaks(task: Task, case: Case) -> Iterable[Trial]:
    """The layout with line breaks inside its first block that has none."""
    for tag in task.tags:
        found = re.search(rf"(?<=<{re.escape(tag)}>)[^<>\n]*\w[^<>\n]*(?=</{re.escape(tag)}>)", case.text)
        if found is not None:
            text = case.text[: found.start()] + f"\n{found[0]}\n" + case.text[found.end() :]
            yield Trial(case, text, f"with line breaks inside <{tag}>")
            return


def _last(line: str, answer: str, other: str) -> str:
    head, _, tail = line.rpartition(answer)
    return head + other + tail


def _fences(case: Case) -> Iterable[Trial]:
    """The program's fence with another word for its language, or none."""
    found = _FENCE.search(case.text)
    python = found is not None and found[1].lower() in ("", "py", "python", "python3")
    for language in ("", "py", "Python") if python else ("",):
        text = _FENCE.sub(f"```{language}\n", case.text, count=1)
        if text != case.text:
            yield Trial(
                case, text, f"in a fence marked {language!r}" if language else "in a fence without a language"
            )


def _written(trial: Trial) -> str:
    """What stands in the place of the answer."""
    slot = trial.case.slot
    assert slot is not None
    if trial.text.startswith(slot.before) and trial.text.endswith(slot.after):
        return trial.text[len(slot.before) : len(trial.text) - len(slot.after)]
    return trial.text
