"""One call to a reward, exactly as TRL makes it, and what a legal result is.

TRL passes everything by keyword: `prompts`, `completions`, `completion_ids`, every other column of the data
set, the live `trainer_state`, and the two callbacks `log_extra` and `log_metric`. It accepts a list with one
number (or None) for each completion. `call` makes that call and tells the possible results apart; whatever
the user's code does, it comes back as a status of the rows concerned, never as an exception.

Not covered here: deadlines and crashes of the interpreter (`rewards.running` puts a process around this).
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from rewards.printing import Printed
from rewards.writable import writable, writable_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reward = Callable[..., Any]

SUPPLIED = ("prompts", "completions", "completion_ids", "trainer_state", "log_extra", "log_metric")
"""Keywords TRL supplies itself; a data column of such a name never reaches a reward."""

DROPPED_COLUMNS = ("prompt", "completion", "completion_ids", "prompts", "completions")


class Status(IntEnum):
    """What a reward returned for one row."""

    NUMBER = 0
    ABSTAINED = 1  # None: "not applicable"
    NAN = 2  # a NaN that was computed, which TRL reads as None
    INFINITE = 3
    WRONG_TYPE = 4
    WRONG_COUNT = 5  # the whole call returned another number of scores
    RAISED = 6
    TIMEOUT = 7
    DIED = 8  # the process ended: exit, signal, out of memory

    @property
    def failed(self) -> bool:
        """True where the reward gave no opinion because something went wrong."""
        return self >= Status.WRONG_TYPE


@dataclass(frozen=True)
class Batch:
    """Rows as one call sees them; every list has one entry a row.

    `prompts` and `completions` are texts or chat message lists; `completion_ids` are token ids, EOS
    included when the completion ended (empty: no tokenizer is known, and the UTF-8 bytes of the text stand
    in); `columns` are the data set's other columns; `groups` names the prompt group a row belongs to and is
    not passed to rewards.
    """

    prompts: list[Any]
    completions: list[Any]
    completion_ids: list[list[int]] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.completions)

    @functools.cached_property
    def texts(self) -> list[bytes]:
        """The text of each completion as UTF-8."""
        return [
            (one if isinstance(one, str) else completion_text(one)).encode("utf-8", "surrogatepass")
            for one in self.completions
        ]

    def rows(self, indices: Sequence[int]) -> Batch:
        """The same batch with only the rows of `indices`, in that order."""

        def take(values: list[Any]) -> list[Any]:
            return [values[index] for index in indices] if values else []

        return Batch(
            prompts=take(self.prompts),
            completions=take(self.completions),
            completion_ids=take(self.completion_ids),
            columns={name: take(values) for name, values in self.columns.items()},
            groups=take(self.groups),
        )


@dataclass(frozen=True)
class CallResult:
    """What one call gave, row by row.

    `scores` is (n,) float64, NaN where there is no number (an infinity is kept); `status` is (n,) uint8 of
    `Status`; `errors` maps a row to its sentence; `extra` and `metrics` hold what went to `log_extra` and
    `log_metric`; `printed` is what the call wrote to standard output and error; `credits` has the named
    credits of each row where they were recorded; `notes` are sentences that a reader of the scores has to know;
    `printed_rows` has what was printed for a row, where that can be told; `reads` what the call was seen to use besides
    its rows (`rewards.outside`), as pairs of a file of the user's and what it used.
    """

    scores: NDArray[np.float64]
    status: NDArray[np.uint8]
    errors: dict[int, str] = field(default_factory=dict)
    extra: dict[str, list[Any]] = field(default_factory=dict)
    metrics: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    printed: str = ""
    credits: list[list[dict[str, Any]]] | None = None
    notes: tuple[str, ...] = ()
    printed_rows: dict[int, str] = field(default_factory=dict)
    reads: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Signature:
    """How a reward can be called.

    `names`: all named parameters; `required`: those without default that TRL does not supply, so that data
    columns must fill them; `optional`: those with a default; `keywords`: it takes any further column;
    `problem`: why the trainer's keyword call cannot work, None if it can; `text`: the signature as written.
    """

    text: str
    names: tuple[str, ...]
    required: tuple[str, ...]
    optional: tuple[str, ...]
    keywords: bool
    is_async: bool
    problem: str | None


def unwrap(function: Reward) -> Any:
    """The callable under any number of `functools.partial`."""
    while hasattr(function, "func") and hasattr(function, "keywords"):
        function = function.func
    return function


def trl_name(function: Reward) -> str:
    """The name TRL logs a reward under: `__name__` below partials, else the class name."""
    inner = unwrap(function)
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def class_call(inner: object) -> Any:
    """The `__call__` of an object's class, None where it has none."""
    return getattr(type(inner), "__call__", None)  # noqa: B004  # the function is wanted, not whether there is one


def is_async(function: Reward) -> bool:
    """True where TRL would await the call: a coroutine function, or an object whose `__call__` is one."""
    inner = unwrap(function)
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(class_call(inner))


def signature(function: Reward, params: Mapping[str, Any] | None = None) -> Signature:
    """Read how `function` can be called; `params` are keywords bound by the reward set.

    Never raises: a callable whose signature Python cannot tell is taken to accept everything.
    """
    bound = set(params or ())
    try:
        parsed = inspect.signature(function)
    except (TypeError, ValueError):
        return Signature("(...)", (), (), (), True, is_async(function), None)
    required: list[str] = []
    optional: list[str] = []
    positional_only: list[str] = []
    keywords = False
    for name, parameter in parsed.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            keywords = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            if parameter.default is parameter.empty:
                positional_only.append(name)
        elif name not in SUPPLIED and name not in bound:
            (required if parameter.default is parameter.empty else optional).append(name)
    problem = _signature_problem(parsed, positional_only, keywords)
    names = tuple(
        name
        for name, item in parsed.parameters.items()
        if item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)
    )
    return Signature(
        str(parsed), names, tuple(required), tuple(optional), keywords, is_async(function), problem
    )


def _signature_problem(parsed: inspect.Signature, positional_only: list[str], keywords: bool) -> str | None:
    if positional_only:
        return f"parameter '{positional_only[0]}' is positional-only, but the trainer passes keywords"
    if not keywords:
        lacking = [name for name in SUPPLIED if name not in parsed.parameters]
        if lacking:
            return (
                f"it takes no '{lacking[0]}' and has no **kwargs, but the trainer passes {', '.join(SUPPLIED)} "
                "and every data column by keyword"
            )
    return None


def required_columns(function: Reward, params: Mapping[str, Any] | None = None) -> list[str]:
    """Names of the data columns a reward cannot be called without."""
    return list(signature(function, params).required)


def completion_text(completion: Any) -> str:
    """The text a completion is judged by: the last assistant message's content, or the text itself.

    Content given as parts (`[{"type": "text", "text": ...}]`) is joined; a completion without an assistant
    message, or with content None, gives "".
    """
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, (list, tuple)):
        return "" if completion is None else str(completion)
    for message in reversed(completion):
        if isinstance(message, (dict, Mapping)) and message.get("role", "assistant") == "assistant":
            content = message.get("content")
            if isinstance(content, (list, tuple)):
                return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
            return content if isinstance(content, str) else ""
    return ""


class TrainerState:
    """Stand-in for TRL's live `TrainerState` outside training: before the first step, nothing logged."""

    def __init__(self, global_step: int = 0, max_steps: int = 0) -> None:
        self.global_step = global_step
        self.max_steps = max_steps
        self.epoch = 0.0
        self.log_history: list[dict[str, float]] = []


class _Log:
    """The two callbacks of one call, with TRL's rules."""

    def __init__(self) -> None:
        self.extra: dict[str, list[Any]] = {}
        self.metrics: dict[str, list[float]] = {}

    def log_extra(self, column: str, values: Iterable[Any]) -> None:
        self.extra[writable(str(column))] = [writable_parts(value) for value in values]

    def log_metric(self, name: str, value: float) -> None:
        self.metrics.setdefault(writable(str(name)), []).append(float(value))


def reads_completion_ids(function: Reward) -> bool:
    """True where the function's own code names `completion_ids`, as a parameter or as a key."""
    inner = inspect.unwrap(unwrap(function))
    code = getattr(inner, "__code__", None) or getattr(class_call(inner), "__code__", None)
    pending = [code] if code is not None else []
    while pending:
        current = pending.pop()
        if "completion_ids" in (*current.co_varnames, *current.co_names, *current.co_consts):
            return True
        pending += [constant for constant in current.co_consts if inspect.iscode(constant)]
    return code is None


def token_ids(batch: Batch, function: Reward) -> list[Any]:
    """The `completion_ids` of a call: the tokenizer's, else the UTF-8 bytes of each text.

    The bytes come as lists of int where the reward reads them and as `bytes` where it does not name them:
    lists of a hundred thousand texts would take gigabytes for nothing.
    """
    if batch.completion_ids:
        return batch.completion_ids
    return [list(text) for text in batch.texts] if reads_completion_ids(function) else list(batch.texts)


def keywords_for(
    function: Reward, batch: Batch, params: Mapping[str, Any] | None, log: Any, trainer_state: Any
) -> dict[str, Any]:
    """The keywords of TRL's call to `function`; `params` win over a column of the same name."""
    keywords: dict[str, Any] = {
        name: values for name, values in batch.columns.items() if name not in DROPPED_COLUMNS
    }
    keywords.update(params or {})
    keywords["prompts"] = batch.prompts
    keywords["completions"] = batch.completions
    keywords["completion_ids"] = token_ids(batch, function)
    keywords["trainer_state"] = trainer_state if trainer_state is not None else TrainerState()
    keywords["log_extra"] = log.log_extra
    keywords["log_metric"] = log.log_metric
    return keywords


def call(
    function: Reward,
    batch: Batch,
    *,
    params: Mapping[str, Any] | None = None,
    trainer_state: Any = None,
    record_credits: bool = False,
) -> CallResult:
    """Call `function` once with all rows of `batch`, as TRL would, and read the result.

    Sync and async functions, callable objects and partials. Whatever the function does short of ending the
    process comes back as a status: an exception (also `SystemExit`) marks every row RAISED, a wrong number
    of scores marks every row WRONG_COUNT. What it prints is captured.

    Raises:
        KeyboardInterrupt: when the user stops the program.
    """
    log = _Log()
    keywords = keywords_for(function, batch, params, log, trainer_state)
    printed = Printed(batch.completions)
    record: Any = None
    started = time.perf_counter()
    failure: str | None = None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            if record_credits:
                from rewards.credits import recording

                with recording(len(batch), keywords["completions"]) as record:
                    returned = _materialise(_invoke(function, keywords))
            else:
                returned = _materialise(_invoke(function, keywords))
            seconds = time.perf_counter() - started
            scores, status, errors = read_scores(returned, len(batch))  # in here: it may run the user's code
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # the boundary around user code: all becomes a status
            failure = describe_exception(error)
    if failure is not None:
        seconds = time.perf_counter() - started
        failed = failed_result(
            len(batch), Status.RAISED, failure, seconds=seconds, printed=printed.getvalue()
        )
        return replace(failed, printed_rows=printed.rows)
    named = record.by_row(scores.tolist()) if record is not None else None
    said = printed.getvalue()
    return CallResult(
        scores, status, errors, log.extra, log.metrics, seconds, said, named, printed_rows=printed.rows
    )


def _invoke(function: Reward, keywords: dict[str, Any]) -> Any:
    if not is_async(function):
        return function(**keywords)
    import asyncio  # late: most rewards are not async, and it takes its time

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(function(**keywords))
    # a notebook's own loop runs in this thread; a second one needs a thread of its own
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, lambda: asyncio.run(function(**keywords))).result()


def _materialise(returned: Any) -> Any:
    """Run a generator to its end inside the boundary; leave everything else as it is."""
    return (
        list(returned)
        if inspect.isgenerator(returned) or isinstance(returned, (map, filter, zip))
        else returned
    )


def failed_result(
    rows: int, status: Status, why: str, *, seconds: float = 0.0, printed: str = ""
) -> CallResult:
    """A result in which every row has the same failure."""
    import numpy as np

    return CallResult(
        np.full(rows, np.nan),
        np.full(rows, int(status), dtype=np.uint8),
        dict.fromkeys(range(rows), why),
        seconds=seconds,
        printed=printed,
    )


def describe_exception(error: BaseException) -> str:
    """`Type: message (file.py:12)`, the line being the innermost one in the user's own code."""
    name = type(error).__name__
    try:
        message = str(error).strip().split("\n")[0]
    except Exception:  # noqa: BLE001  # the user's own text of the user's own error
        message = ""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_user_file(frame.filename)]
    place = own[-1] if own else (frames[-1] if frames else None)
    where = f" ({os.path.basename(place.filename)}:{place.lineno})" if place is not None else ""
    return writable(f"{name}: {message}{where}" if message else f"{name}{where}")


_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LIBRARY_FOLDER = os.path.join(_OWN_FOLDER, "library") + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def _is_user_file(filename: str) -> bool:
    if filename.startswith("<") or filename.startswith(_STANDARD_LIBRARY):
        return False
    return not filename.startswith(_OWN_FOLDER) or filename.startswith(_LIBRARY_FOLDER)


def read_scores(returned: Any, rows: int) -> tuple[NDArray[np.float64], NDArray[np.uint8], dict[int, str]]:
    """Read what a reward returned for `rows` rows the way TRL does, but telling every case apart.

    Returns scores (rows,) float64, status (rows,) uint8 and a sentence for every row that failed. A list,
    tuple, NumPy array or tensor of numbers is legal, an (n, 1) array too; text, nested lists and complex
    numbers are WRONG_TYPE; a dict (whose keys TRL would read as scores) and a single number are WRONG_TYPE
    on every row. What the object itself raises while its items are taken is not caught.
    """
    import numpy as np

    values, whole = _as_list(returned)
    if whole is not None:
        result = failed_result(rows, Status.WRONG_TYPE, whole)
        return result.scores, result.status, result.errors
    if len(values) != rows:
        why = f"returned {len(values)} scores for {rows} completions"
        result = failed_result(rows, Status.WRONG_COUNT, why)
        return result.scores, result.status, result.errors
    plain = _plain_numbers(values)
    if plain is not None:
        status = np.where(np.isnan(plain), int(Status.NAN), int(Status.NUMBER)).astype(np.uint8)
        status[np.isinf(plain)] = Status.INFINITE
        return plain, status, {}
    scores = np.full(rows, np.nan)
    status = np.zeros(rows, dtype=np.uint8)
    errors: dict[int, str] = {}
    for row, value in enumerate(values):
        if value is None:
            status[row] = Status.ABSTAINED
            continue
        number, why_not = _as_number(value)
        if number is None:
            status[row] = Status.WRONG_TYPE
            errors[row] = why_not
        elif number != number:
            status[row] = Status.NAN
        else:
            scores[row] = number
            if number in (float("inf"), float("-inf")):
                status[row] = Status.INFINITE
    return scores, status, errors


def _plain_numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """The values as an array where every one is a plain Python number, which nearly all rewards return."""
    import numpy as np

    if not set(map(type, values)) <= {float, int, bool}:
        return None
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return None


def _as_list(returned: Any) -> tuple[list[Any], str | None]:
    if isinstance(returned, Mapping):
        return [], "returned a dict: TRL would take its keys as the scores; return a list of numbers"
    if isinstance(returned, (str, bytes)):
        return [], f"returned {type(returned).__name__} instead of a list of numbers"
    if returned is None:
        return [], "returned None instead of a list of numbers (is a return statement missing?)"
    if inspect.iscoroutine(returned):
        returned.close()
        return [], "returned a coroutine that is never awaited: make the function itself async"
    shape = getattr(returned, "shape", None)
    if shape is not None and hasattr(returned, "tolist"):
        if len(shape) == 2 and shape[1] == 1:
            returned = returned.reshape(-1)
        elif len(shape) != 1:
            return [], f"returned an array of shape {tuple(shape)} instead of one score a completion"
        return list(returned.tolist()), None
    try:
        each = iter(returned)
    except TypeError:
        return [], f"returned a single {type(returned).__name__} instead of a list of numbers"
    return list(each), None


_NO_NUMBERS = (str, bytes, complex, list, tuple, dict, set)


def _as_number(value: Any) -> tuple[float | None, str]:
    kind = type(value).__name__
    try:  # NumPy scalars, Fraction, Decimal, tensors of one element; whose methods may do anything
        if isinstance(value, _NO_NUMBERS) or not hasattr(value, "__float__"):
            shown = writable(repr(value))
            return None, f"score is {kind} {shown if len(shown) <= 60 else shown[:57] + '...'}, not a number"
        return float(value), ""
    except Exception as error:  # noqa: BLE001  # the user's object
        return None, f"score of type {kind} is not a number: {describe_exception(error)}"


def merge_results(
    rows: int, parts: Iterable[tuple[list[int], CallResult]], *, printed: str = "", seconds: float = 0.0
) -> CallResult:
    """One result for `rows` rows out of results for parts of them (each with its row numbers)."""
    import numpy as np

    scores = np.full(rows, np.nan)
    status = np.full(rows, int(Status.DIED), dtype=np.uint8)
    errors: dict[int, str] = {}
    extra: dict[str, list[Any]] = {}
    metrics: dict[str, list[float]] = {}
    named: list[list[dict[str, Any]]] = [[] for _ in range(rows)]
    notes: dict[str, None] = {}
    printed_rows: dict[int, str] = {}
    reads: dict[tuple[str, str], None] = {}
    recorded = False
    for indices, part in parts:
        scores[indices] = part.scores
        status[indices] = part.status
        errors.update({indices[row]: why for row, why in part.errors.items()})
        for column, values in part.extra.items():
            if len(values) == len(indices):
                target = extra.setdefault(column, [None] * rows)
                for row, value in zip(indices, values, strict=True):
                    target[row] = value
        for name, numbers in part.metrics.items():
            metrics.setdefault(name, []).extend(numbers)
        for row, credits in zip(indices, part.credits or [], strict=False):
            named[row] = credits
            recorded = True
        printed += part.printed
        seconds += part.seconds
        notes.update(dict.fromkeys(part.notes))
        reads.update(dict.fromkeys(part.reads))
        printed_rows.update({indices[row]: text for row, text in part.printed_rows.items()})
    return CallResult(
        scores,
        status,
        dict(sorted(errors.items())),
        extra,
        metrics,
        seconds,
        printed,
        named if recorded else None,
        tuple(notes),
        printed_rows,
        tuple(reads),
    )
