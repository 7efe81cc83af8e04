"""The training prompts: read, mapped, made into chat, split from the held-out ones, and put in order.

A row is a prompt and the columns its rewards read. Held-out rows are split off by *prompt*: all rows of one
prompt are on one side, so no held-out prompt is ever trained on. The order is made here and not by TRL, as
one single pass that holds the whole run (repeated where the data is too short), because TRL resumes exactly
only within the first epoch.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewards.errors import MissingExtraError, UsageError
from rewards.manifest import DataSettings
from rewards.targets import did_you_mean

Row = dict[str, Any]

FORMATS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
CLASHES = ("prompts", "completions", "trainer_state", "log_extra", "log_metric", "environments")
IMAGES = ("image", "images")
PROMPT_NAMES = ("question", "prompt", "query", "instruction", "problem", "input", "text", "messages")


@dataclass(frozen=True)
class TrainingData:
    """What a run trains on and what it keeps apart.

    `train` and `holdout` are rows with `prompt` first; `source` says where they came from; `skipped` has a
    sentence for every row left out; `conversational` is True where prompts are chat messages.
    """

    train: list[Row]
    holdout: list[Row]
    source: str
    skipped: tuple[str, ...] = ()
    conversational: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns besides the prompt."""
        names = dict.fromkeys(name for row in self.train for name in row)
        return [name for name in names if name != "prompt"]

    @property
    def fingerprint(self) -> str:
        """32 hex digits over all rows and the split; a resumed run must find the same."""
        content = json.dumps([self.train, self.holdout], sort_keys=True, default=str, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def load_data(settings: DataSettings, root: Path, *, seed: int) -> TrainingData:
    """Read `[data]`: rows mapped to `prompt` and their columns, made into chat, held-out prompts split off.

    Args:
        settings: the manifest's `[data]`.
        root: folder that relative paths belong to.
        seed: decides which prompts are held out.

    Raises:
        UsageError: nothing to train on, an unknown format, a column that cannot be passed to rewards.
    """
    if not settings.train:
        raise UsageError('there is no training data: give [data] train = "FILE.jsonl" in rewardset.toml')
    rows, skipped = read_rows(settings.train, root)
    require_columns(rows, settings.columns, settings.train)
    mapped = [rename(row, settings.columns) for row in rows]
    prompted, without = _with_prompts(mapped, settings.train)
    skipped += without
    if not prompted:
        why = f": {skipped[0]}" if skipped else ""
        raise UsageError(f"{settings.train} has no row to train on{why}")
    _check_columns(prompted, settings.train)
    chat = bool(settings.system_prompt) or any(not isinstance(row["prompt"], str) for row in prompted)
    if chat:
        prompted = [{**row, "prompt": as_chat(row["prompt"], settings.system_prompt)} for row in prompted]
    train, holdout = split_holdout(prompted, settings.holdout, seed)
    return TrainingData(train, holdout, settings.train, tuple(skipped), chat)


def read_rows(source: str, root: Path) -> tuple[list[Row], list[str]]:
    """The rows of a CSV, TSV, JSONL, JSON or Parquet file, or of a data set on the hub, and why others were
    skipped.

    Raises:
        UsageError: there is no such file or data set, or it cannot be read at all.
    """
    path = (root / Path(source).expanduser()).resolve()
    if not path.exists():
        if Path(source).suffix.lower() in FORMATS or source.startswith((".", "/", "~")):
            near = [file.name for file in path.parent.glob("*")] if path.parent.is_dir() else []
            raise UsageError(f"there is no training data {path}{did_you_mean(path.name, near)}")
        return _from_hub(source), []
    if path.is_dir():
        raise UsageError(f"the training data {path} is a folder; name a file in it")
    try:
        return _read_file(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the training data {path} cannot be read: {error}") from error


def _read_file(path: Path) -> tuple[list[Row], list[str]]:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        return _read_csv(path, "\t" if suffix == ".tsv" else None)
    if suffix == ".parquet":
        return _read_parquet(path), []
    if suffix == ".json":
        return _read_json(path)
    if suffix == ".jsonl":
        return _read_jsonl(path)
    raise UsageError(f"the training data {path} has no known format; it may be {', '.join(FORMATS)}")


def _read_jsonl(path: Path) -> tuple[list[Row], list[str]]:
    rows, skipped = [], []
    for number, line in enumerate(path.read_bytes().decode("utf-8-sig", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = _decode(line.strip())
        except ValueError as error:
            skipped.append(f"{path.name}, line {number}: no JSON ({error})")
            continue
        if isinstance(value, dict):
            rows.append(value)
        else:
            skipped.append(f"{path.name}, line {number}: {type(value).__name__} instead of an object")
    return rows, skipped


def _constant(name: str) -> None:
    """JSON's stray constants as samples have them: NaN is no value, the others are not JSON."""
    if name != "NaN":
        raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_constant).decode


def _read_json(path: Path) -> tuple[list[Row], list[str]]:
    try:
        value = _decode(path.read_text(encoding="utf-8-sig").strip())
    except ValueError as error:
        raise UsageError(f"the training data {path} is no JSON: {error}") from error
    if not isinstance(value, list):
        raise UsageError(
            f"the training data {path} holds {type(value).__name__}; a list of objects is needed"
        )
    skipped = [
        f"{path.name}, item {i}: no object" for i, item in enumerate(value, 1) if not isinstance(item, dict)
    ]
    return [item for item in value if isinstance(item, dict)], skipped


def _read_csv(path: Path, delimiter: str | None) -> tuple[list[Row], list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        head = stream.readline()
        stream.seek(0)
        if delimiter is None:
            delimiter = max(",;\t", key=head.count)
        reader = csv.DictReader(stream, delimiter=delimiter)
        rows, skipped = [], []
        for row in reader:
            if None in row or None in row.values():
                skipped.append(
                    f"{path.name}, line {reader.line_num}: another number of fields than the head line"
                )
            else:
                rows.append({name: _cell(cell) for name, cell in row.items()})
    return rows, skipped


def _cell(cell: str) -> Any:
    """What a cell of a table holds, as samples have it: nothing, a chat, or text."""
    if cell.startswith("[{") and cell.endswith("}]"):
        with contextlib.suppress(ValueError, RecursionError):
            value = _decode(cell)
            if all(isinstance(item, dict) and "role" in item for item in value):
                return value
    return cell or None


def _read_parquet(path: Path) -> list[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        rows: list[Row] = parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise UsageError(f"the training data {path} is no Parquet file: {error}") from error
    return rows


def _from_hub(source: str) -> list[Row]:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError("datasets", "train", f"the data set '{source}'") from error
    name, _, config = source.partition(":")
    try:
        return list(datasets.load_dataset(name, config or None, split="train"))
    except (OSError, ValueError, RuntimeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(
            f"the training data '{source}' is no file here and cannot be had from the hub ({first}); "
            "give a file, or NAME:CONFIG of a data set"
        ) from error


def rename(row: Row, columns: Mapping[str, str]) -> Row:
    """`row` with source columns under their target names; one that the row lacks is None there."""
    taken = {*columns, *columns.values()}
    kept = {name: value for name, value in row.items() if name not in taken}
    return {**kept, **{new: row.get(old) for old, new in columns.items()}}


def require_columns(rows: Sequence[Row], columns: Mapping[str, str], source: str) -> None:
    """See that every mapped column is in the data.

    Raises:
        UsageError: no row has a source column.
    """
    there = list(dict.fromkeys(name for row in rows for name in row))
    for old in columns:
        if rows and old not in there:
            raise UsageError(
                f"{source} has no column '{old}', which [data] columns maps{did_you_mean(old, there)} "
                f"(columns: {', '.join(there)})"
            )


def _with_prompts(rows: list[Row], source: str) -> tuple[list[Row], list[str]]:
    """The rows with `prompt` first, and sentences about those that have none."""
    if rows and all("prompt" not in row for row in rows):
        columns = list(rows[0])
        likely = next((name for name in PROMPT_NAMES if name in columns), None)
        hint = f"; [data] columns = {{ {likely} = \"prompt\" }} takes '{likely}'" if likely else ""
        raise UsageError(f"{source} has no column 'prompt' (columns: {', '.join(columns)}){hint}")
    kept, skipped = [], []
    for number, row in enumerate(rows, 1):
        prompt = row.get("prompt")
        problem = _prompt_problem(prompt)
        if problem:
            skipped.append(f"{Path(source).name}, row {number}: {problem}")
        else:
            kept.append(
                {"prompt": prompt, **{name: value for name, value in row.items() if name != "prompt"}}
            )
    return kept, skipped


def _prompt_problem(prompt: Any) -> str | None:
    if isinstance(prompt, str):
        return None if prompt.strip() else "the prompt is empty"
    if isinstance(prompt, (list, tuple)) and prompt:
        good = all(isinstance(message, Mapping) and "role" in message for message in prompt)
        return None if good else "a chat prompt must be a list of messages with role and content"
    return "the prompt is empty" if not prompt else f"the prompt is {type(prompt).__name__}, not text or chat"


def _check_columns(rows: list[Row], source: str) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if name in CLASHES:
            raise UsageError(
                f"{source}: the column '{name}' clashes with what TRL passes to rewards; rename it"
            )
        if name in IMAGES:
            raise UsageError(f"{source}: the column '{name}' would switch TRL to images; rename or drop it")
        kinds = {kind_of(row.get(name)) for row in rows} - {"null"}
        if name != "prompt" and len(kinds) > 1:
            raise UsageError(
                f"{source}: the column '{name}' holds {' and '.join(sorted(kinds))}, but a column must be of one kind"
            )


def kind_of(value: Any) -> str:
    """What a value of a column is: "text", "numbers", "true/false", "lists", "objects", "other values" or "null"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, (int, float)):
        return "numbers"
    if isinstance(value, str):
        return "text"
    return (
        "lists"
        if isinstance(value, (list, tuple))
        else "objects"
        if isinstance(value, Mapping)
        else "other values"
    )


def as_chat(prompt: Any, system_prompt: str) -> list[dict[str, Any]]:
    """`prompt` as chat messages, the system prompt first unless the prompt brings one."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [dict(m) for m in prompt]
    if system_prompt and messages[0]["role"] != "system":
        return [{"role": "system", "content": system_prompt}, *messages]
    return messages


def split_holdout(rows: list[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Training and held-out rows; a `share` of the different prompts is held out, at least one if `share` >
    0.

    Which ones depends on the prompt's text and the seed alone, not on the order of the rows.
    """
    keys = [_key(row["prompt"]) for row in rows]
    distinct = sorted(set(keys), key=lambda key: hashlib.sha256(f"{seed}|{key}".encode()).digest())
    count = 0
    if share > 0 and len(distinct) > 1:
        count = min(max(1, round(share * len(distinct))), len(distinct) - 1)
    held = set(distinct[:count])
    train = [row for row, key in zip(rows, keys, strict=True) if key not in held]
    return train, [row for row, key in zip(rows, keys, strict=True) if key in held]


def _key(prompt: Any) -> str:
    return (
        prompt
        if isinstance(prompt, str)
        else json.dumps(prompt, sort_keys=True, ensure_ascii=False, default=str)
    )


def order(prompts: int, needed: int, *, seed: int, shuffle: bool) -> list[int]:
    """Row numbers for a whole run: passes over all prompts, each in an order of its own, cut at `needed`."""
    indices: list[int] = []
    rounds = 0
    while len(indices) < needed:
        once = list(range(prompts))
        if shuffle:
            random.Random(f"{seed}|{rounds}").shuffle(once)
        indices += once
        rounds += 1
    return indices[:needed]


def prompt_lengths(rows: Sequence[Row], tokenizer: Any) -> list[int]:
    """Tokens of each prompt as the model sees it, its chat template applied."""
    texts = [render(row["prompt"], tokenizer) for row in rows]
    if not texts:
        return []
    added = not any(not isinstance(row["prompt"], str) for row in rows)
    return [len(ids) for ids in tokenizer(texts, add_special_tokens=added)["input_ids"]]


def render(prompt: Any, tokenizer: Any) -> str:
    """The text of a prompt, the opening of the assistant's turn included."""
    if isinstance(prompt, str):
        return prompt
    keywords = getattr(tokenizer, "template_keywords", {})
    return str(tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True, **keywords))


def fit_to_model(data: TrainingData, tokenizer: Any, limit: int | None) -> TrainingData:
    """The data without prompts longer than `limit` tokens.

    Raises:
        UsageError: the prompts are chat and the tokenizer has no chat template, or no prompt is short enough.
    """
    if data.conversational and not getattr(tokenizer, "chat_template", None):
        raise UsageError(
            "the prompts are chat messages, but the model's tokenizer has no chat template; use an instruct model, or "
            "text prompts without [data] system_prompt"
        )
    if limit is None:
        return data
    lengths = prompt_lengths(data.train, tokenizer)
    train = [row for row, length in zip(data.train, lengths, strict=True) if length <= limit]
    held = [
        row
        for row, length in zip(data.holdout, prompt_lengths(data.holdout, tokenizer), strict=True)
        if length <= limit
    ]
    if not train:
        raise UsageError(
            f"all {len(lengths)} prompts are longer than max_prompt_length={limit} tokens; raise it"
        )
    dropped = len(data.train) - len(train) + len(data.holdout) - len(held)
    if not dropped:
        return data
    sentence = (
        f"{dropped} prompt{'s are' if dropped > 1 else ' is'} longer than max_prompt_length={limit} tokens"
    )
    return replace(data, train=train, holdout=held, skipped=(*data.skipped, sentence))


def to_dataset(rows: Sequence[Row], indices: Sequence[int] | None = None) -> Any:
    """A `datasets.Dataset` of `rows`, in the order of `indices` (which may name a row twice)."""
    import datasets

    names = list(dict.fromkeys(name for row in rows for name in row))
    whole = datasets.Dataset.from_dict({name: [row.get(name) for row in rows] for name in names})
    return whole if indices is None else whole.select(list(indices))


def iter_prompts(rows: Sequence[Row], count: int) -> Iterator[Row]:
    """The first `count` rows with different prompts."""
    seen: set[str] = set()
    for row in rows:
        key = _key(row["prompt"])
        if key not in seen and len(seen) < count:
            seen.add(key)
            yield row
