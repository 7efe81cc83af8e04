"""Every attack is contained at every level, and would not be without the layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.sandbox import Level, Sandbox, starting
from tests.rewards.sandbox.attacks.attack import Attack, Cheat
from tests.rewards.sandbox.attacks.cheats import HONEST, MORE_CHEATS, THIRTEEN
from tests.rewards.sandbox.attacks.escapes import ESCAPES
from tests.rewards.sandbox.attacks.system import SYSTEM
from tests.rewards.sandbox.attacks.table import CHAPTERS, LEVELS, document, rows
from tests.rewards.sandbox.attacks.trying import Tried, try_attack, try_cheat
from tests.rewards.sandbox.conftest import open_level

by_name = {"ids": lambda attack: attack.name}


def outcome(sandbox: Sandbox, attack: Attack | Cheat) -> Tried:
    return try_attack(sandbox, attack) if isinstance(attack, Attack) else try_cheat(sandbox, attack)


def test_there_are_as_many_attacks_as_are_said() -> None:
    names = [attack.name for attacks in CHAPTERS.values() for attack in attacks]
    assert (len(SYSTEM), len(THIRTEEN)) == (16, 13)
    assert len(ESCAPES) + len(MORE_CHEATS) >= 40
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("attack", [*SYSTEM, *ESCAPES], **by_name)  # type: ignore[arg-type]
def test_an_attack_on_the_machine_is_contained(sandbox: Sandbox, attack: Attack) -> None:
    tried = try_attack(sandbox, attack)
    assert not tried.broke, tried.how


@pytest.mark.parametrize("cheat", [*THIRTEEN, *MORE_CHEATS], **by_name)  # type: ignore[arg-type]
def test_a_cheating_program_is_not_paid(sandbox: Sandbox, cheat: Cheat) -> None:
    tried = try_cheat(sandbox, cheat)
    assert not tried.broke, tried.how


@pytest.mark.parametrize("number", range(len(HONEST)))
def test_the_honest_program_is_paid_where_the_cheats_are_not(sandbox: Sandbox, number: int) -> None:
    columns, code = HONEST[number]
    assert try_cheat(sandbox, Cheat("honest", "", code, columns)).broke


# harmless to this machine where they come through; the others could end or rename things
BITE = {
    "read a file", "write a file", "connect to the loopback", "send a datagram",
    "connect to an abstract socket", "connect to a socket file", "leave a daemon",
    "chmod", "utime", "truncate", "unlink", "rename", "symbolic link", "list a folder",
    "exec", "subprocess", "multiprocessing", "clone", "find processes", "netlink",
}  # fmt: skip


@pytest.mark.parametrize(
    "attack",
    [attack for attack in (*SYSTEM, *ESCAPES) if attack.name in BITE],
    **by_name,  # type: ignore[arg-type]
)
def test_without_the_layers_it_would_come_through(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_filter", lambda receives=False: None)
    with Sandbox(only=Level.LIMITS, unsafe=True) as bare:
        assert try_attack(bare, attack).broke


def test_the_document_has_a_row_for_every_attack(repository: Path, write_docs: bool) -> None:
    path = repository / "docs" / "attacks.md"
    if write_docs:
        boxes = {level: open_level(level) for level in LEVELS}
        tried = {
            (attack.name, level): outcome(boxes[level], attack)
            for attacks in CHAPTERS.values()
            for attack in attacks
            for level in LEVELS
        }
        path.write_text(document(tried), encoding="utf-8")
    found = rows(path.read_text(encoding="utf-8"))
    wanted = [(attack.name, attack.aim) for attacks in CHAPTERS.values() for attack in attacks]
    assert [row[:2] for row in found] == wanted, "docs/attacks.md is old: run `make docs`"
    assert all(cell.startswith("contained") for _, _, cells in found for cell in cells)
