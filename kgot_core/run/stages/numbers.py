"""Numbers as GAIA wants them: digits alone."""

from __future__ import annotations

import re
from decimal import Decimal

_CURRENCY = r"[$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF|dollars?|euros?|pounds?)\b\.?"
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[, \u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?")
_SPACES = re.compile(r"[, \u00a0\u202f]")


def bare_number(text: str) -> str:
    """Gives a text that is one number, with currency, percent sign or group marks, as bare digits.

    Any other text comes back as it is, without marks of emphasis around it. ``The total is 1,234.50 USD.`` counts as
    one number, ``3 of 4`` and ``$5 million`` do not.
    """
    plain = text.strip().strip("*_`").strip()
    candidate = re.sub(_CURRENCY, "", plain.replace("\u2212", "-"), flags=re.IGNORECASE).replace("%", "").strip(" .")
    whole = _NUMBER.fullmatch(candidate)
    if whole is None and re.search(_CURRENCY, plain, re.IGNORECASE):
        found = list(_NUMBER.finditer(candidate))
        # Nothing may follow that belongs to the number: a multiple, a unit, a letter.
        if len(found) == 1 and found[0].end() == len(candidate) and not candidate[: found[0].start()][-1:].isalnum():
            whole = found[0]
    if whole is None:
        return plain
    digits = _SPACES.sub("", whole.group())
    unsigned = digits.lstrip("+-")
    # A code such as 007 stays as it is.
    return plain if unsigned.startswith("0") and unsigned.isdigit() and len(unsigned) > 1 else digits


def same_number(text: str) -> str:
    """Gives one spelling for all texts of the same number, for counting them as one: ``1,234.50`` and ``1234.5``."""
    bare = bare_number(text)
    if not _NUMBER.fullmatch(bare):
        return bare
    if bare.lstrip("+-").startswith("0") and bare.lstrip("+-").isdigit():
        return bare
    return format(Decimal(bare).normalize(), "f")
