"""A dialect as a Markdown page, so that its guide and examples are written and read as text.

Sections are headed ``# Guide``, ``# Write``, ``# Query`` and ``# Invalid``; a backend may have further ones. Examples
are fenced blocks; under ``# Query`` each stands between its question and the lines ``Answer: ...`` and ``Basis: name |
name``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgot_core.contracts.dialect import QueryExample

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class DialectPage:
    """What a page holds.

    Attributes:
        sections: Text of each section by its heading.
        write_examples: Blocks of ``Write``, in order.
        query_examples: Examples of ``Query``, in order.
        invalid_example: First block of ``Invalid``.
    """

    sections: Mapping[str, str]
    write_examples: tuple[str, ...]
    query_examples: tuple[QueryExample, ...]
    invalid_example: str

    @property
    def guide(self) -> str:
        """Text of ``Guide``."""
        return self.sections["Guide"]


def read_dialect_page(text: str, fence: str) -> DialectPage:
    """Reads a page.

    Args:
        text: The page.
        fence: Language word of its fenced blocks.

    Raises:
        ValueError: A section is missing, or has no example.
    """
    parts = _HEADING.split(_without_fences(text))
    places = [match.start() for match in _HEADING.finditer(_without_fences(text))]
    ends = [*places[1:], len(text)]
    sections = {
        heading: text[start:end].partition("\n")[2].strip()
        for heading, start, end in zip(parts[1::2], places, ends, strict=True)
    }
    missing = [name for name in ("Guide", "Write", "Query", "Invalid") if name not in sections]
    if missing:
        raise ValueError(f"the page of the dialect has no section {', '.join(missing)}")
    writes, queries = _blocks(sections["Write"], fence), tuple(_queries(sections["Query"], fence))
    invalid = _blocks(sections["Invalid"], fence)
    for name, found in (("Write", writes), ("Query", queries), ("Invalid", invalid)):
        if not found:
            raise ValueError(f"section {name} of the page of the dialect has no example in {fence}")
    return DialectPage(sections, tuple(writes), queries, invalid[0])


def _blocks(section: str, fence: str) -> list[str]:
    found = re.finditer(rf"^```{re.escape(fence)}\n(?P<code>.*?)\n```$", section, re.MULTILINE | re.DOTALL)
    return [match["code"] for match in found]


def _queries(section: str, fence: str) -> list[QueryExample]:
    pattern = (
        rf"^(?P<question>\S[^\n]*)\n\n```{re.escape(fence)}\n(?P<code>.*?)\n```\n\n"
        r"Answer: (?P<answer>[^\n]+)\nBasis: (?P<basis>[^\n]+)$"
    )
    return [
        QueryExample(match["question"], match["code"], match["answer"], tuple(match["basis"].split(" | ")))
        for match in re.finditer(pattern, section, re.MULTILINE | re.DOTALL)
    ]


def _without_fences(text: str) -> str:
    """Blanks what stands in fenced blocks, at its length: a comment there is no heading."""
    return re.sub(r"^```.*?^```$", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.MULTILINE | re.DOTALL)
