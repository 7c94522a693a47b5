"""Numbers as GAIA wants them: digits alone."""

from __future__ import annotations

import re

_CURRENCY = r"[$€£¥]|\b(?:USD|EUR|GBP|JPY|dollars?|euros?|pounds?)\b\.?"
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[, \u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?")


def bare_number(text: str) -> str:
    """Gives a text that is one number, with currency, percent sign or group marks, as bare digits.

    Any other text comes back as it is, without marks of emphasis around it. ``The total is 1,234.50 USD.`` counts as
    one number, ``3 of 4`` does not.
    """
    plain = text.strip().strip("*_`").strip()
    candidate = re.sub(_CURRENCY, "", plain.replace("\u2212", "-"), flags=re.IGNORECASE).replace("%", "").strip(" .")
    whole = _NUMBER.fullmatch(candidate)
    if whole is None and re.search(_CURRENCY, plain, re.IGNORECASE) and len(_NUMBER.findall(candidate)) == 1:
        whole = _NUMBER.search(candidate)
    if whole is None:
        return plain
    digits = re.sub(r"[, \u00a0\u202f]", "", whole.group())
    # A code such as 007 and a list such as 1,234 in a sequence stay as they are; a grouped or signed number does not.
    return (
        plain if digits.lstrip("+-").startswith("0") and digits.lstrip("+-").isdigit() and len(digits) > 1 else digits
    )
