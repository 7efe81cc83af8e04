"""Watching one call of a reward from inside the worker: everything TRL would not notice.

`observe` makes the trainer's call and records what else happened: which types came back, whether the lists
handed over were changed, what was printed, whether global state moved (seeds, locale, folder, environment,
warning filters, signal handlers) and whether threads or processes stayed behind. These functions run in a
worker process, with the user's code; the checks read the plain values they return.

Not covered: what an extension module keeps to itself, and files written.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import datetime
import decimal
import functools
import locale
import os
import pickle
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rewards.contract import Batch, CallResult, call, is_async, unwrap

PRINTED_LIMIT = 4000
SEED = 908_234_761
"""Global generators start from here; a seed that no reward sets by chance."""


def reward_named(context: Any, name: str) -> tuple[Callable[..., Any], Any]:
    """The function and the entry of the reward called `name` in the worker's set."""
    return context.rewardset.function(name), context.rewardset.entry(name)


def batch_of(context: Any, rows: Sequence[int] | None, completions: list[Any] | None = None) -> Batch:
    """The worker's rows (`rows` may repeat), with completions replaced where they are given; a deep copy."""
    batch: Batch = context.rows(None if rows is None else list(rows))
    if completions is not None:
        batch = Batch(batch.prompts, completions, batch.completion_ids, batch.columns, batch.groups)
    return copy.deepcopy(batch)


def unpicklable(context: Any, *, reward: str) -> str | None:
    """Why a reward's function cannot be sent to another process; None where it can."""
    function, _ = reward_named(context, reward)
    try:
        copied = pickle.loads(pickle.dumps(function))  # noqa: S301 - the user's own object, in the user's process
    except Exception as error:  # noqa: BLE001 - pickling runs the user's __reduce__ and __getstate__
        return f"{type(error).__name__}: {error}"
    return None if callable(copied) else "what comes back from pickle cannot be called"


def observe(
    context: Any,
    *,
    reward: str,
    rows: list[int] | None = None,
    completions: list[Any] | None = None,
    in_thread: bool = False,
) -> dict[str, Any]:
    """Call a reward once as TRL does and tell everything that happened; see the module docstring.

    Args:
        context: the worker's set and rows.
        reward: its name in the set.
        rows: which rows of the samples; all by default.
        completions: replace the completions of these rows.
        in_thread: make the call in a worker thread instead of the main one.
    """
    function, entry = reward_named(context, reward)
    batch = batch_of(context, rows, completions)
    before = copy.deepcopy(batch)
    returned: list[Any] = []
    watched = _remember(function, returned)
    _settle_random(SEED)
    state = global_state()
    threads, children, files = set(threading.enumerate()), _children(), _open_files()
    cpu = time.process_time()
    result = (
        _in_thread(watched, batch, entry.params) if in_thread else call(watched, batch, params=entry.params)
    )
    cpu = time.process_time() - cpu
    changed = state_changes(state, global_state())
    left = [t for t in threading.enumerate() if t not in threads and t.is_alive()]
    return {
        "scores": result.scores,
        "status": result.status,
        "errors": {str(row): text for row, text in result.errors.items()},
        "seconds": result.seconds,
        "cpu": cpu,
        "returned": _describe(returned[0]) if returned else None,
        "printed": result.printed[:PRINTED_LIMIT],
        "printed_lines": len(result.printed.splitlines()),
        "environment_shown": _environment_shown(result.printed),
        "mutated": _differences(before, batch),
        "changed": changed,
        "threads": [thread.name for thread in left],
        "children": len(_children() - children),
        "open_files": _open_files() - files,
    }


def _remember(function: Callable[..., Any], returned: list[Any]) -> Callable[..., Any]:
    if is_async(function):

        @functools.wraps(unwrap(function), updated=())
        async def watched_async(**keywords: Any) -> Any:
            value = await function(**keywords)
            returned.append(value)
            return value

        return watched_async

    @functools.wraps(unwrap(function), updated=())
    def watched(**keywords: Any) -> Any:
        value = function(**keywords)
        returned.append(value)
        return value

    return watched


def _environment_shown(printed: str) -> list[str]:
    """Names of environment variables whose values (eight characters or more, no paths) or whose listing was printed."""
    values = [
        name
        for name, value in os.environ.items()
        if len(value) >= 8 and not value.startswith("/") and value in printed
    ]
    names = [name for name in os.environ if len(name) >= 4 and "_" in name and name in printed]
    return sorted({*values, *names}) if values or len(names) >= 2 else []


def _in_thread(function: Callable[..., Any], batch: Batch, params: Mapping[str, Any] | None) -> CallResult:
    box: list[CallResult] = []
    worker = threading.Thread(target=lambda: box.append(call(function, batch, params=params)), daemon=True)
    worker.start()
    worker.join()
    return box[0]


def _describe(value: Any) -> dict[str, Any]:
    kind = type(value).__name__
    items: list[str] = []
    if isinstance(value, (list, tuple)):
        items = sorted({type(item).__name__ for item in value})
    return {"type": kind, "items": items, "repr": repr(value)[:200]}


def _settle_random(seed: int) -> None:
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def global_state() -> dict[str, Any]:
    """What a reward has no business changing, by the name a user would say."""
    state: dict[str, Any] = {
        "the state of random": hash(random.getstate()),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the current folder": os.getcwd(),
        "the environment": dict(os.environ),
        "the warning filters": [str(item) for item in warnings.filters],
        "sys.path": list(sys.path),
        "sys.argv": list(sys.argv),
        "the recursion limit": sys.getrecursionlimit(),
        "the decimal context": _decimal_context(),
        "the time zone": time.tzname,
        "sys.stdin": id(sys.stdin),
        "the trace function": repr(sys.gettrace()),
    }
    for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        state[f"the handler of {signal.Signals(number).name}"] = repr(signal.getsignal(number))
    state["a running alarm"] = signal.getitimer(signal.ITIMER_REAL)[0] > 0
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        state["the state of numpy.random"] = hash(numpy.random.get_state()[1].tobytes())
        state["NumPy's error settings"] = repr(numpy.geterr())
    if "torch" in sys.modules:
        state["the state of torch's generator"] = hash(sys.modules["torch"].get_rng_state().numpy().tobytes())
    return state


def _decimal_context() -> str:
    """Precision, rounding, limits and traps; not the flags, which any calculation raises."""
    context = decimal.getcontext().copy()
    context.clear_flags()
    return repr(context)


def state_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[str]]:
    """[what, how] for each thing that is not as it was; what only appeared in between does not count."""
    changed = []
    for what, old in before.items():
        new = after.get(what, old)
        if new == old:
            continue
        if what == "the environment":
            names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
            changed.append([what, ", ".join(names)])  # names only: values may be secrets
        elif "state of" in what:
            changed.append([what, ""])
        else:
            changed.append([what, f"{str(old)[:80]} -> {str(new)[:80]}"])
    return changed


def reseeds(context: Any, *, reward: str, rows: list[int] | None = None) -> list[str]:
    """Generators that are in the same state after a call whatever state they were in before it."""
    function, entry = reward_named(context, reward)
    after: list[dict[str, Any]] = []
    for seed in (1, 2):
        _settle_random(seed)
        call(function, batch_of(context, rows), params=entry.params)
        after.append({what: value for what, value in global_state().items() if "state of" in what})
    return [what for what, value in after[0].items() if after[1].get(what) == value]


def _differences(before: Batch, after: Batch) -> list[dict[str, Any]]:
    """The first row changed in each list handed over, with its value before and after."""
    lists = [
        ("prompts", before.prompts, after.prompts),
        ("completions", before.completions, after.completions),
        ("completion_ids", before.completion_ids, after.completion_ids),
    ]
    lists += [(name, values, after.columns.get(name, [])) for name, values in before.columns.items()]
    found: list[dict[str, Any]] = []
    for name, old, new in lists:
        rows = [row for row, (a, b) in enumerate(zip(old, new, strict=False)) if not _same(a, b)]
        if len(old) != len(new) or rows:
            row = rows[0] if rows else None
            found.append(
                {
                    "what": name,
                    "row": row,
                    "rows": len(rows),
                    "before": old[row] if row is not None else f"{len(old)} entries",
                    "after": new[row] if row is not None else f"{len(new)} entries",
                }
            )
    return found


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or repr(a) == repr(b)


def _children() -> set[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return {int(part) for part in file.read().split()}
    except OSError:  # no /proc: macOS
        return set()


def _open_files() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0


def at_other_times(
    context: Any, *, reward: str, rows: list[int] | None = None, seconds: Sequence[float] = ()
) -> list[list[Any]]:
    """[scores, status] of the same call with the clock set forward by each of `seconds`; nothing else is changed."""
    function, entry = reward_named(context, reward)
    results = []
    for forward in seconds:
        with _clock_forward(function, forward):
            result = call(function, batch_of(context, rows), params=entry.params)
        results.append([result.scores, result.status])
    return results


def with_seed(
    context: Any, *, reward: str, rows: list[int] | None = None, seed: int = 0
) -> tuple[list[Any], list[Any]]:
    """(scores, status) of a call after the global random generators were seeded."""
    function, entry = reward_named(context, reward)
    _settle_random(seed)
    result = call(function, batch_of(context, rows), params=entry.params)
    return result.scores.tolist(), result.status.tolist()


@contextlib.contextmanager
def _clock_forward(function: Callable[..., Any], seconds: float) -> Iterator[None]:
    """`time.time` and `datetime` of the reward's own module tell a later time; clocks that measure spans do not."""
    real_time, real_ns = time.time, time.time_ns
    real_datetime, real_date = datetime.datetime, datetime.date

    class Later(real_datetime):  # type: ignore[valid-type, misc]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real_datetime.now(tz) + datetime.timedelta(seconds=seconds)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    class LaterDate(real_date):  # type: ignore[valid-type, misc]
        @classmethod
        def today(cls) -> Any:
            return Later.now().date()

    swaps: dict[int, Any] = {
        id(real_time): lambda: real_time() + seconds,
        id(real_ns): lambda: real_ns() + int(seconds * 1e9),
        id(real_datetime): Later,
        id(real_date): LaterDate,
    }
    inner = unwrap(function)
    names = getattr(inner, "__globals__", None) or getattr(type(inner).__call__, "__globals__", {})
    old = {name: value for name, value in names.items() if id(value) in swaps}
    names.update({name: swaps[id(value)] for name, value in old.items()})
    time.time, time.time_ns = swaps[id(real_time)], swaps[id(real_ns)]
    datetime.datetime, datetime.date = Later, LaterDate  # type: ignore[misc]
    try:
        yield
    finally:
        time.time, time.time_ns = real_time, real_ns
        datetime.datetime, datetime.date = real_datetime, real_date  # type: ignore[misc]
        names.update(old)


def loop_gaps(context: Any, *, reward: str, rows: list[int] | None = None) -> dict[str, float]:
    """How long an async reward kept its event loop from turning: the longest gap and the whole call, in seconds."""
    function, entry = reward_named(context, reward)
    batch = batch_of(context, rows)
    return asyncio.run(_watch_loop(function, batch, entry.params))


async def _watch_loop(
    function: Callable[..., Any], batch: Batch, params: Mapping[str, Any]
) -> dict[str, float]:
    from rewards.contract import keywords_for

    gap, last, done = 0.0, time.perf_counter(), False

    async def tick() -> None:
        nonlocal gap, last
        while not done:
            await asyncio.sleep(0.005)
            now = time.perf_counter()
            gap, last = max(gap, now - last), now

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(0.02)
    gap, last = 0.0, time.perf_counter()
    started, cpu = time.perf_counter(), time.thread_time()
    await function(**keywords_for(function, batch, params, _Silent(), None))
    seconds, cpu = time.perf_counter() - started, time.thread_time() - cpu
    await asyncio.sleep(0.01)
    done = True
    await ticker
    return {"gap": gap, "seconds": seconds, "cpu": cpu}


class _Silent:
    """Stands in for TRL's log callbacks."""

    def log_extra(self, column: str, values: Any) -> None:
        """Take and drop."""

    def log_metric(self, name: str, value: float) -> None:
        """Take and drop."""


__all__ = [
    "at_other_times",
    "batch_of",
    "global_state",
    "loop_gaps",
    "observe",
    "reseeds",
    "reward_named",
    "state_changes",
    "unpicklable",
]
