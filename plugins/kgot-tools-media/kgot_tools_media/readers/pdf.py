"""PDF: text and tables page by page; scanned pages by character recognition where it is installed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pdfplumber
import pypdfium2
from pypdfium2 import PdfiumError

from kgot_tools_media.markdown import table
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part, numbers
from kgot_tools_media.recognition import Recogniser, recogniser

_LEAST = 3
_SCALE = 200 / 72


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the pages."""
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    try:
        pages = pypdfium2.PdfDocument(path, password=options.password or None)
    except PdfiumError as error:
        if "password" in str(error).lower():
            way_out = "it is another one than that given" if options.password else "give it as password"
            raise CannotRead("is protected by a password", way_out) from None
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
    yield Fact(f"{len(pages)} pages")
    title = pages.get_metadata_value("Title")
    if title:
        yield Fact(f"title: {title}")
    tables = _Tables(path, options.password)
    # Loaded when the first page without text comes.
    eyes = cache(recogniser if options.ocr else lambda: None)
    bare, read_by_eye = list[int](), list[int]()
    for number in range(1, len(pages) + 1):
        text = _page(pages[number - 1], tables, number)
        if len(text.strip()) < _LEAST:
            text = _recognised(pages[number - 1], eyes())
            (read_by_eye if text else bare).append(number)
        shown = text or "(no text on this page)"
        yield Part(f"## Page {number}\n\n{shown}\n", "", "page", number, number)
    if read_by_eye:
        yield Note(f"no text layer: {_listed(read_by_eye)} were read by character recognition, which may misread")
    if bare:
        yield Note(_without_text(bare, len(pages), eyes()))


def _without_text(bare: list[int], count: int, eyes: Recogniser | None) -> str:
    which = f"no text layer, {count} pages" if len(bare) == count else f"no text layer on {_listed(bare)}"
    if eyes is not None:
        return f"{which}, and character recognition finds no text on them either: they are blank or pictures"
    return (
        f"{which}: they are scanned pictures or blank; pip install 'kgot-tools-media[ocr]' reads scanned pages, or"
        " inspect_image with this file and its page looks at one"
    )


def _page(page: Any, tables: _Tables, number: int) -> str:
    """Gives a page's text, with tables in their places where these take the page's width."""
    text = page.get_textpage()
    height = page.get_height()
    whole = _clean(text.get_text_bounded())
    found = tables.of_page(number) if whole.strip() else []
    if not found:
        return whole
    blocks, top = [], 0.0
    for box, shown in found:
        blocks.append(_clean(text.get_text_bounded(bottom=height - box[1], top=height - top)))
        if top > box[1] or any(part.strip() for part in _beside(text, box, height)):
            # Text beside a table would be torn out of its order.
            return "\n\n".join([whole, *(f"A table of this page:\n\n{shown}" for _, shown in found)])
        blocks.append(shown)
        top = box[3]
    blocks.append(_clean(text.get_text_bounded(top=height - top)))
    return "\n\n".join(block for block in blocks if block.strip())


def _beside(text: Any, box: tuple[float, float, float, float], height: float) -> list[str]:
    area = {"bottom": height - box[3], "top": height - box[1]}
    return [text.get_text_bounded(right=box[0], **area), text.get_text_bounded(left=box[2], **area)]


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-\n").replace("\x02", "-").strip("\n")


class _Tables:
    """The tables of a PDF that are drawn with lines."""

    def __init__(self, path: Path, password: str) -> None:
        self._file: Any = pdfplumber.open(path, password=password)

    def of_page(self, number: int) -> list[tuple[tuple[float, float, float, float], str]]:
        """Gives the tables of a page from the top to the bottom: box and Markdown."""
        page = self._file.pages[number - 1]
        try:
            if not (page.lines or page.rects or page.curves):
                return []
            found = []
            for one in sorted(page.find_tables(), key=lambda one: one.bbox[1]):
                rows = [[text or "" for text in line] for line in one.extract()]
                if len(rows) > 1 and len(rows[0]) > 1 and any(any(line) for line in rows):
                    found.append((one.bbox, table(rows)))
            return found
        except Exception:  # a damaged drawing must not lose the page's text
            return []
        finally:
            page.close()


def _recognised(page: Any, eyes: Recogniser | None) -> str:
    if eyes is None:
        return ""
    return eyes.text(page.render(scale=_SCALE).to_pil())


def _listed(pages: list[int]) -> str:
    """Names pages: ``page 3``, ``pages 1 to 12``, ``pages 1, 4, 5``."""
    if pages == list(range(pages[0], pages[-1] + 1)):
        return numbers("page", pages[0], pages[-1])
    return "pages " + ", ".join(map(str, pages[:30])) + (", ..." if len(pages) > 30 else "")
