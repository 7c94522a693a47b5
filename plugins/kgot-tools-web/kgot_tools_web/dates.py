"""Days, months and years as a model writes them."""

from __future__ import annotations

import calendar
import datetime
import re
from dataclasses import dataclass

from kgot_core.errors import KgotError

_FORM = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True)
class Span:
    """Days from one to another, either left open."""

    first: datetime.date | None = None
    last: datetime.date | None = None

    def __bool__(self) -> bool:
        return self.first is not None or self.last is not None

    def holds(self, date: str) -> bool:
        """Tells whether an ISO date is in it; one that cannot be read is not."""
        found = _FORM.match(date)
        if not found:
            return False
        try:
            day = first_day(found[0])
        except KgotError:
            return False
        return (self.first is None or day >= self.first) and (self.last is None or day <= self.last)


def span(since: str, until: str) -> Span:
    """Reads the first and the last day; a year or a month counts from its first day, or up to its last.

    Raises:
        KgotError: One is no date.
    """
    return Span(first_day(since) if since.strip() else None, last_day(until) if until.strip() else None)


def first_day(text: str) -> datetime.date:
    """Gives the first day of a year, month or day: ``2015``, ``2015-03``, ``2015-03-14``.

    Raises:
        KgotError: It is none.
    """
    return _days(text)[0]


def last_day(text: str) -> datetime.date:
    """Gives the last day of a year, month or day.

    Raises:
        KgotError: It is none.
    """
    return _days(text)[1]


def _days(text: str) -> tuple[datetime.date, datetime.date]:
    found = _FORM.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else 0 for part in found.groups())
        last_month = month or 12
        last = day or calendar.monthrange(year, last_month)[1]
        return datetime.date(year, month or 1, day or 1), datetime.date(year, last_month, last)
    except ValueError:
        raise KgotError(f"{text[:40]!r} is no date", hint="write 2015, 2015-03 or 2015-03-14") from None
