"""HTML to Markdown, with tables, lists and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from markdownify import MarkdownConverter as _Untyped

from kgot_tools_media.markdown import header, markdown_parts, row
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.text import decode

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_NUMBERS = ("colspan", "rowspan", "start")
_SILENT = ("script", "style", "noscript", "template")


MarkdownConverter: Any = _Untyped  # its methods are found by their names, which its types do not know


class _Converter(MarkdownConverter):  # type: ignore[misc]
    """Markdown with tables that keep each cell in its column, cells over several rows or columns included."""

    def convert_table(self, el: Any, text: str, parent_tags: Any) -> str:
        grid = _grid(el, lambda found: self.process_tag(found, {"td"}).strip())
        if not grid:
            return text
        caption = el.find("caption")
        title = f"{caption.get_text(' ', strip=True)}\n\n" if caption else ""
        lines = [header(grid[0]), *map(row, grid[1:])]
        return f"\n\n{title}" + "\n".join(lines) + "\n\n"

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        return re.sub(r"\s*\n\s*", "\n", text.strip())

    convert_th = convert_td

    def convert_br(self, el: Any, text: str, parent_tags: Any) -> str:
        return "\n" if {"td", "th"} & set(parent_tags) else str(super().convert_br(el, text, parent_tags))

    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:
        described = el.get("alt") or ""
        return f"[image: {described}]" if described else ""


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the page."""
    data = path.read_bytes()
    declared = _CHARSET.search(data[:4_096])
    decoded = decode(data, declared.group(1).decode() if declared else "")
    soup = parsed(decoded.text)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    if title:
        yield Fact(f"title: {title}")
    yield decoded.fact
    text = to_markdown(soup)
    if not text.strip():
        yield Note("the page holds no text: a script may write it, and then a browser is needed")
    yield from markdown_parts(text)


def parsed(text: str) -> BeautifulSoup:
    """Reads HTML, also where it says that it is XML."""
    return BeautifulSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", text), "lxml")


def to_markdown(html: BeautifulSoup | str) -> str:
    """Turns HTML into Markdown."""
    soup = parsed(html) if isinstance(html, str) else html
    for element in soup(_SILENT):
        element.decompose()
    if soup.title:
        soup.title.decompose()
    for name in _NUMBERS:
        for element in soup.find_all(True, attrs={name: True}):
            # The converter takes ² for a number, and fails on it.
            if not re.fullmatch(r"\s*[0-9]{1,9}\s*", str(element[name])):
                del element[name]
    converter = _Converter(
        heading_style="ATX", bullets="-", escape_misc=False, escape_underscores=False, escape_asterisks=False
    )
    return re.sub(r"\n{3,}", "\n\n", str(converter.convert_soup(soup))).strip()


def _grid(table: Any, text_of: Any) -> list[list[str]]:
    """Lays a table out; a cell that spans several rows or columns is repeated in each of them."""
    rows = [line for line in table.find_all("tr") if line.find_parent("table") is table]
    grid: list[dict[int, str]] = [{} for _ in rows]
    for number, line in enumerate(rows):
        place = 0
        for found in line.find_all(["td", "th"], recursive=False):
            while place in grid[number]:
                place += 1
            wide, high = _span(found, "colspan"), _span(found, "rowspan")
            text = text_of(found)
            for below in grid[number : number + high]:
                below.update({place + offset: text for offset in range(wide)})
            place += wide
    width = max((max(line, default=-1) + 1 for line in grid), default=0)
    return [[line.get(place, "") for place in range(width)] for line in grid if line]


def _span(found: Any, name: str) -> int:
    value = str(found.get(name, "1")).strip()
    return min(max(int(value), 1), 1_000) if value.isdecimal() else 1
