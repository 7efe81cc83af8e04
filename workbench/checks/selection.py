"""Which checks there are, and which of them a run uses.

`CHECKS` is the index: a plain dict from code to check. Users select by the start of a code: `RW1` is a
family, `RW104` a check.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Sequence

from rewards.errors import UsageError
from workbench.checks.answers.capital_missed import CapitalMissed
from workbench.checks.answers.empty_gold import EmptyGold
from workbench.checks.answers.equal_forms import EqualForms
from workbench.checks.answers.gold_ignored import GoldIgnored
from workbench.checks.answers.gold_unpaid import GoldUnpaid
from workbench.checks.answers.last_refused import LastRefused
from workbench.checks.answers.near_miss import NearMiss
from workbench.checks.answers.top_unreached import TopUnreached
from workbench.checks.answers.wrong_column import WrongColumn
from workbench.checks.answers.zero_gold import ZeroGold
from workbench.checks.check import FAMILIES, Check
from workbench.checks.code.broad_except import BroadExcept
from workbench.checks.code.dotless_pattern import DotlessPattern
from workbench.checks.code.exits import Exits
from workbench.checks.code.first_match import FirstMatch
from workbench.checks.code.float_equality import FloatEquality
from workbench.checks.code.mutable_default import MutableDefault
from workbench.checks.code.never_reads import NeverReads
from workbench.checks.code.open_pattern import OpenPattern
from workbench.checks.code.outside_access import OutsideAccess
from workbench.checks.code.runs_text import RunsText
from workbench.checks.code.set_order import SetOrder
from workbench.checks.code.substring_test import SubstringTest
from workbench.checks.code.unbounded_cache import UnboundedCache
from workbench.checks.code.undefined_name import UndefinedName
from workbench.checks.code.unseeded_random import UnseededRandom
from workbench.checks.contract.async_blocking import AsyncBlocking
from workbench.checks.contract.async_undetected import AsyncUndetected
from workbench.checks.contract.column_setting import ColumnSetting
from workbench.checks.contract.column_types import ColumnTypes
from workbench.checks.contract.dies import Dies
from workbench.checks.contract.global_state import GlobalState
from workbench.checks.contract.hangs import Hangs
from workbench.checks.contract.leftovers import Leftovers
from workbench.checks.contract.missing_column import MissingColumn
from workbench.checks.contract.mutates_input import MutatesInput
from workbench.checks.contract.names import Names
from workbench.checks.contract.nobody_scores import NobodyScores
from workbench.checks.contract.not_finite import NotFinite
from workbench.checks.contract.not_portable import NotPortable
from workbench.checks.contract.other_shape import OtherShape
from workbench.checks.contract.out_of_range import OutOfRange
from workbench.checks.contract.prints import Prints
from workbench.checks.contract.raises import Raises
from workbench.checks.contract.reserved_column import ReservedColumn
from workbench.checks.contract.several_turns import SeveralTurns
from workbench.checks.contract.signature import CallRefused
from workbench.checks.contract.swallowed_error import SwallowedError
from workbench.checks.contract.thread_result import ThreadResult
from workbench.checks.contract.undeclared_none import UndeclaredNone
from workbench.checks.contract.unfilled_default import UnfilledDefault
from workbench.checks.contract.wrong_length import WrongLength
from workbench.checks.contract.wrong_type import WrongType
from workbench.checks.data.conflicting_golds import ConflictingGolds
from workbench.checks.data.empty_prompt import EmptyPrompt
from workbench.checks.data.filled_example import FilledExample
from workbench.checks.data.gold_in_prompt import GoldInPrompt
from workbench.checks.data.opened_thinking import OpenedThinking
from workbench.checks.data.prompt_length import PromptLength
from workbench.checks.data.repeated_prompts import RepeatedPrompts
from workbench.checks.data.unreadable_golds import UnreadableGolds
from workbench.checks.evidence.expected_unmet import ExpectedUnmet
from workbench.checks.evidence.label_order import LabelOrder
from workbench.checks.evidence.second_reading import SecondReading
from workbench.checks.evidence.sign_flipped import SignFlipped
from workbench.checks.evidence.unpinned import Unpinned
from workbench.checks.exploits.all_candidates import AllCandidates
from workbench.checks.exploits.constant_answer import ConstantAnswer
from workbench.checks.exploits.either_or import EitherOr
from workbench.checks.exploits.empty_paid import EmptyPaid
from workbench.checks.exploits.example_echo import ExampleEcho
from workbench.checks.exploits.flattery import Flattery
from workbench.checks.exploits.inside_words import InsideWords
from workbench.checks.exploits.length_alone import LengthAlone
from workbench.checks.exploits.not_a_number import NotANumber
from workbench.checks.exploits.other_row import OtherRow
from workbench.checks.exploits.padding import Padding
from workbench.checks.exploits.program_exploit import ProgramExploit
from workbench.checks.exploits.prompt_echo import PromptEcho
from workbench.checks.exploits.scaffold_paid import ScaffoldPaid
from workbench.checks.exploits.scoreboard import Scoreboard
from workbench.checks.exploits.search import ExploitSearch
from workbench.checks.exploits.stuffing import Stuffing
from workbench.checks.exploits.tag_order import TagOrder
from workbench.checks.exploits.wrong_content import WrongContent
from workbench.checks.exploits.wrong_end import WrongEnd
from workbench.checks.laws.batch_dependent import BatchDependent
from workbench.checks.laws.copies_differ import CopiesDiffer
from workbench.checks.laws.damaged_more import DamagedMore
from workbench.checks.laws.hash_order import HashOrder
from workbench.checks.laws.invariance import Invariance
from workbench.checks.laws.length_returns import LengthReturns
from workbench.checks.laws.mutated_fails import MutatedFails
from workbench.checks.laws.nondeterministic import Nondeterministic
from workbench.checks.laws.order_dependent import OrderDependent
from workbench.checks.laws.own_law import OwnLaw
from workbench.checks.laws.part_removed import PartRemoved
from workbench.checks.laws.repetition_pays import RepetitionPays
from workbench.checks.laws.short_penalised import ShortPenalised
from workbench.checks.laws.state_kept import StateKept
from workbench.checks.laws.truncated_more import TruncatedMore
from workbench.checks.laws.undeclared_column import UndeclaredColumn
from workbench.checks.laws.words_for_tokens import WordsForTokens
from workbench.checks.robustness.bad_row import BadRow
from workbench.checks.robustness.hostile_text import HostileText
from workbench.checks.robustness.memory_growth import MemoryGrowth
from workbench.checks.robustness.network import Network
from workbench.checks.robustness.slow_growth import SlowGrowth
from workbench.checks.robustness.slow_pattern import SlowPattern
from workbench.checks.robustness.slow_rows import SlowRows
from workbench.checks.signal.cancelling import Cancelling
from workbench.checks.signal.constant import Constant
from workbench.checks.signal.dead_groups import DeadGroups
from workbench.checks.signal.dominance import Dominance
from workbench.checks.signal.few_signals import FewSignals
from workbench.checks.signal.few_useful import FewUseful
from workbench.checks.signal.length_bias import LengthBias
from workbench.checks.signal.modes_differ import ModesDiffer
from workbench.checks.signal.noisy import Noisy
from workbench.checks.signal.outweighed import Outweighed
from workbench.checks.signal.prompt_only import PromptOnly
from workbench.checks.signal.redundant import Redundant
from workbench.checks.signal.rounded import Rounded
from workbench.checks.signal.saturated import Saturated
from workbench.checks.signal.scale import Scale
from workbench.checks.signal.ties import Ties

CHECKS: dict[str, type[Check]] = {
    check.code: check
    for check in (
        CallRefused,
        MissingColumn,
        UnfilledDefault,
        WrongLength,
        WrongType,
        NotFinite,
        OutOfRange,
        UndeclaredNone,
        NobodyScores,
        Raises,
        Hangs,
        Dies,
        OtherShape,
        SeveralTurns,
        ColumnTypes,
        Names,
        NotPortable,
        AsyncUndetected,
        AsyncBlocking,
        ThreadResult,
        MutatesInput,
        Prints,
        GlobalState,
        Leftovers,
        ReservedColumn,
        SwallowedError,
        ColumnSetting,
        Nondeterministic,
        HashOrder,
        StateKept,
        BatchDependent,
        OrderDependent,
        CopiesDiffer,
        UndeclaredColumn,
        Invariance,
        PartRemoved,
        RepetitionPays,
        TruncatedMore,
        DamagedMore,
        OwnLaw,
        MutatedFails,
        WordsForTokens,
        ShortPenalised,
        LengthReturns,
        EmptyPaid,
        ScaffoldPaid,
        WrongContent,
        TagOrder,
        PromptEcho,
        ExampleEcho,
        ConstantAnswer,
        AllCandidates,
        EitherOr,
        WrongEnd,
        Stuffing,
        Padding,
        Flattery,
        OtherRow,
        NotANumber,
        ExploitSearch,
        Scoreboard,
        ProgramExploit,
        InsideWords,
        LengthAlone,
        GoldUnpaid,
        EqualForms,
        NearMiss,
        GoldIgnored,
        WrongColumn,
        LastRefused,
        TopUnreached,
        EmptyGold,
        ZeroGold,
        CapitalMissed,
        HostileText,
        SlowPattern,
        SlowGrowth,
        SlowRows,
        MemoryGrowth,
        BadRow,
        Network,
        ConflictingGolds,
        EmptyPrompt,
        FilledExample,
        GoldInPrompt,
        OpenedThinking,
        PromptLength,
        RepeatedPrompts,
        UnreadableGolds,
        BroadExcept,
        DotlessPattern,
        Exits,
        FirstMatch,
        FloatEquality,
        MutableDefault,
        NeverReads,
        OpenPattern,
        OutsideAccess,
        RunsText,
        SetOrder,
        SubstringTest,
        UnboundedCache,
        UndefinedName,
        UnseededRandom,
        Constant,
        DeadGroups,
        LabelOrder,
        SignFlipped,
        ExpectedUnmet,
        Saturated,
        PromptOnly,
        Ties,
        Dominance,
        Redundant,
        Cancelling,
        Outweighed,
        ModesDiffer,
        FewUseful,
        LengthBias,
        Scale,
        Rounded,
        FewSignals,
        Noisy,
        SecondReading,
        Unpinned,
    )
}
"""Every check by its code."""


def codes_of(text: str) -> list[str]:
    """`RW1, RW204` as a list of codes or starts of codes."""
    return [part.strip().upper() for part in text.split(",") if part.strip()]


def select(chosen: Sequence[str] = (), ignored: Sequence[str] = ()) -> list[type[Check]]:
    """The checks whose code starts with one of `chosen` (none: all) and with none of `ignored`, by code.

    Raises:
        UsageError: a prefix fits no check.
    """
    for prefix in (*chosen, *ignored):
        if not any(code.startswith(prefix) for code in CHECKS):
            raise UsageError(f"there is no check {prefix}: {_known(prefix)}")
    return [
        check
        for code, check in sorted(CHECKS.items())
        if (not chosen or _starts(code, chosen)) and not _starts(code, ignored)
    ]


def explained(code: str) -> type[Check]:
    """The check with exactly this code.

    Raises:
        UsageError: there is none.
    """
    found = CHECKS.get(code.strip().upper())
    if found is None:
        raise UsageError(f"there is no check {code}: {_known(code)}")
    return found


def _starts(code: str, prefixes: Iterable[str]) -> bool:
    return any(code.startswith(prefix) for prefix in prefixes)


def _shared_start(one: str, other: str) -> int:
    """How many letters two words have in common at their beginning."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _known(wanted: str) -> str:
    """What there is instead of a code that there is not: the nearest, by code or by name."""
    names = {check.name.upper(): code for code, check in CHECKS.items()}
    near = difflib.get_close_matches(wanted.upper(), [*names, *CHECKS], n=9, cutoff=0.6)
    best = max(near, key=lambda word: _shared_start(word, wanted.upper()), default="")
    code = names.get(best, best)
    hint = f"did you mean {code} ({CHECKS[code].name})? " if code else ""
    family = [code for code in sorted(CHECKS) if wanted.upper()[:3] == code[:3]]
    if family:
        return f"{hint}{family[0]} to {family[-1]} are the checks of its family"
    there = sorted({code[:3] for code in CHECKS} & set(FAMILIES))
    return (
        f"{hint}The families are {', '.join(there)} (see --list)"
        if hint
        else f"the families are {', '.join(there)} (see --list)"
    )


__all__ = ["CHECKS", "codes_of", "explained", "select"]
