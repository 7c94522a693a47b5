"""Keeps what only a server may know out of everything that comes back from it."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[secret]"
SHORTEST = 6
LONGEST_WORD = 9
_NAMES = re.compile(r"(^|_)(pass(word|wd|phrase)?|secret|token|credentials?|(api)?key|auth(orization)?|pat)$")
_SCHEME = re.compile(r"(?i)^(bearer|basic|token)\s+(\S.*)$")


def is_secret_name(name: str) -> bool:
    """Tells by the name of a variable that its value is secret."""
    return _NAMES.search(name.lower().replace("-", "_")) is not None


class Scrubber:
    """Takes secrets out of texts.

    Args:
        secrets: Values of variables and headers; short ones and plain words, such as ``true`` or ``production``, are
            taken for settings, since hiding them would spoil every text.
    """

    __slots__ = ("_hidden",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        found = {part for secret in secrets for part in _parts(secret)}
        self._hidden = sorted((text for text in found if _worth_hiding(text)), key=lambda text: (-len(text), text))

    def __repr__(self) -> str:
        return f"Scrubber({len(self._hidden)} secrets)"

    def clean(self, text: str) -> str:
        """Gives a text without the secrets."""
        for secret in self._hidden:
            text = text.replace(secret, HIDDEN)
        return text


def _parts(secret: str) -> Iterable[str]:
    text = secret.strip()
    yield text
    if scheme := _SCHEME.match(text):
        yield scheme[2].strip()
    if "\n" in text or '"' in text or "\\" in text:  # as it stands in JSON
        yield text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _worth_hiding(text: str) -> bool:
    return len(text) >= SHORTEST and not (text.isalpha() and len(text) <= LONGEST_WORD)
