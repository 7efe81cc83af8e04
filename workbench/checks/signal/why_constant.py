"""Why a reward gives every sample the same score, as far as its code and a few calls tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.contract import Batch, Status, completion_text, unwrap
from workbench.checks.check import shown, shown_pattern
from workbench.checks.observing import batch_of, reward_named
from workbench.checks.patterns import written_patterns
from workbench.checks.subject import RewardSubject

ROWS = 16


@dataclass(frozen=True)
class Reason:
    """Why the scores are equal, and what to do; `row` is the sample that shows it best.

    `sure` says that it is a mistake whatever the samples are; else they may simply not be of the kind it pays.
    """

    text: str
    advice: str
    line: int | None = None
    sure: bool = True
    row: int | None = None


def reason_for(subject: RewardSubject) -> Reason | None:
    """The first reason that is seen, the surest first."""
    for look in (_always_true, _in_prompt, _never_read, _no_match, _swallowed):
        found = look(subject)
        if found is not None:
            return found
    return None


def _always_true(subject: RewardSubject) -> Reason | None:
    for node, text in always_true(subject):
        return Reason(
            f"the text {shown(text)} on line {node.lineno} is true by itself, so its condition always holds",
            'Write "a" in text and "b" in text, in full.',
            node.lineno,
        )
    return None


def always_true(subject: RewardSubject) -> Iterator[tuple[ast.expr, str]]:
    """Non-empty texts that stand as a condition by themselves in the reward's file."""
    used = subject.source.lines_used(subject.description.line)
    for node in ast.walk(subject.source.tree):
        if isinstance(node, ast.BoolOp) and node.lineno in used:
            for part in node.values[:-1] if isinstance(node.op, ast.Or) else node.values:
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                    yield part, part.value


def _in_prompt(subject: RewardSubject) -> Reason | None:
    """The same completions score otherwise, and differ, under prompts that say nothing."""
    if not subject.reads_prompts:
        return None
    rows = subject.few(ROWS)
    batch = subject.variant(rows)
    bare: Any = [{"role": "user", "content": "Hello."}] if subject.chat else "Hello."
    asked = Batch([bare] * len(rows), batch.completions, batch.completion_ids, batch.columns, batch.groups)
    result = subject.bench.call(subject.name, asked, timeout_s=subject.patience_s)
    if not (result.status == Status.NUMBER).all() or len(set(result.scores.tolist())) < 2:
        return None
    return Reason(
        "what earns it stands in the prompt, not in the completion", "Look for it in the completion alone."
    )


def _never_read(subject: RewardSubject) -> Reason | None:
    """A column is taken as an argument and never looked at."""
    assert subject.batch is not None
    named = [name for name in subject.description.signature.names if name in subject.batch.columns]
    used = subject.source.lines_used(subject.description.line)
    loaded = {
        node.id
        for node in ast.walk(subject.source.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno in used
    }
    for name in named if subject.source.text else []:
        if name not in loaded:
            return Reason(
                f"it takes the column '{name}' and never reads it",
                f"Compare the completion with {name}, or leave the argument out.",
                subject.description.line,
                sure=False,
            )
    return None


def _no_match(subject: RewardSubject) -> Reason | None:
    """No pattern of the code matches any sample."""
    rows = subject.few(ROWS)
    missed: list[dict[str, Any]] | None = subject.probe(
        "workbench.checks.signal.why_constant:unmatched",
        len(rows),
        rows=rows,
        lines=sorted(subject.source.lines_used(subject.description.line)),
    )
    for item in missed or []:
        near = f"; {item['near']}" if item["near"] else ""
        return Reason(
            f"the pattern {shown_pattern(item['pattern'])} on line {item['line']} matches none of the samples{near}",
            "Add re.DOTALL, so that . matches line breaks too."
            if item["dotall"]
            else "Try the pattern on a sample; mind re.DOTALL, anchors and escapes.",
            item["line"],
            sure=item["dotall"],
            row=item["row"],
        )
    return None


def _swallowed(subject: RewardSubject) -> Reason | None:
    """An exception that the code catches itself ends every call."""
    if not any(isinstance(node, ast.ExceptHandler) for node in ast.walk(subject.source.tree)):
        return None
    rows = subject.few(ROWS)
    caught: list[dict[str, Any]] | None = subject.probe(
        "workbench.checks.swallowing:swallowed", len(rows), rows=rows
    )
    for item in caught or []:
        if len(item["rows"]) == len(rows):
            return Reason(
                f"each of them raises {item['type']} on line {item['line']}, caught on line {item['caught']}",
                "Look at what raises; what is caught there becomes this score.",
                item["line"],
                sure=False,
            )
    return None


# -- in the worker ---------------------------------------------------------------------------------------------


def unmatched(context: Any, *, reward: str, rows: list[int], lines: list[int]) -> list[dict[str, Any]]:
    """The patterns written on these lines of the reward's file, where none of them matches in any of `rows`.

    [] as soon as one matches: helpers hold patterns for forms that need not occur. Each has `pattern`, `line`, `near`
    (what is missing in the nearest completion, or what would make it match), `dotall` (a completion matches once `.`
    matches line breaks) and `row` (the nearest completion).
    """
    function, _ = reward_named(context, reward)
    inner = unwrap(function)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    if code is None:
        return []
    texts = [completion_text(completion) for completion in batch_of(context, rows).completions]
    found = []
    for name, pattern, flags, line in written_patterns(Path(code.co_filename)):
        if line not in lines:
            continue
        try:
            if any(_matches(name, pattern, flags, text) for text in texts):
                return []
        except re.error:
            continue
        found.append({"pattern": pattern, "line": line, **_nearest(name, pattern, flags, rows, texts)})
    return sorted(found, key=lambda item: not item["dotall"])


def _matches(name: str, pattern: str, flags: int, text: str) -> bool:
    attempt = getattr(
        re.compile(pattern, flags), {"match": "match", "fullmatch": "fullmatch"}.get(name, "search")
    )
    return attempt(text) is not None


_Looser = Callable[[str, str, int], tuple[str, str, int]]
_LOOSER: tuple[tuple[str, _Looser], ...] = (
    ("it would match with re.DOTALL", lambda n, p, f: (n, p, f | re.DOTALL)),
    ("it would match in the other case (re.IGNORECASE)", lambda n, p, f: (n, p, f | re.IGNORECASE)),
    (
        "it would match elsewhere in the text (re.search, without ^ and $)",
        lambda n, p, f: ("search", _bare(p), f),
    ),
    ("it would match with other white space", lambda n, p, f: (n, re.sub(r"\\n|\\s\*|\n| ", r"\\s*", p), f)),
)


def _bare(pattern: str) -> str:
    return re.sub(r"\A(\^|\\A)|(?<!\\)\$\Z|\\Z\Z", "", pattern)


def _nearest(
    name: str, pattern: str, flags: int, rows: Sequence[int], texts: Sequence[str]
) -> dict[str, Any]:
    for place, (what, change) in enumerate(_LOOSER):
        for row, text in zip(rows, texts, strict=True):
            try:
                if _matches(*change(name, pattern, flags), text):
                    return {"near": what, "dotall": place == 0, "row": row}
            except re.error:
                break
    parts = [
        part
        for part in re.findall(r"[A-Za-z<>/#:{]{3,}", re.sub(r"\\.|\(\?[a-zA-Z<:=!]*", "\0", pattern))
        if part
    ]
    if not parts:
        return {"near": "", "dotall": False, "row": None}
    place = max(range(len(texts)), key=lambda at: (sum(part in texts[at] for part in parts), -len(texts[at])))
    missing = [part for part in parts if part not in texts[place]]
    near = f"the nearest sample lacks {shown(missing[0])}" if missing else ""
    return {"near": near, "dotall": False, "row": rows[place]}


__all__ = ["Reason", "always_true", "reason_for", "unmatched"]
