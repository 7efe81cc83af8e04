"""What the documents say is so: commands, options, make targets, files, links, settings."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
TREE_BLOCK = re.compile(r"```text\n(rewards/.*?)```", re.DOTALL)


def documents(repository: Path) -> list[Path]:
    """Every Markdown file that people read."""
    paths = [repository / name for name in DOCUMENTS]
    return [file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]


def said_commands(text: str) -> list[list[str]]:
    """The `reward-workbench ...` lines of a document, as words."""
    lines = re.findall(r"^(?:\$ )?(?:\.venv/bin/)?reward-workbench (.+)$", text, re.MULTILINE)
    lines += re.findall(r"`reward-workbench ([^`]+)`", text)
    return [line.split("#")[0].split() for line in lines]


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    """Every command there is, those of the trainer's process with their own options."""
    from trainer.__main__ import build_app
    from workbench.cli import main

    main._register()
    found: dict[str, Any] = {}
    for app in (main.app, build_app()):
        group: Any = typer.main.get_command(app)
        found |= group.commands
    return found


def test_every_command_and_option_said_exists(repository: Path, commands: dict[str, Any]) -> None:
    wrong = []
    for file in documents(repository):
        for words in said_commands(file.read_text(encoding="utf-8")):
            command = commands.get(words[0])
            options = {option for param in command.params for option in param.opts} if command else set()
            unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in options]
            if words[0] not in {"COMMAND", "--help", "--version"} and (
                command is None or set(unknown) - {"--help"}
            ):
                wrong.append(f"{file.name}: reward-workbench {' '.join(words)}")
    assert wrong == []


def test_every_command_is_in_the_reference(repository: Path, commands: dict[str, Any]) -> None:
    text = (repository / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in commands if f"`{name}" not in text] == []


def test_every_make_target_said_exists(repository: Path) -> None:
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    said = {
        target
        for file in documents(repository)
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert said - targets == set()


def test_every_relative_link_leads_somewhere(repository: Path) -> None:
    dead = [
        f"{file.relative_to(repository)}: {link}"
        for file in documents(repository)
        for link in re.findall(r"\]\(([^)#\s]+)", file.read_text(encoding="utf-8"))
        if "://" not in link and not (file.parent / link).exists()
    ]
    assert dead == []


def test_the_tree_in_the_readme_is_the_tree(repository: Path) -> None:
    block = TREE_BLOCK.search((repository / "README.md").read_text(encoding="utf-8"))
    assert block is not None
    said = tree_paths(block[1])
    missing = [path for path in said if not (repository / path).exists()]
    tracked = subprocess.run(
        ["git", "ls-files", "rewards", "workbench", "trainer"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    rooms = {
        "/".join(path.split("/")[:2]) for path in tracked if not path.endswith(("__init__.py", "py.typed"))
    }
    assert (missing, sorted(rooms - {path.rstrip("/") for path in said})) == ([], [])


def tree_paths(block: str) -> list[str]:
    """The paths of an indented tree whose lines are `NAME, NAME   phrase`; lines further in only go on."""
    paths, top = [], ""
    for line in block.splitlines():
        names = re.match(r"( {0,2})((?:[\w.-]+/?, )*[\w.-]+/?)(?: {2,}|$)", line)
        if names is None:
            continue
        folder = top if names[1] else ""
        paths += [folder + name for name in names[2].split(", ")]
        if not names[1]:
            top = names[2]
    return paths


def test_the_manual_of_the_checks_is_current(repository: Path, write_docs: bool) -> None:
    from workbench.checks.manual import manual

    document = repository / "docs" / "checks.md"
    if write_docs:
        document.write_text(manual(), encoding="utf-8")
    assert document.read_text(encoding="utf-8") == manual(), "docs/checks.md is old: run `make docs`"


def test_the_manual_of_the_library_is_current_and_has_every_member(
    repository: Path, write_docs: bool
) -> None:
    import rewards.library
    from rewards.library.manual import manual

    document = repository / "docs" / "library.md"
    if write_docs:
        document.write_text(manual(), encoding="utf-8")
    text = document.read_text(encoding="utf-8")
    assert text == manual(), "docs/library.md is old: run `make docs`"
    assert [name for name in rewards.library.__all__ if f"### {name}\n" not in text] == []


def test_every_key_of_the_manifest_is_in_the_reference(repository: Path) -> None:
    from rewards.manifest import CheckSettings, DataSettings, RewardEntry, SetSettings, TrainSettings

    text = (repository / "docs" / "reference.md").read_text(encoding="utf-8")
    missing = [
        f"{model.__name__}.{key}"
        for model in (SetSettings, RewardEntry, CheckSettings, DataSettings, TrainSettings)
        for key in model.model_fields
        if not re.search(rf"\b{key}\b", text)
    ]
    assert missing == []


def test_every_preset_is_in_the_reference(repository: Path) -> None:
    from trainer.presets import PRESETS

    text = (repository / "docs" / "reference.md").read_text(encoding="utf-8")
    assert [name for name in PRESETS if f"`{name}`" not in text] == []


def test_no_document_names_another_machines_paths(repository: Path) -> None:
    texts = {file.name: file.read_text(encoding="utf-8") for file in documents(repository)}
    assert [name for name, text in texts.items() if re.search(r"(?<!\w)/(work|root|home|tmp)/", text)] == []


def test_every_environment_variable_is_in_the_reference(repository: Path) -> None:
    text = (repository / "docs" / "reference.md").read_text(encoding="utf-8")
    files = [
        file for folder in ("rewards", "workbench", "trainer") for file in (repository / folder).rglob("*.py")
    ]
    used = {name for file in files for name in re.findall(r'"(REWARD_WORKBENCH_[A-Z_]+)"', file.read_text())}
    assert {name for name in used if name not in text} == set()


def test_every_template_is_in_the_reference(repository: Path) -> None:
    text = (repository / "docs" / "reference.md").read_text(encoding="utf-8")
    templates = [
        folder.name for folder in (repository / "workbench" / "templates").iterdir() if folder.is_dir()
    ]
    assert [name for name in templates if name[0] != "_" and f"`{name}`" not in text] == []
