"""EPUB books: chapters in the order of reading."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from lxml import etree

from kgot_tools_media.markdown import markdown_parts
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.html import parsed, to_markdown
from kgot_tools_media.readers.xml import parser
from kgot_tools_media.text import decode

_ANY = "//*[local-name()='{}']"


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the chapters."""
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
        if "META-INF/encryption.xml" in names and "META-INF/rights.xml" in names:
            raise CannotRead("is protected against copying (DRM)", "a copy without the protection can be read")
        package_name = _one(book, "META-INF/container.xml", "rootfile").get("full-path") or ""
        package = etree.fromstring(book.read(package_name), parser())
        for name in ("title", "creator", "date"):
            for found in package.xpath(_ANY.format(name))[:3]:
                if found.text:
                    yield Fact(f"{name}: {found.text.strip()}")
        items = {item.get("id"): item.get("href") for item in package.xpath(_ANY.format("item"))}
        spine = [items.get(entry.get("idref")) for entry in package.xpath(_ANY.format("itemref"))]
        yield Fact(f"{len(spine)} chapters")
        missing = []
        for number, href in enumerate(spine, 1):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(package_name), unquote(href or "")))
            if name not in names:
                missing.append(str(number))
                continue
            yield from _chapter(book.read(name), number)
        if missing:
            yield Note("chapters that the book names but does not hold: " + ", ".join(missing))


def _chapter(data: bytes, number: int) -> Iterator[Part]:
    soup = parsed(decode(data).text)
    heading = soup.find(["h1", "h2"]) or soup.title
    title = heading.get_text(" ", strip=True) if heading else ""
    section = f"chapter {number}" + (f" ({title})" if title else "")
    for part in markdown_parts(to_markdown(soup)):
        yield Part(part.text, section)


def _one(book: zipfile.ZipFile, name: str, element: str) -> etree._Element:
    found = etree.fromstring(book.read(name), parser()).xpath(_ANY.format(element))
    if not found:
        raise CannotRead("is damaged: it does not say what it holds")
    first: etree._Element = found[0]
    return first
