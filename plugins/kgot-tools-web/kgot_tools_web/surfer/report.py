"""The Surfer's report: what was found, and the pages and passages that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgot_core.contracts.prompts import tagged
from kgot_core.contracts.tools import Source
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.surfer.walking import Walk

LONGEST = 600
NOT_THERE = "not found word for word on that page"


@dataclass(frozen=True)
class Report:
    """What the Surfer hands over."""

    text: str
    sources: tuple[Source, ...]
    files: tuple[str, ...]


def report(final: Mapping[str, Any], walk: Walk) -> Report:
    """Writes a report; each passage is looked up on the page that it names.

    Args:
        final: Arguments of ``final_answer``.
        walk: The pages that were visited.
    """
    lines, cited = [], dict[str, Source]()
    for url, text in _passages(final.get("passages")):
        page = _visited(walk, url)
        if page is None:
            lines.append(f'- {url}: "{text}" (this page was not opened)')
            continue
        there = _plain(text) in _plain(page.text)
        lines.append(f'- {page.url} ({page.title}): "{text}"' + ("" if there else f" ({NOT_THERE})"))
        cited.setdefault(page.url, page.source(text[:120] if there else ""))
    others = [page for page, _ in walk.visited.values() if page.url not in cited]
    blocks = [tagged("report", str(final.get("answer", "")).strip())]
    if lines:
        blocks.append("It rests on:\n" + tagged("passages", "\n".join(lines)))
    if others:
        listed = "\n".join(f"- {page.url} ({page.title})" for page in others)
        blocks.append("Also opened:\n" + tagged("pages", listed) if lines else "Opened:\n" + tagged("pages", listed))
    if not walk.visited:
        blocks.append("No page was opened: this is not proved by any source.")
    sources = (*cited.values(), *(page.source() for page in others))
    return Report("\n\n".join(blocks), sources, tuple(walk.files))


def _passages(given: Any) -> Iterator[tuple[str, str]]:
    for item in given if isinstance(given, list) else []:
        if isinstance(item, Mapping) and item.get("url") and item.get("text"):
            yield " ".join(str(item["url"]).split()), " ".join(str(item["text"]).split())[:LONGEST]


def _visited(walk: Walk, url: str) -> Page | None:
    plain = url.partition("#")[0].rstrip("/")
    return next((page for known, (page, _) in walk.visited.items() if known.rstrip("/") == plain), None)


def _plain(text: str) -> str:
    """Gives a text without marks of Markdown and with single spaces, for comparing."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[*_`|#>\"“”]+", " ", text).casefold().split())
