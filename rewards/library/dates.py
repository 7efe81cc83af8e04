"""Dates as answers: the same day (month, year), however it is written.

Read are `2024-03-05`, `2024/3/5`, `20240305`, `5 March 2024`, `March 5th, 2024`, `5. Mar 2024`, `05.03.2024`
(day first, as it is written with dots), `05/03/2024` (see `day_first`), `March 2024`, `2024`; a weekday before
and a time behind are passed over. Month names are English. Years have four digits: of `05/03/24` nobody knows
which is the year.
"""

from __future__ import annotations

import datetime
import functools
import re
from dataclasses import dataclass
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import FORMS, check_forms, find_answer
from rewards.library.parameters import wrong
from rewards.library.references import not_scored, tell_unread
from rewards.marks import reward

LONGEST = 100

_MARKUP = re.compile(r"[*$`]")

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_MONTH = r"(?P<name>jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|" + "|".join(_MONTHS) + r")\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4})"
_WEEKDAY = (
    r"(?:(?:on|in) )?(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
    r"(?:(?:on|in) )?(?:the )?"
)
_TIME = (
    r"(?:(?:t|,? (?:at )?)[0-9]{1,2}(?::[0-9]{2}){1,2}(?:\.[0-9]+)?(?: ?[ap]\.?m\.?)?"
    r"(?:z|[+-][0-9]{2}:?[0-9]{2}| utc| gmt)?)?"
)
_FORMS = tuple(
    re.compile(_WEEKDAY + form + _TIME)
    for form in (
        rf"{_YEAR}(?P<sep>[-/.])(?P<month>[0-9]{{1,2}})(?P=sep)(?P<day>[0-9]{{1,2}})",
        r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})",
        rf"{_DAY}\.? (?:of )?(?:day of )?{_MONTH},? {_YEAR}",
        rf"{_DAY}-{_MONTH}-{_YEAR}",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}",
        rf"(?P<first>[0-9]{{1,2}})(?P<sep>[-/])(?P<second>[0-9]{{1,2}})(?P=sep){_YEAR}",
        rf"{_MONTH},? (?:of )?{_YEAR}",
        rf"{_YEAR}-(?P<month>[0-9]{{1,2}})",
        rf"(?:the year )?{_YEAR}",
    )
)


@dataclass(frozen=True)
class Date:
    """A date as precise as it was written: month and day are 0 where they are not."""

    year: int
    month: int = 0
    day: int = 0

    def answers(self, wanted: Date) -> bool:
        """Whether this is the date wanted, at least as precisely."""
        return (
            self.year == wanted.year
            and wanted.month in (0, self.month)
            and (wanted.day in (0, self.day) or not wanted.month)
        )


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def date_match(
    completions: list[Any],
    answer: list[Any],
    *,
    day_first: bool | None = None,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward the right date.

    1.0 where the date a completion ends with is the reference's, at least as precise as the reference is ("5
    March 2024" answers "March 2024", not the other way round), else 0.0. Times of day are not compared. Two
    dates are no answer.

    A date such as 05/03/2024 is the fifth of March for some and the third of May for others. `day_first` says which;
    without it such a date is not read unless only one way makes a date, or both make the same one.

    Args:
        completions: chat or plain text.
        answer: column with the references: text, dates, or years as whole numbers.
        day_first: true for 05/03/2024 as day, month, year, false for month, day, year, None for neither.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole".
        log_metric: TRL's; told the share of references that are no date, where there are any.

    Returns:
        One of 0.0, 1.0 per completion; None where the reference is missing, no date, or ambiguous.

    Raises:
        ValueError: if `answer_forms` or `day_first` has another value.

    >>> date_match(["March 5th, 2024", "2024-03-06", "05/03/2024"], answer=["2024-03-05"] * 3)
    [1.0, 0.0, 0.0]
    >>> date_match(["05/03/2024"], answer=["5 March 2024"], day_first=True), date_match(["2024"], answer=["05/03/2024"])
    ([1.0], [None])
    """
    forms = check_forms("date_match", answer_forms)
    if not (day_first is None or isinstance(day_first, bool)):
        raise wrong("date_match", "day_first", day_first, "true, false or left out")
    scores = [
        _date(completion_text(completion), reference, forms, day_first)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "date_match", scores)
    return scores


def _date(text: str, reference: Any, forms: tuple[str, ...], day_first: bool | None) -> float | None:
    wanted = _reference(reference, day_first)
    if wanted is None:
        return not_scored(reference, "a date that can be read in one way")
    found = find_answer(text, forms=forms)
    got = read_date(found.text, day_first=day_first) if found else None
    right = got is not None and got.answers(wanted)
    return credit("date equals the reference", float(right), of=1.0, span=found.span if found else None)


def _reference(value: Any, day_first: bool | None) -> Date | None:
    if isinstance(value, datetime.date):
        return Date(value.year, value.month, value.day)
    if isinstance(value, int) and not isinstance(value, bool):
        return Date(value) if 1 <= value <= 9999 else None
    if not isinstance(value, str):
        return None
    found = find_answer(value)
    return read_date(found.text, day_first=day_first) if found else None


def read_date(text: str, *, day_first: bool | None = None) -> Date | None:
    """The one date a text consists of; None where it is anything else, or may be two different dates.

    >>> read_date("Tuesday, 5 March 2024")
    Date(year=2024, month=3, day=5)
    >>> read_date("13/03/2024"), read_date("31 February 2024"), read_date("2023 or 2024")
    (Date(year=2024, month=3, day=13), None, None)
    """
    return _read(text, day_first) if len(text) <= LONGEST else None


@functools.lru_cache(maxsize=4096)
def _read(text: str, day_first: bool | None) -> Date | None:
    plain = " ".join(_MARKUP.sub(" ", text).casefold().split()).strip(" .,!\"'")
    for form in _FORMS:
        match = form.fullmatch(plain)
        if match is not None:
            return _date_of(match.groupdict(), day_first)
    return None


def _date_of(parts: dict[str, str | None], day_first: bool | None) -> Date | None:
    year = int(parts["year"] or 0)
    if parts.get("first") is not None:
        one, other = int(parts["first"] or 0), int(parts["second"] or 0)
        orders = {True: [(one, other)], False: [(other, one)], None: [(one, other), (other, one)]}[day_first]
        dates = {date for date in (_checked(year, month, day) for day, month in orders) if date}
        return dates.pop() if len(dates) == 1 else None
    name = parts.get("name")
    month = _month(name) if name else int(parts.get("month") or 0)
    if "month" in parts and not month:
        return None
    day = parts.get("day")
    return _month_of(year, month) if day is None else _checked(year, month, int(day))


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name[:3]))


def _month_of(year: int, month: int) -> Date | None:
    return Date(year, month) if year and 0 <= month <= 12 else None


def _checked(year: int, month: int, day: int) -> Date | None:
    """The date if the calendar has it."""
    try:
        datetime.date(year, month, day)
    except ValueError:
        return None
    return Date(year, month, day)
