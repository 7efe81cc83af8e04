"""RW901: text is run as a program."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import ClassVar

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.odd import formulas
from workbench.checks.subject import RewardSubject

IN_PLACE = frozenset(
    ["exec", "eval", "builtins.exec", "builtins.eval", "runpy.run_path", "pickle.loads", "sympy.sympify",
     "sympy.parse_expr", "sympy.parsing.sympy_parser.parse_expr"]
)  # fmt: skip
PROCESSES = frozenset(
    ["os.system", "os.popen", "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call",
     "subprocess.check_output", "subprocess.getoutput", "subprocess.getstatusoutput"]
)  # fmt: skip
MARK = "workbench_probe_of_text"
PROBE = "workbench.checks.robustness.auditing:executed"


class RunsText(Lead):
    """The code runs text as a program: `exec`, `eval`, or a new process.

    What a completion says then happens, with the rights of the trainer: it can end the run, read the answers, change
    the grader. `exec` and `eval` are tried with completions that hold a name of our own; where Python executes it in
    the reward's own process, the note becomes an error. A process of its own is better; it still has the network,
    the files and the memory of the machine unless something takes them away.

    Example:
        value = eval(answer)                 # the answer may be __import__("os")._exit(0)

    Remedy:
        For formulas a parser (`ast` with a list of what is allowed); for programs the sandbox of this package
        (`rewards.library.code`).
    """

    code = "RW901"
    name = "runs-text"
    severity: ClassVar[Severity] = "error"
    summary = "text is executed with exec, eval or in a process"
    cost = Cost.STOPS
    advice = (
        "Read formulas with a parser that only knows what is allowed; run programs in the sandbox "
        "(rewards.library.code)."
    )
    proved_by = ("RW319",)

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Calls that run something which is not written in the code itself."""
        for call in code.nodes(ast.Call):
            name = code.called(call)
            if not call.args or isinstance(call.args[0], ast.Constant) or not code.in_function(call):
                continue
            if name in IN_PLACE:
                yield Spot(call.lineno, f"runs text in this process with {name}", f"runs {name}")
            elif name in PROCESSES:
                yield Spot(call.lineno, f"starts a process with {name}", "starts processes")

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """The notes; an error in place of one whose text a completion decides."""
        notes = list(super().run(subject))
        if not any("in this process" in note.message for note in notes):
            yield from notes
            return
        proof = self._proof(subject)
        if proof is not None:
            yield proof
            notes = [note for note in notes if "in this process" not in note.message]
        yield from notes

    def _proof(self, subject: RewardSubject) -> Finding | None:
        """An error with a completion whose text the reward's process executes."""
        if subject.batch is None or not subject.usable or subject.pace_s > 0.5:
            return None
        row = subject.best_row()
        row = subject.usable[0] if row is None else row
        items = [(row, text) for text in _texts(subject, row)]
        for case in subject.task.cases[:2]:
            if case.slot is not None:
                items.append((case.row, case.slot.write(f"{MARK}()")))
            items += [(case.row, formula) for formula in _formulas(case.text)]
        rows, texts = [row for row, _ in items], [text for _, text in items]
        found = subject.probe(PROBE, 2 * len(items), rows=rows, texts=texts, chat=subject.chat, name=MARK)
        if not found:
            return None
        first = found[0]
        return self.finding(
            f"{subject.name} executes what the completion says, in its own process.",
            advice=self.advice,
            cause="executes",
            reward=subject.name,
            severity="error",
            evidence=subject.evidence(
                rows[first["place"]],
                completion=subject.shaped(texts[first["place"]]),
                got=f"{MARK} was executed",
                expected="text that is only read",
            ),
            line=first["line"] or subject.description.line,
        )


def _texts(subject: RewardSubject, row: int) -> list[str]:
    """Completions that hold a call of our name: bare, in every usual form, and as the program of a sample."""
    call = f"{MARK}()"
    text = subject.text(row)
    made = [
        call,
        f"<answer>{call}</answer>",
        f"\\boxed{{{call}}}",
        f"#### {call}",
        f"Answer: {call}",
        f"```python\n{call}\n```",
    ]
    head, fence, rest = text.partition("```")
    first, newline, body = rest.partition("\n")
    if fence and newline:
        made.append(f"{head}```{first}\n{call}\n{body}")
    return [*made, *_formulas(text)]


def _formulas(text: str) -> list[str]:
    """The text with our name as an attribute of a formula in it: what looks at the numbers alone lets it pass."""
    return list(dict.fromkeys(place.write(f"({place.answer.strip()}).{MARK}") for place in formulas(text)))
