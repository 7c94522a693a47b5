"""Values of cells as text."""

from __future__ import annotations

import datetime
from decimal import Decimal


def shown(value: object, number_format: str = "") -> str:
    """Writes a cell's value: numbers in full, dates by ISO 8601, a percentage beside the number it is."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() | Decimal():
            return _number(value, number_format)
        case datetime.datetime():
            # A date without a time is stored as its midnight.
            midnight = value.time() == datetime.time() and not any(
                mark in number_format.lower() for mark in ("h", "ss")
            )
            return value.date().isoformat() if midnight else value.isoformat(" ")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return _duration(value)
        case _:
            return str(value)


def _number(value: int | float | Decimal, number_format: str) -> str:
    # Spreadsheet programs calculate with 15 digits and show no more.
    text = f"{value:.15g}" if isinstance(value, float) and not value.is_integer() else f"{value:.0f}"
    if isinstance(value, Decimal) or abs(value) >= 1e15:
        text = str(value)
    return f"{text} ({float(value) * 100:.10g}%)" if "%" in number_format else text


def _duration(value: datetime.timedelta) -> str:
    seconds = round(value.total_seconds())
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
