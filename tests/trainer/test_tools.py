"""Tools and environments: the model's turns are TRL's, the record has them all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rewards.errors import LoadError, UsageError
from tests.trainer.conftest import make_project
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir
from trainer.settings import Own
from trainer.tools import fingerprint, load_tools, plain_environments, seen_from

TOOLS = '''
import os


def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.

    Returns:
        Their sum.
    """
    return a + b


def vague(a, b):
    return a


class Game:
    """A number to be guessed."""

    def reset(self, **row) -> str:
        self.guesses, self.handle = [], os
        return " Guess."

    def guess(self, number: int) -> str:
        """Guess the number.

        Args:
            number: the guess.

        Returns:
            Whether it is right.
        """
        self.guesses.append(number)
        return "right" if number == 3 else "wrong"


class Judge(Game):
    def get_reward(self) -> float:
        return 1.0


class Timeless:
    pass
'''
CALL = '<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'
WON = """

def won(completions, environments, **kwargs):
    return [float(3 in one.guesses) for one in environments]
"""


@pytest.fixture
def project(tool_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")  # as the command has it
    folder = make_project(tmp_path / "project", tool_model)
    (folder / "tools.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def tool_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with Qwen2.5's chat template, which knows tools."""
    from trl.chat_template_utils import qwen2_5_chat_template

    folder = tmp_path_factory.mktemp("tools") / "model"
    shutil.copytree(tiny_model, folder)
    (folder / "chat_template.jinja").write_text(qwen2_5_chat_template)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4096}))
    return folder


def script(patch: pytest.MonkeyPatch, *turns: list[str]) -> None:
    """Let the model say these turns, row by row in turn, instead of what it would say."""
    from trl import GRPOTrainer

    said: list[int] = []

    def generate(self: Any, prompt_ids: list[list[int]], *args: Any, **more: Any) -> Any:
        texts = turns[len(said) % len(turns)]
        said.append(len(prompt_ids))
        encode = self._tokenizer
        ids = [
            encode(texts[row % len(texts)], add_special_tokens=False)["input_ids"]
            for row in range(len(prompt_ids))
        ]
        return [[*one, encode.eos_token_id] for one in ids], None

    patch.setattr(GRPOTrainer, "_generate_single_turn", generate)


def start(project: Path, *sets: str) -> RunDir:
    base = ("max_steps=2", "max_completion_length=300")
    return train(Request(str(project), allow_unsealed=True, sets=(*base, *sets))).run


def test_a_tool_is_called_and_its_turns_are_recorded(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = CALL.format(name="add", arguments='{"a": 1, "b": 2}')
    script(monkeypatch, [call, "3"], ["so it is 3"])
    run = start(project, "tools=tools.py::add")
    frame = pd.read_parquet(run.completions / "step_00001.parquet")
    turns = [dict(message) for message in frame["completion"][0]]
    assert [turn["role"] for turn in turns] == ["assistant", "tool", "assistant"]
    called = turns[0]["tool_calls"][0]["function"]
    assert (called["name"], json.loads(called["arguments"])) == ("add", {"a": 1, "b": 2})
    assert (turns[1]["name"], turns[1]["content"]) == ("add", "3")
    assert turns[2]["content"] == "so it is 3"
    assert [dict(message)["role"] for message in frame["completion"][1]] == ["assistant"]
    [first, _] = run.metrics()
    assert (first["tools/call_frequency"], first["tools/failure_frequency"]) == (0.5, 0.0)
    sample = json.loads((run.samples / "step_00001.jsonl").read_text().splitlines()[0])
    assert [turn["role"] for turn in sample["completion"]] == ["assistant", "tool", "assistant"]


def test_what_a_tool_raises_is_its_answer_to_the_model(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, [CALL.format(name="add", arguments='{"a": 1}')], ["no"])
    run = start(project, "tools=tools.py::add", "max_steps=1", "save_steps=1")
    frame = pd.read_parquet(run.completions / "step_00001.parquet")
    assert "missing 1 required positional argument" in frame["completion"][0][1]["content"]
    assert run.metrics()[0]["tools/failure_frequency"] == 1.0


def test_an_environment_is_played_and_a_reward_reads_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = (project / "rewardset.toml").read_text()
    (project / "rewardset.toml").write_text(
        manifest.replace("::shortness", "::won").replace('"shortness"', '"won"')
    )
    with (project / "rewards.py").open("a") as stream:
        stream.write(WON)
    guesses = [CALL.format(name="guess", arguments=json.dumps({"number": number})) for number in (3, 4)]
    script(monkeypatch, guesses, ["done"])
    run = start(project, "environment_factory=tools.py::Game", "max_steps=1", "save_steps=1")
    frame = pd.read_parquet(run.completions / "step_00001.parquet")
    assert frame["won"].tolist() == [1.0, 0.0] * 4
    assert "guesses" in str(frame["environments"][0])


def test_of_an_environment_the_plain_attributes_are_given_whatever_holds_them() -> None:
    class Slotted:
        __slots__ = ("board", "unset")

    class Inherits(Slotted):
        def __init__(self) -> None:
            self.board, self.moves, self.lock = [[1, None]], {"a": (2.5, True)}, object()
            self.itself: list[Any] = []
            self.itself.append(self.itself)

    slotted = Slotted()
    slotted.board = [3]
    found = [vars(one) for one in plain_environments([Inherits(), slotted])]
    assert found == [{"board": [[1, None]], "moves": {"a": (2.5, True)}}, {"board": [3]}]


def test_a_run_with_tools_is_resumed_only_with_the_same(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, ["3"])
    run = start(project, "tools=tools.py::add")
    run.update_stage(0, status="running")
    (project / "tools.py").write_text(TOOLS.replace("a + b", "a - b"))
    with pytest.raises(UsageError, match="tools or environment_factory changed since the run started"):
        train(Request(str(project), run=run.path, resume=True, allow_unsealed=True))


def test_a_tool_imports_what_lies_beside_it_and_is_another_one_where_that_changes(tmp_path: Path) -> None:
    (tmp_path / "part_of_tools").mkdir()
    (tmp_path / "part_of_tools" / "__init__.py").write_text("")
    (tmp_path / "part_of_tools" / "sums.py").write_text("from sign_of_tools import SIGN\n")
    (tmp_path / "sign_of_tools.py").write_text("SIGN = 1\n")
    (tmp_path / "more.py").write_text(
        "from part_of_tools.sums import SIGN\n" + TOOLS.replace("a + b", "a + SIGN * b")
    )
    own = seen_from(Own(tools=("more.py::add",)), tmp_path)
    prints = [fingerprint(own)]
    [add] = load_tools(own)
    assert add(1, 2) == 3
    (tmp_path / "sign_of_tools.py").write_text("SIGN = -1\n")
    prints.append(fingerprint(own))
    (tmp_path / "more.py").write_text((tmp_path / "more.py").read_text().replace("Add two", "Subtract two"))
    prints.append(fingerprint(own))
    (tmp_path / "elsewhere.py").write_text("")
    assert len(set(prints)) == 3
    assert fingerprint(own) == prints[-1]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("tools=tools.py", r"must have the form FILE::NAME, e.g. tools.py::add"),
        ("tools=tool.py::add", r"there is no file .*tool.py.*tools.py"),
        ("tools=tools.py::ad", r"has no function or class 'ad'.*add"),
        ("tools=tools.py::vague", r"vague does not say what it takes .* type hints and a docstring"),
        ("environment_factory=tools.py::Judge", r"has get_reward\(\), a reward nobody has checked or sealed"),
        ("environment_factory=tools.py::Timeless", r"has no method reset\(\)"),
    ],
)
def test_what_cannot_be_called_is_one_sentence(project: Path, setting: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        start(project, setting)
    assert not (project / "runs").exists()


def test_a_file_that_does_not_load_is_one_sentence(project: Path) -> None:
    (project / "broken.py").write_text("import nonsense_that_is_missing")
    with pytest.raises(LoadError, match=r"broken.py cannot be loaded: ModuleNotFoundError"):
        start(project, "tools=broken.py::add")


def test_a_model_that_cannot_be_shown_tools_is_refused_by_name(project: Path, tiny_model: Path) -> None:
    with pytest.raises(UsageError, match=r"tools: the chat template of .*tiny cannot show a tool's call"):
        start(project, "tools=tools.py::add", f"model={tiny_model}")
