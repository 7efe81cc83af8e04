"""Inspect's evaluation logs: `.eval` archives and their JSON form; one sample and epoch is one row.

New logs are compressed with zstd inside the zip, which Python's own zipfile cannot read; those entries are cut
out and decompressed here.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Draft, Raw, RowError, Shape, Values
from workbench.samples.jsonl import parse_object
from workbench.samples.openai import split_chat
from workbench.samples.records import Skipped

ZSTD = 93
ATTACHED = "attachment://"
LOCAL_HEADER = (
    30  # bytes before the name in a zip entry's local header; name and extra lengths are the last four
)


def _read(path: Path) -> Iterator[Raw | Skipped]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.startswith("samples/")]
            for number, entry in enumerate(entries, 1):
                try:
                    yield Raw(number, parse_object(_content(path, archive, entry).decode()))
                except (RowError, UnicodeDecodeError, zlib.error, zipfile.BadZipFile) as error:
                    yield Skipped(path, number, f"{entry.filename}: {error}")
    except zipfile.BadZipFile as error:
        yield Skipped(path, None, f"damaged evaluation log ({error})")


def _content(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type != ZSTD:
        return archive.read(entry)
    import zstandard

    with path.open("rb") as file:
        file.seek(entry.header_offset)
        name, extra = struct.unpack("<HH", file.read(LOCAL_HEADER)[-4:])
        file.seek(name + extra, 1)
        packed = file.read(entry.compress_size)
    try:
        content = zstandard.ZstdDecompressor().decompress(packed, max_output_size=entry.file_size)
    except zstandard.ZstdError as error:
        raise RowError(f"cannot be decompressed ({error})") from None
    if zlib.crc32(content) != entry.CRC:
        raise RowError("damaged, its checksum differs")
    return content


def _recognises(path: Path, head: bytes) -> bool:
    return path.suffix.lower() == ".eval" or head.startswith(b"PK\x03\x04")


def _matches(values: Values) -> bool:
    return all(name in values for name in ("input", "target", "output", "epoch"))


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    values = _attached(raw.values)
    messages = values.get("messages")
    if isinstance(messages, list) and messages:
        prompt: Any
        prompt, completion = split_chat([_plain(message) for message in messages])
    else:
        prompt, completion = values.get("input"), _said(values)
    metadata = values["metadata"] if isinstance(values.get("metadata"), dict) else {}
    scores = values["scores"] if isinstance(values.get("scores"), dict) else {}
    recorded = {name: _score(score.get("value")) for name, score in scores.items() if isinstance(score, dict)}
    name, epoch = values.get("id"), values.get("epoch")
    yield Draft(
        raw.line,
        prompt,
        completion,
        columns={**metadata, "target": values.get("target")},
        group=name,
        id=f"{name}" if epoch in (None, 1) else f"{name}-{epoch}",
        recorded=recorded,
    )


def _score(value: Any) -> float | None:
    """A score as a number: correct, incorrect, partial and no answer have letters."""
    if isinstance(value, str):
        return {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}.get(value)
    return float(value) if isinstance(value, (int, float)) else None


def _said(values: Values) -> Any:
    output = values.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise RowError("the sample has no output")
    return [_plain(choices[0].get("message"))]


def _plain(message: Any) -> Any:
    """A message as chat has it: role and text, tool calls kept."""
    if not isinstance(message, dict):
        raise RowError("a message that is no object")
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    plain = {"role": message.get("role"), "content": content or ""}
    return {**plain, "tool_calls": message["tool_calls"]} if message.get("tool_calls") else plain


def _attached(values: Values) -> Values:
    """The sample with its attachments put where it refers to them."""
    attachments = values.get("attachments")
    if not isinstance(attachments, dict) or not attachments:
        return values

    def resolve(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(ATTACHED):
            return attachments.get(value.removeprefix(ATTACHED), value)
        if isinstance(value, list):
            return [resolve(item) for item in value]
        if isinstance(value, dict):
            return {key: resolve(item) for key, item in value.items()}
        return value

    wanted = ("input", "messages", "output", "target", "metadata")
    return {**values, **{name: resolve(values[name]) for name in wanted if name in values}}


INSPECT_ARCHIVE = Container("Inspect log", _recognises, _read)
INSPECT_SAMPLES = Shape("Inspect samples", _matches, _drafts, foreign=True)
