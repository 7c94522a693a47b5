"""Keeps keys out of everything that is shown, raised or recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHORTEST = 6
_KINDS = (
    (re.compile(r"\b(?:sk-|gsk_|xai-|hf_)[\w*.-]{6,}"), "[key]"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w+/=.~-]{6,}"), r"\1 [key]"),
    (re.compile(r"(?i)([?&](?:key|token|password)=)[^\s\"'&,;]+"), r"\1[key]"),
    (re.compile(r"(?i)(\b(?:api[_-]?key|access_token)[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]+"), r"\1[key]"),
    (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^/\s@]+@"), r"\1"),
)


class Redactor:
    """Removes known secrets, and what looks like one, from texts.

    Args:
        secrets: Secrets in plain text; very short ones are taken for placeholders.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def clean(self, text: str) -> str:
        """Gives the text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        for pattern, shown in _KINDS:
            text = pattern.sub(shown, text)
        return text

    def line(self, text: str, length: int = 300) -> str:
        """Gives the text without secrets on one line, cut to a length."""
        flat = " ".join(self.clean(text).split())
        return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"
