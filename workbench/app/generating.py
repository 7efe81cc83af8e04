"""New completions for the prompts that are open, from a model of this machine or from an endpoint.

A process of its own asks the model and says each answer as it comes, so that a stop ends it at once and keeps what
there is. What came is written to a new samples file in the project; nothing is overwritten, and no row is changed.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.errors import UsageError
from rewards.library.chat_client import chat_url
from workbench.app.child import Child
from workbench.samples import Samples
from workbench.whole_files import write_whole

if TYPE_CHECKING:
    from workbench.app.desk import Desk

LOCAL, ENDPOINT = "trainer.models.answering", "workbench.app.endpoint_child"
MOST_PROMPTS, MOST_EACH, MOST_TOKENS, HOTTEST = 1000, 64, 8192, 5.0
FILES_TRIED = 1000


@dataclass(frozen=True)
class Wanted:
    """What is to be generated.

    `url` is "" for a model of this machine, then `model` is `toy`, `smollm2` or a folder; `key_env` names the
    environment variable that holds an endpoint's key; `each` completions for each of the first `prompts` prompts.
    """

    model: str
    url: str = ""
    key_env: str = ""
    prompts: int = 8
    each: int = 4
    temperature: float = 1.0
    max_tokens: int = 256

    def __post_init__(self) -> None:
        """Refuse what cannot work, before any process is started."""
        if not self.model.strip():
            raise UsageError("name a model: toy, smollm2 or a folder; for an endpoint its name there")
        for name, value, most in (
            ("prompts", self.prompts, MOST_PROMPTS),
            ("completions each", self.each, MOST_EACH),
            ("tokens", self.max_tokens, MOST_TOKENS),
        ):
            if not 1 <= value <= most:
                raise UsageError(f"{name}: {value} is not from 1 to {most}")
        if not 0 <= self.temperature <= HOTTEST:
            raise UsageError(f"temperature {self.temperature:g} is not from 0 to {HOTTEST:g}")
        if self.url:
            try:
                chat_url(self.url)
            except ValueError as error:
                raise UsageError(str(error)) from None
            if self.key_env and not os.environ.get(self.key_env, "").strip():
                raise UsageError(
                    f"the environment variable {self.key_env} is not set where the server was started"
                )
        else:
            missing = next(
                (name for name in ("torch", "transformers") if not importlib.util.find_spec(name)), None
            )
            if missing:
                raise UsageError(
                    f"a model of this machine needs {missing}: pip install 'reward-workbench[train]'"
                )


@dataclass(frozen=True)
class Asked:
    """A prompt that is open, with the columns that are the same in all its rows."""

    prompt: Any
    columns: Mapping[str, Any]


class Generating:
    """The generation of one desk; `number` counts them. `changed` may be called from any thread."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._asked: list[Asked] = []
        self._chat = False
        self._place = Path()
        self._name = ""
        self.number = 0
        self.of = 0
        self.file: Path | None = None
        self.error: str | None = None

    def start(self, desk: Desk, wanted: Wanted) -> None:
        """Ask a model for completions; a generation under way is ended, and what had come of it is written.

        Raises:
            UsageError, SamplesError: there are no prompts, or the project's folder cannot be written.
        """
        self.close()
        samples = desk.shelf.rows(desk.source).samples
        root = desk.shelf.project.root
        if not os.access(root, os.W_OK):
            raise UsageError(f"{root} cannot be written, so there is no place for the completions")
        with self._lock:
            self._asked = prompts_of(samples)[: wanted.prompts]
            self._chat, self._place, self._name = samples.chat, root, wanted.model
            self.number += 1
            self.of, self.file, self.error = len(self._asked) * wanted.each, None, None
            task = {
                "model": _model(wanted, root),
                "url": wanted.url,
                "key_env": wanted.key_env,
                "prompts": [asked.prompt for asked in self._asked],
                "each": wanted.each,
                "temperature": wanted.temperature,
                "max_tokens": wanted.max_tokens,
                "seed": secrets.randbelow(
                    2**31
                ),  # a server started anew must not give the same answers again
            }
            self._child = Child(ENDPOINT if wanted.url else LOCAL, task, self._moved, gather="answer")
        self._moved()  # it may have ended by now

    def stop(self) -> None:
        """End it now; what has come is written."""
        child = self._child
        if child is not None:
            child.stop()
            self._finish(child)
            self._changed()

    def close(self) -> None:
        """End the process; what has come and is not written yet is written."""
        child, self._child = self._child, None
        if child is not None:
            child.close()
            self._finish(child)

    @property
    def state(self) -> str:
        """none, running, done, failed or stopped; what came is on disk, or cannot be, once it is not running."""
        child = self._child
        if child is None:
            return "none"
        unwritten = bool(child.gathered) and self.file is None and self.error is None
        return "running" if unwritten else child.state

    def to_json(self) -> dict[str, Any]:
        """What the drawer shows; small."""
        child = self._child
        said = child.said if child is not None else {}
        return {
            "state": self.state,
            "number": self.number,
            "done": len(child.gathered) if child is not None else 0,
            "of": self.of,
            "step": said.get("step"),
            "lost": said.get("lost"),
            "error": self.error or said.get("error"),
            "file": self.file.name if self.file is not None else None,
        }

    def _moved(self) -> None:
        child = self._child
        if child is not None and child.state != "running":
            self._finish(child)
        self._changed()

    def _finish(self, child: Child) -> None:
        """Write what has come, once."""
        with self._lock:
            if self.file is not None or not child.gathered:
                return
            rows = [
                row_of(self._asked[at], text, self._chat)
                for at, text in sorted(child.gathered, key=lambda a: a[0])
            ]
            try:
                self.file = write_new(self._place, self._name, rows)
            except OSError as error:
                self.error = f"the completions cannot be written to {self._place}: {error.strerror}"


def prompts_of(samples: Samples) -> list[Asked]:
    """Each different prompt once, in the order of the rows, with the columns that do not tell its rows apart."""
    rows: dict[str, list[int]] = {}
    for row, prompt in enumerate(samples.prompts):
        rows.setdefault(json.dumps(prompt, sort_keys=True, default=str), []).append(row)
    steady = [
        name
        for name, values in samples.columns.items()
        if all(values[row] == values[members[0]] for members in rows.values() for row in members)
    ]
    return [
        Asked(
            samples.prompts[members[0]],
            {name: value for name in steady if (value := samples.columns[name][members[0]]) is not None},
        )
        for members in rows.values()
    ]


def row_of(asked: Asked, text: str, chat: bool) -> dict[str, Any]:
    """A line of a samples file."""
    completion = [{"role": "assistant", "content": text}] if chat else text
    return {"prompt": asked.prompt, "completion": completion, **asked.columns}


def write_new(folder: Path, model: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows to a file that was not there before, named after the model; whole or not at all.

    A number that JSON does not have (NaN, infinity) in a column becomes null.

    Raises:
        OSError: it cannot be written.
    """
    text = "".join(json.dumps(_finite(row), allow_nan=False, default=str) + "\n" for row in rows)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(model).name).strip("-.") or "model"
    for number in range(1, FILES_TRIED):
        place = folder / f"generated-{name[:60]}-{number}.jsonl"
        try:
            place.open("x").close()  # the name is ours
        except FileExistsError:
            continue
        try:
            write_whole(place, text.encode("utf-8", "replace"))
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        return place
    raise FileExistsError(17, "too many generated files", str(folder))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _finite(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value


def _model(wanted: Wanted, root: Path) -> str:
    """A local folder by its whole path, names as they are."""
    folder = root / Path(wanted.model).expanduser()
    return str(folder.resolve()) if not wanted.url and folder.is_dir() else wanted.model.strip()
