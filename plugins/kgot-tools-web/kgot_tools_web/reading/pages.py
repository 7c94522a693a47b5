"""A page: fetched, rendered by a browser where it has to be, and read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from kgot_core.contracts.tools import Source
from kgot_tools_web.net.cache import Fetched
from kgot_tools_web.reading.encodings import text_of
from kgot_tools_web.reading.html import Html, read_html

LONGEST_HTML = 3_000_000
_HTML_KINDS = ("text/html", "application/xhtml+xml", "")
_TEXT_KINDS = (
    "text/plain",
    "text/markdown",
    "text/x-markdown",
    "application/json",
    "application/ld+json",
    "application/xml",
    "text/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/javascript",
    "text/css",
)


@dataclass(frozen=True)
class Page:
    """A page as a model gets it.

    Attributes:
        url: Its address after redirects.
        title: Its title.
        text: Markdown.
        at: When it was fetched, ISO 8601.
        sha256: Hash of what was fetched.
        notes: What one has to know about it.
    """

    url: str
    title: str
    text: str
    at: str = ""
    sha256: str = ""
    notes: tuple[str, ...] = field(default=())

    def source(self, place: str = "") -> Source:
        """Gives the page as the source of a result."""
        return Source(self.url, self.title, place, self.at, self.sha256)

    def to_json(self) -> dict[str, Any]:
        """Gives it as it is recorded."""
        return {**vars(self), "notes": list(self.notes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Page:
        """Reads it from a record."""
        return cls(**{**data, "notes": tuple(data["notes"])})


def kind_of(fetched: Fetched) -> str:
    """Tells what was fetched: ``html``, ``text`` or ``file``. Its content decides, then what the server says."""
    head = fetched.body[:1_024]
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:100].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "html"
    if b"%PDF-" in head[:64] or b"\x00" in head or head.startswith((b"PK\x03\x04", b"{\\rtf", b"\x1f\x8b")):
        wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        return "text" if wide and fetched.kind.startswith("text/") else "file"
    if fetched.kind in _HTML_KINDS and (fetched.kind or start.startswith(b"<")):
        return "html"
    return "text" if fetched.kind in (*_TEXT_KINDS, "") else "file"


async def read_page(fetched: Fetched) -> tuple[Page, Html | None]:
    """Reads what is HTML or text, on a thread since a long page takes a while; with the HTML, where it is some."""
    return await asyncio.to_thread(_read, fetched)


def _read(fetched: Fetched) -> tuple[Page, Html | None]:
    text = text_of(fetched.body, fetched.charset)
    notes = (fetched.note,) if fetched.note else ()
    if len(text) > LONGEST_HTML:
        text = text[:LONGEST_HTML]
        notes = (*notes, f"only the first {LONGEST_HTML:,} characters of the page were read")
    if kind_of(fetched) == "html":
        html = read_html(text, fetched.final)
        notes = (*notes, "cells of its tables are not repeated in all places that they span") if html.crowded else notes
        return Page(fetched.final, html.title, html.text, fetched.at, fetched.sha256, notes), html
    return Page(fetched.final, "", text.replace("\r\n", "\n").strip(), fetched.at, fetched.sha256, notes), None
