"""CSV: a header line, one row a completion, any of the usual separators, cells of several lines.

A CSV file has no types: every cell is text, an empty one None (an empty completion stays "", also under another name
that `[data] columns` maps). Cells that hold
a chat, as JSON or as pandas writes a list of messages, are read as chat.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Raw, Values, repeated
from workbench.samples.records import Skipped
from workbench.samples.text import NOT_TEXT, open_text

SEPARATORS = (",", ";", "\t", "|")
SNIFFED = 65_536  # characters of the file that decide about its separator


def _read(path: Path) -> Iterator[Raw | Skipped]:
    csv.field_size_limit(sys.maxsize)  # the default refuses completions over 128 KiB
    with open_text(path) as file:
        head = file.read(SNIFFED)
        file.seek(0)
        table = csv.reader(file, delimiter=_separator(head), strict=True)
        header: list[str] | None = None
        end = 0
        while True:
            line, cells = end + 1, None
            try:
                cells = next(table)
            except StopIteration:
                return
            except csv.Error as error:
                yield Skipped(path, line, _csv_fault(error))
            end = max(table.line_num, line)
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if header is None:
                header = [name.strip() for name in cells]
                if (why := repeated(header)) is not None:
                    yield Skipped(path, line, why)
                    return
            else:
                yield _record(path, line, header, cells)


def _csv_fault(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a quoted cell that opens in this row is never closed"
    return f"not CSV: {error}"


def _record(path: Path, line: int, header: list[str], cells: list[str]) -> Raw | Skipped:
    if len(cells) != len(header):
        return Skipped(path, line, f"{len(cells)} cells where the header has {len(header)}")
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return Skipped(path, line, NOT_TEXT)
    values: Values = {name: cell or None for name, cell in zip(header, cells, strict=True)}
    for name, cell in zip(header, cells, strict=True):
        if cell.startswith("[{") and cell.endswith("}]"):
            values[name] = _chat(cell)
        elif name.casefold() == "completion":
            values[name] = cell
    return Raw(line, values)


def _chat(cell: str) -> Any:
    """The message list a cell holds, or the cell's text if it is none."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and all(isinstance(item, dict) and "role" in item for item in value):
            return value
    return cell


def _separator(head: str) -> str:
    """The separator under which the rows of `head` agree best with its first row; else the comma."""
    best, best_score = ",", 0.0
    for separator in SEPARATORS:
        rows: list[list[str]] = []
        table = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        try:
            rows.extend(row for row in table if row)
        except csv.Error:
            continue
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        body = rows[1:-1] or rows[1:]  # the last row may be cut
        agreeing = sum(len(row) == width for row in body) / len(body) if body else 1.0
        score = agreeing + min(width, 50) / 1000
        if score > best_score:
            best, best_score = separator, score
    return best


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix.lower() in (".csv", ".tsv"):
        return True
    first = head.split(b"\n", 1)[0]
    return path.suffix.lower() in (".txt", "") and any(mark in first for mark in (b",", b";", b"\t"))


CSV = Container("CSV", _recognises, _read, untyped=True)
