"""From bytes to text, as browsers do it."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
# What pages call Latin-1 or ASCII is Windows-1252, and what they call GB2312 is its larger successor.
_MEANT = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
}


def text_of(body: bytes, charset: str = "") -> str:
    """Decodes a page: by its mark, as the server says, as the page says, as UTF-8, else as Windows-1252.

    Args:
        body: The page.
        charset: Encoding as the server says; empty where it does not.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    declared = _DECLARED.search(body[:4_096])
    said = [charset, declared[1].decode("ascii", "replace") if declared else "", "utf-8"]
    for name in filter(None, said):
        try:
            return body.decode(_MEANT.get(name.lower(), name))
        except (UnicodeDecodeError, LookupError):
            continue
    if _mostly_valid(body):
        return body.decode("utf-8", "replace")
    return body.decode("cp1252", "replace")


def _mostly_valid(body: bytes) -> bool:
    """Tells whether a text is UTF-8 with a few broken places, such as one that was cut."""
    text = body.decode("utf-8", "replace")
    strange = text.count("\ufffd")
    return strange * 20 <= sum(char > "\x7f" for char in text)
