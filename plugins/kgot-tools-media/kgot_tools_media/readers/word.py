"""Word documents: text, lists, tables, notes, comments, equations, charts, heads and feet of pages."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import mammoth
from lxml import etree

from kgot_tools_media.markdown import markdown_parts
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.charts import chart_text
from kgot_tools_media.readers.equations import equations_as_text
from kgot_tools_media.readers.html import to_markdown
from kgot_tools_media.readers.xml import parser

_MAIN = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STYLES = "comment-reference => sup\nu => em"


def read(source: Path | BinaryIO, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the text."""
    with zipfile.ZipFile(source) as packed:
        names = packed.namelist()
        if _MAIN not in names:
            raise CannotRead("is damaged: it holds no text of a document", "ask for the file again")
        html = mammoth.convert_to_html(
            _with_equations(packed), style_map=_STYLES, convert_image=mammoth.images.img_element(_no_data)
        ).value
        pictures = sum(name.startswith("word/media/") for name in names)
        if pictures:
            yield Note(f"{pictures} pictures in it are not read; extract_archive with this file gives them")
        text = to_markdown(html)
        yield from markdown_parts(text)
        for kind, title in (("header", "head of pages"), ("footer", "foot of pages")):
            lines = [
                line for name in names if re.fullmatch(rf"word/{kind}\d*\.xml", name) for line in _lines(packed, name)
            ]
            if lines:
                yield Part("\n".join(dict.fromkeys(lines)) + "\n", title)
        charts = sorted(name for name in names if re.fullmatch(r"word/charts/chart\d*\.xml", name))
        for number, name in enumerate(charts, 1):
            yield Part(chart_text(etree.fromstring(packed.read(name), parser())) + "\n", f"chart {number}")
        if not text.strip() and not pictures and not charts:
            yield Note("it holds no text")


def _no_data(image: object) -> dict[str, str]:
    return {"src": ""}


def _with_equations(packed: zipfile.ZipFile) -> io.BytesIO:
    """Gives the document with its equations as text, which the converter would leave out."""
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_STORED) as target:
        for info in packed.infolist():
            if info.filename.startswith("word/media/"):
                target.writestr(info.filename, b"")
            else:
                data = packed.read(info)
                target.writestr(info.filename, equations_as_text(data) if info.filename == _MAIN else data)
    copy.seek(0)
    return copy


def _lines(packed: zipfile.ZipFile, name: str) -> Iterator[str]:
    root = etree.fromstring(packed.read(name), parser())
    for paragraph in root.iter(f"{_W}p"):
        text = "".join(str(run.text or "") for run in paragraph.iter(f"{_W}t")).strip()
        if text:
            yield text
