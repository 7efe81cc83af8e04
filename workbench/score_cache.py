"""Scores kept from one scoring to the next, so that after an edit only what changed is scored again.

A score is kept under its code (`workbench.repeatable`: the function's own code, what it uses, parameters, Python
and every installed package) and its row (prompt, completion, token ids, and the columns the function gets), as a
BLAKE2b-128 of both; completions may be hostile, so the hash is one that nobody can make collide. Kept are only
rewards that cost more than `WORTH_S` a row, whose code is repeatable, and rows that gave a score: no errors, nothing
that was printed beside it, nothing that was seen to read more than its rows (`rewards.outside`) or took so long that a
deadline inside the code may have cut it. What a reward told `log_extra` of a row is kept with its score.

What belongs together is kept together: a row where the reward declares `scope = "row"`, a group where it declares
"group", else the whole call. A whole call of which every part is kept has an entry of its own besides, so that the
same rows again are one look-up. The file may be deleted at any time; a damaged or locked one is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import marshal
import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from rewards.contract import DROPPED_COLUMNS, Batch, CallResult, Status, merge_results
from rewards.repeating import calling_scope
from rewards.rewardset import RewardDescription, SetDescription
from workbench.repeatable import Look, looks
from workbench.timed_calls import SECONDS_EACH
from workbench.versions import FOLDER, make_folder

WORTH_S = 50e-6
"""Seconds a row from which a reward's scores are kept: a quicker one is scored sooner than looked up."""

CUT_S = 1.0
"""Seconds from which a row of a reward with deadlines inside may have been cut short."""

LARGEST = 512 << 20
"""Bytes of the file above which it is begun anew."""

_MANY = 500
KEEPABLE = np.array([Status.NUMBER, Status.ABSTAINED, Status.NAN, Status.INFINITE], dtype=np.uint8)


@dataclass(frozen=True)
class Kept:
    """Scores (float64) and statuses (uint8) of rows that belong together, as bytes; and what was logged of them."""

    scores: bytes
    status: bytes
    extra: bytes = b""


class ScoreCache:
    """The file of kept scores. A context manager; every fault of the file is passed over with a `note`.

    Args:
        root: the project's folder; the file is `.workbench/scores.sqlite` below it.
    """

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDER / "scores.sqlite"
        self.note: str | None = None
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> ScoreCache:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def memory(
        self,
        description: SetDescription,
        batch: Batch,
        calls: list[list[int]],
        loaded: SetDescription | None = None,
        since: int | None = None,
    ) -> Memory:
        """What one scoring has to call, and what it knows.

        `loaded` is all that its process loads, `since` (`time.time_ns`) when it began to.
        """
        return Memory(self, description, batch, calls, loaded, since)

    def _open(self, *, write: bool) -> sqlite3.Connection | None:
        if self._connection is None and self.note is None and (write or self.path.is_file()):
            try:
                make_folder(self.path.parent)
                if self.path.is_file() and self.path.stat().st_size > LARGEST:
                    self.path.unlink()
                self._connection = sqlite3.connect(self.path, timeout=0.5, isolation_level=None)
                self._connection.executescript(
                    "PRAGMA synchronous = OFF;"
                    "CREATE TABLE IF NOT EXISTS code (digest TEXT PRIMARY KEY) WITHOUT ROWID;"
                    "CREATE TABLE IF NOT EXISTS unit "
                    "(key BLOB PRIMARY KEY, scores BLOB, status BLOB, extra BLOB, sum BLOB) WITHOUT ROWID;"
                )
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        return self._connection

    def _give_up(self, error: Exception) -> None:
        self.close()
        told = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        self.note = f"{self.path} is damaged, so no kept scores are used: delete it" if told else ""

    def has_code(self, digest: str) -> bool:
        """Whether any score of this code is kept."""
        connection = self._open(write=False)
        if connection is None:
            return False
        try:
            found = connection.execute("SELECT 1 FROM code WHERE digest = ?", (digest,)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return False
        return found is not None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Kept]:
        """What is kept under these keys; an entry that is not whole is passed over."""
        connection = self._open(write=False)
        found: dict[bytes, Kept] = {}
        if connection is None:
            return found
        try:
            for start in range(0, len(keys), _MANY):
                part = keys[start : start + _MANY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, scores, status, extra, sum FROM unit WHERE key IN ({marks})"
                for key, scores, status, extra, total in connection.execute(query, part):
                    if total == _sum(key, scores, status, extra) and len(scores) == 8 * len(status):
                        found[key] = Kept(scores, status, extra)
        except (sqlite3.Error, TypeError, ValueError) as error:
            self._give_up(error if isinstance(error, sqlite3.Error) else sqlite3.DatabaseError(str(error)))
            return {}
        return found

    def write(self, digest: str, entries: Mapping[bytes, Kept]) -> None:
        """Keep scores of one code."""
        connection = self._open(write=True)
        if connection is None:
            return
        rows = []
        for key, kept in entries.items():
            parts = (kept.scores, kept.status, kept.extra)
            rows.append((key, *parts, _sum(key, *parts)))
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT OR IGNORE INTO code VALUES (?)", (digest,))
            connection.executemany("INSERT OR REPLACE INTO unit VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(error)


def _sum(key: bytes, scores: bytes, status: bytes, extra: bytes) -> bytes:
    return hashlib.blake2b(key + scores + status + extra, digest_size=8).digest()


# ------------------------------------------------------------------------------------------- one scoring


@dataclass
class _Reward:
    """What is known of one reward before it is called."""

    look: Look
    scope: str
    units: list[list[list[int]]]
    keys: list[list[bytes]] | None = None
    kept: dict[bytes, Kept] = field(default_factory=dict)
    hashes: list[bytes] | None = None


class Memory:
    """What a scoring has to call and what it knows already.

    Args:
        cache: the file.
        description: the rewards.
        batch: all rows.
        calls: the rows of each call.
        loaded: all that the process of the rewards loads, where that is more than the rewards.
        since: when it began to (`time.time_ns`): where a file was written later, other code may have run.

    Attributes:
        left: for each reward the rows of each call that have to be scored.
        apart: rewards to call row by row with the time of each (`workbench.timed_calls`).
        reused: for each reward how many rows are known.
    """

    def __init__(
        self,
        cache: ScoreCache,
        description: SetDescription,
        batch: Batch,
        calls: list[list[int]],
        loaded: SetDescription | None = None,
        since: int | None = None,
    ) -> None:
        self.cache = cache
        self.batch = batch
        self.calls = calls
        self.apart: set[str] = set()
        self.left: dict[str, list[list[int]]] = {}
        self.reused: dict[str, int] = {}
        self._since = since
        self._rows = _row_hashes(batch)
        self._rewards: dict[str, _Reward] = {}
        found = looks(description, loaded)
        for reward in description.rewards:
            self._prepare(reward, found[reward.name])

    def _prepare(self, reward: RewardDescription, found: Look) -> None:
        self.left[reward.name] = self.calls
        self.reused[reward.name] = 0
        if found.why_not is not None:
            return
        own = _Reward(found, calling_scope(reward.entry.scope, reward.declared), [])
        by_row = reward.entry.scope == "row" and "scope" in reward.declared
        if found.deadlines and by_row:
            self.apart.add(reward.name)
        if not self.cache.has_code(found.digest):
            own.units = [_units(own.scope, rows, self.batch.groups) for rows in self.calls]
            self._rewards[reward.name] = own
            return
        own.hashes = self._rows.of(_columns(reward, self.batch))
        if own.hashes is None:
            return
        self._rewards[reward.name] = own
        self._look_up(own, [[rows] for rows in self.calls])
        if len(own.kept) < len(self.calls):
            self._look_up(own, [_units(own.scope, rows, self.batch.groups) for rows in self.calls])
        assert own.keys is not None
        self.left[reward.name] = [
            [row for unit, key in zip(units, keys, strict=True) if key not in own.kept for row in unit]
            for units, keys in zip(own.units, own.keys, strict=True)
        ]
        self.reused[reward.name] = sum(map(len, self.calls)) - sum(map(len, self.left[reward.name]))

    def _look_up(self, own: _Reward, units: list[list[list[int]]]) -> None:
        """Read what is kept of these units."""
        own.units, own.keys = units, self._keys(own, units)
        own.kept = self.cache.read([key for keys in own.keys for key in keys])

    def _keys(self, own: _Reward, units: list[list[list[int]]]) -> list[list[bytes]]:
        """The key of each unit."""
        # with the scope: what was scored in parts under a declaration that was wrong is not taken for a whole call
        code, hashes = f"{own.look.digest} {own.scope}".encode(), own.hashes
        assert hashes is not None
        return [
            [
                hashlib.blake2b(code + b"".join([hashes[row] for row in unit]), digest_size=16).digest()
                for unit in call
            ]
            for call in units
        ]

    def whole(self, reward: RewardDescription, fresh: list[CallResult]) -> list[CallResult]:
        """The results of whole calls out of what was called now and what was known; keeps what is worth it.

        Args:
            reward: the reward.
            fresh: a result for each entry of `left`.
        """
        seconds = [result.extra.pop(SECONDS_EACH, None) for result in fresh]
        own = self._rewards.get(reward.name)
        if own is None:
            return fresh
        doubtful = any(own.look.concerns(result.reads) for result in fresh) or (
            self._since is not None and own.look.changed_since(self._since)
        )
        left = self.left[reward.name]
        entries = {} if doubtful else self._entries(reward, own, left, fresh, seconds)
        results = fresh
        if self.reused[reward.name]:
            assert own.keys is not None
            results = [
                _joined(rows, units, keys, own.kept, rest, result)
                for rows, units, keys, rest, result in zip(
                    self.calls, own.units, own.keys, left, fresh, strict=True
                )
            ]
        if entries:
            self.cache.write(own.look.digest, entries | self._whole_calls(own, entries, results))
        return results

    def _entries(
        self,
        reward: RewardDescription,
        own: _Reward,
        left: list[list[int]],
        fresh: list[CallResult],
        seconds: list[list[float] | None],
    ) -> dict[bytes, Kept]:
        """What of this scoring is worth keeping, by key."""
        called = sum(map(len, left))
        if not called or sum(result.seconds for result in fresh) < WORTH_S * called:
            return {}
        if own.keys is None:
            own.hashes = self._rows.of(_columns(reward, self.batch))
            if own.hashes is None:
                return {}
            own.keys = self._keys(own, own.units)
        entries: dict[bytes, Kept] = {}
        for units, keys, rest, result, each in zip(own.units, own.keys, left, fresh, seconds, strict=True):
            if result.printed and each is None:
                continue
            places = {row: place for place, row in enumerate(rest)}
            for unit, key in zip(units, keys, strict=True):
                if all(row in places for row in unit):
                    at = [places[row] for row in unit]
                    if _keepable(result, at, own.look, each):
                        extra = {
                            name: [values[place] for place in at]
                            for name, values in result.extra.items()
                            if len(values) == len(rest)
                        }
                        entries[key] = _as_kept(result.scores[at], result.status[at], extra)
        return entries

    def _whole_calls(
        self, own: _Reward, entries: dict[bytes, Kept], results: list[CallResult]
    ) -> dict[bytes, Kept]:
        """An entry for each call of several units that are all known now."""
        assert own.keys is not None
        calls = self._keys(own, [[rows] for rows in self.calls])
        return {
            key: _as_kept(result.scores, result.status, result.extra)
            for (key,), keys, result in zip(calls, own.keys, results, strict=True)
            if len(keys) > 1 and all(each in entries or each in own.kept for each in keys)
        }


def _as_kept(scores: np.ndarray, status: np.ndarray, extra: dict[str, list[Any]]) -> Kept:
    logged = json.dumps(extra).encode() if extra else b""
    return Kept(scores.astype(np.float64).tobytes(), status.astype(np.uint8).tobytes(), logged)


def _keepable(result: CallResult, at: list[int], found: Look, each: list[float] | None) -> bool:
    if not np.isin(result.status[at], KEEPABLE).all():
        return False
    if not found.deadlines and not result.printed:
        return True
    return max(each[place] for place in at) < CUT_S if each is not None else result.seconds < CUT_S


def _units(scope: str, rows: list[int], groups: list[str]) -> list[list[int]]:
    """The rows whose scores belong together."""
    if scope == "call":
        return [rows]
    if scope == "row":
        return [[row] for row in rows]
    members: dict[str, list[int]] = {}
    for row in rows:
        members.setdefault(groups[row] if groups else "", []).append(row)
    return list(members.values())


def _joined(
    rows: list[int],
    units: list[list[int]],
    keys: list[bytes],
    kept: dict[bytes, Kept],
    rest: list[int],
    result: CallResult,
) -> CallResult:
    place = {row: at for at, row in enumerate(rows)}
    known = [(unit, kept[key]) for unit, key in zip(units, keys, strict=True) if key in kept]
    own = [place[row] for unit, _ in known for row in unit]
    scores = np.frombuffer(b"".join(each.scores for _, each in known))
    status = np.frombuffer(b"".join(each.status for _, each in known), dtype=np.uint8)
    if len(scores) != len(own):
        raise ValueError(f"{len(scores)} kept scores for {len(own)} rows")
    parts = [(own, CallResult(scores, status, extra=_logged(known, len(own))))] if own else []
    if rest:
        parts.append(([place[row] for row in rest], result))
    return merge_results(len(rows), parts)


def _logged(known: list[tuple[list[int], Kept]], rows: int) -> dict[str, list[Any]]:
    """What was logged of kept rows, as columns; None where a row has nothing in one."""
    columns: dict[str, list[Any]] = {}
    at = 0
    for unit, each in known:
        for name, values in (json.loads(each.extra) if each.extra else {}).items():
            columns.setdefault(name, [None] * rows)[at : at + len(unit)] = values
        at += len(unit)
    return columns


# --------------------------------------------------------------------------------------------- naming rows


def _columns(reward: RewardDescription, batch: Batch) -> tuple[str, ...]:
    """The columns that can bear on the score."""
    there = [name for name in batch.columns if name not in DROPPED_COLUMNS]
    if reward.signature.keywords:
        return tuple(sorted(there))
    wanted = {*reward.signature.names, *reward.entry.when}
    return tuple(sorted(name for name in there if name in wanted))


_HASHED: dict[int, tuple[weakref.ref[Batch], _RowHashes]] = {}
"""The row hashes of batches that live, by `id`: who scores the same rows again does not name them again."""


def _row_hashes(batch: Batch) -> _RowHashes:
    reference, hashes = _HASHED.get(id(batch), (None, None))
    if hashes is None or reference is None or reference() is not batch:
        number = id(batch)
        hashes = _RowHashes(batch)
        _HASHED[number] = (weakref.ref(batch, lambda _: _HASHED.pop(number, None)), hashes)
    return hashes


class _RowHashes:
    """A name for each row by its content, made once for each choice of columns."""

    def __init__(self, batch: Batch) -> None:
        self._batch = weakref.ref(batch)
        self._made: dict[tuple[str, ...], list[bytes] | None] = {}

    def of(self, columns: tuple[str, ...]) -> list[bytes] | None:
        """The names under these columns; None where a value has no written form that is the same every time."""
        if columns not in self._made:
            try:
                self._made[columns] = self._hash(columns)
            except ValueError:
                self._made[columns] = None
        return self._made[columns]

    def _hash(self, columns: tuple[str, ...]) -> list[bytes]:
        batch = self._batch()
        assert batch is not None  # who asks holds it
        ids: list[list[int]] | list[None] = batch.completion_ids or [None] * len(batch)
        values = [batch.columns[name] for name in columns]
        # version 0 has neither references nor interned strings: equal values give equal bytes
        head = marshal.dumps(columns, 0)
        hashes = []
        for row in zip(batch.prompts, batch.completions, ids, *values, strict=True):
            text = marshal.dumps(row, 0)
            if marshal.loads(text) != row:  # what is no value of Python's own comes back as another
                raise ValueError
            hashes.append(hashlib.blake2b(head + text, digest_size=16).digest())
        return hashes
