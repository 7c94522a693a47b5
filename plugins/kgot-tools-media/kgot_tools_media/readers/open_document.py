"""OpenDocument files (LibreOffice): texts, spreadsheets, presentations."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree
from odfdo import Document

from kgot_tools_media.colours import colour_name
from kgot_tools_media.grid import Cell, Sheet, sheet_parts
from kgot_tools_media.markdown import markdown_parts, table
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.formulas import FORMULAS, origin_of
from kgot_tools_media.readers.values import shown
from kgot_tools_media.readers.xml import parser

MOST_CELLS = 2_000_000
# Places for a page's number and date, which hold nothing of the document.
_FIELDS = frozenset({"<number>", "<date/time>", "<header>", "<footer>"})
_REFERENCE = re.compile(r"\[\.?([^\]]+)\]")


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the text, the sheets or the slides."""
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        manifest = packed.read("META-INF/manifest.xml") if "META-INF/manifest.xml" in names else b""
    if b"encryption-data" in manifest:
        raise CannotRead("is protected by a password", "save it without one and give that file")
    document = Document(path)
    kind = document.get_type()
    if kind.startswith("spreadsheet"):
        yield from _sheets(document)
    elif kind.startswith(("presentation", "drawing")):
        yield from _slides(document)
    else:
        text = document.to_markdown()
        yield from markdown_parts(text if isinstance(text, str) else "\n\n".join(map(str, text)))
    for number, text in enumerate(_charts(path), 1):
        yield Part(f"{text}\n", f"chart {number}")
    pictures = sum(name.startswith("Pictures/") for name in names)
    if pictures:
        yield Note(f"{pictures} pictures in it are not read; extract_archive with this file gives them")


def _sheets(document: Document) -> Iterator[Part | Fact | Note]:
    tables: list[Any] = list(document.body.tables)
    yield Fact(f"{len(tables)} sheets: {', '.join(str(sheet.name) for sheet in tables)}")
    for sheet in tables:
        rows: dict[int, dict[int, Cell]] = {}
        merged: list[tuple[int, int, int, int]] = []
        formulas: dict[tuple[int, int], tuple[str, str]] = {}
        number = 1
        hidden_rows: list[int] = []
        for line in sheet.get_elements("table:table-row | table:table-header-rows/table:table-row"):
            repeated = int(line.get_attribute("table:number-rows-repeated") or 1)
            cells = dict(_cells(document, line, number, merged, formulas))
            if line.get_attribute("table:visibility"):
                hidden_rows += range(number, number + min(repeated, 1_000))
            if cells:
                if repeated * len(cells) > MOST_CELLS:
                    raise CannotRead(f"has one row {repeated:,} times, more than can be read")
                rows |= {number + offset: cells for offset in range(repeated)}
            number += repeated
        yield from sheet_parts(Sheet(str(sheet.name), rows, merged, hidden_rows))


def _cells(
    document: Document,
    line: Any,
    number: int,
    merged: list[tuple[int, int, int, int]],
    formulas: dict[tuple[int, int], tuple[str, str]],
) -> Iterator[tuple[int, Cell]]:
    place = 1
    for found in line.get_elements("table:table-cell | table:covered-table-cell"):
        repeated = int(found.get_attribute("table:number-columns-repeated") or 1)
        marks: dict[str, str] = {}
        formula = found.get_attribute("table:formula")
        if formula:
            # of:=[.B2]+[Other.C3] is =B2+Other.C3 to the user.
            plain = _REFERENCE.sub(lambda found: found.group(1).replace(":.", ":"), str(formula).partition(":")[2])
            marks[FORMULAS] = origin_of(formulas, (number, place), plain or str(formula))
        colour = _fill(document, found.get_attribute("table:style-name"))
        value = _value(found)
        if colour and (value or repeated < 200):
            marks["Colours"] = colour
        high = int(found.get_attribute("table:number-rows-spanned") or 1)
        wide = int(found.get_attribute("table:number-columns-spanned") or 1)
        if (high > 1 or wide > 1) and found.tag == "table:table-cell":
            merged.append((number, place, number + high - 1, place + wide - 1))
        if value or marks:
            for offset in range(min(repeated, 16_384)):
                yield place + offset, Cell(value, marks)
        place += repeated


def _value(found: Any) -> str:
    kind = found.get_attribute("office:value-type")
    if kind == "percentage":
        return shown(float(found.get_attribute("office:value") or 0), "%")
    if kind in ("float", "currency"):
        return shown(float(found.get_attribute("office:value") or 0))
    if kind == "boolean":
        return str(found.get_attribute("office:boolean-value") or "").upper()
    if kind in ("date", "time"):
        return str(found.get_attribute(f"office:{kind}-value") or "").removesuffix("T00:00:00")
    return "\n".join(str(paragraph.text_recursive) for paragraph in found.get_elements("text:p"))


def _fill(document: Document, style: object) -> str:
    if not style:
        return ""
    found: Any = document.get_style("table-cell", str(style))
    code = (found.get_properties("table-cell") or {}).get("fo:background-color") if found is not None else None
    return colour_name(str(code)[1:]) if code and str(code).startswith("#") else ""


def _slides(document: Document) -> Iterator[Part | Fact]:
    pages: list[Any] = list(document.body.get_elements("draw:page"))
    yield Fact(f"{len(pages)} slides")
    for number, page in enumerate(pages, 1):
        notes: list[Any] = list(page.get_elements("presentation:notes"))
        said = [_text(note) for note in notes]
        for note in notes:
            note.delete()
        blocks = [f"## Slide {number}", _text(page), *(f"Notes: {text}" for text in said if text)]
        yield Part("\n\n".join(filter(None, blocks)) + "\n", "", "slide", number, number)


def _charts(path: Path) -> Iterator[str]:
    """Gives the data of charts, each of which is a small document inside the file."""
    with zipfile.ZipFile(path) as packed:
        for name in sorted(name for name in packed.namelist() if re.fullmatch(r"Object \d+/content\.xml", name)):
            root = etree.fromstring(packed.read(name), parser())
            if not root.xpath("//*[local-name()='chart']"):
                continue
            titles = root.xpath("//*[local-name()='chart']/*[local-name()='title']//text()")
            rows = [
                ["".join(cell.itertext()).strip() for cell in line.xpath("./*[local-name()='table-cell']")]
                for line in root.xpath("//*[local-name()='table-row']")
            ]
            yield f"Chart: {''.join(titles).strip()}\n\n{table(rows)}"


def _text(element: Any) -> str:
    found = element.get_elements("descendant::text:p | descendant::text:h")
    texts = [str(paragraph.text_recursive).strip() for paragraph in found]
    return "\n".join(text for text in texts if text and text not in _FIELDS)
