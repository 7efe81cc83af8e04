"""RW912: an argument that is taken and never read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code, Function
from workbench.checks.subject import RewardSubject


class NeverReads(Lead):
    """The reward takes completions, or a column of the samples, and never looks at them.

    A reward that only counts its completions pays everybody the same. One that names the ground truth in its
    signature and never uses it was meant to compare and does not, most often after a change.

    Example:
        def correctness_reward(completions, answer, **kwargs):
            return [1.0 if "<answer>" in c else 0.0 for c in completions]        # answer is not used

    Remedy:
        Use it, or leave it out of the signature: `**kwargs` takes what is not needed.
    """

    code = "RW912"
    name = "never-reads"
    summary = "completions or a column are taken and never read"
    advice = "Use the argument, or leave it to **kwargs."
    proved_by = ("RW404", "RW601", "RW303")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """`completions`, and named columns of the samples, without a use."""
        function = code.reward
        if function is None or _is_abstract(function):
            return
        if _hands_on(function):
            return
        arguments = [
            a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        ]
        columns = set(subject.batch.columns) if subject.batch is not None else set()
        for name in arguments:
            uses = _uses(code, function, name)
            if name == "completions" and uses and all(uses_length for uses_length in uses):
                yield Spot(
                    function.lineno, "only counts the completions and reads none of them", "completions"
                )
            elif (name == "completions" or name in columns) and not uses:
                yield Spot(function.lineno, f"takes {name} and never reads it", f"reads not {name}")


def _is_abstract(function: Function) -> bool:
    return all(isinstance(s, (ast.Pass, ast.Expr, ast.Raise)) for s in function.body)


def _hands_on(function: Function) -> bool:
    """Whether all local names are handed on at once."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("locals", "vars")
        for node in ast.walk(function)
    )


def _uses(code: Code, function: Function, name: str) -> list[bool]:
    """For each time the argument is read, whether only its length is."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            outer = code.parents.get(node)
            found.append(
                isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id == "len"
            )
    return found
