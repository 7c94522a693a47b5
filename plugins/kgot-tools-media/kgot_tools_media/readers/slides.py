"""PowerPoint presentations: text, tables, the data of charts, and notes of each slide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.exc import PackageNotFoundError

from kgot_tools_media.markdown import table
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.charts import chart_text
from kgot_tools_media.readers.xml import parser

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def read(source: Path | BinaryIO, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the slides."""
    try:
        presentation = Presentation(str(source) if isinstance(source, Path) else source)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
    slides = list(presentation.slides)
    yield Fact(f"{len(slides)} slides")
    pictures = 0
    for number, slide in enumerate(slides, 1):
        hidden = slide.element.get("show") == "0"
        blocks = [f"## Slide {number}" + (" (hidden)" if hidden else "")]
        for shape in _in_order(slide.shapes):
            pictures += shape.shape_type == MSO_SHAPE_TYPE.PICTURE
            blocks += filter(None, [_shown(shape, shape == slide.shapes.title)])
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            blocks += [f"Notes: {notes}"] if notes else []
        yield Part("\n\n".join(blocks) + "\n", "", "slide", number, number)
    if pictures:
        yield Note(f"{pictures} pictures in it are not read; extract_archive with this file gives them")


def _in_order(shapes: Any) -> list[Any]:
    """Orders shapes as they are read, from the top to the bottom; those of groups come in the group's place."""
    found: list[Any] = []
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        found += _in_order(shape.shapes) if shape.shape_type == MSO_SHAPE_TYPE.GROUP else [shape]
    return found


def _shown(shape: Any, title: bool) -> str:
    if getattr(shape, "has_chart", False) and shape.has_chart:
        # Only the chart's own XML: a value that is no number must not lose the slide.
        return chart_text(etree.fromstring(shape.chart.part.blob, parser()))
    if getattr(shape, "has_table", False) and shape.has_table:
        return _table(shape.table)
    if shape.has_text_frame:
        lines = [_line(paragraph) for paragraph in shape.text_frame.paragraphs]
        text = "\n".join(line for line in lines if line.strip())
        return f"### {' '.join(text.split())}" if title and text else text
    if shape.shape_type == MSO_SHAPE_TYPE.PICTURE:
        described = shape._element._nvXxPr.cNvPr.get("descr") or shape.name
        return f"[image: {described}]"
    return _diagram(shape)


def _line(paragraph: Any) -> str:
    text = str(paragraph.text).replace("\x0b", "\n")
    level = int(paragraph.level)
    return "  " * level + ("- " if level and text.strip() else "") + text


def _table(found: Any) -> str:
    """Writes a table; a cell that others are merged into is repeated in their places."""
    rows: list[list[str]] = []
    for high, line in enumerate(found.rows):
        rows.append([])
        for wide, cell in enumerate(line.cells):
            if cell.is_spanned:
                origin = next(
                    (
                        other
                        for up in range(high, -1, -1)
                        for left in range(wide, -1, -1)
                        if (other := found.cell(up, left)).is_merge_origin
                        and up + other.span_height > high
                        and left + other.span_width > wide
                    ),
                    cell,
                )
                rows[-1].append(origin.text)
            else:
                rows[-1].append(cell.text)
    return table(rows)


def _diagram(shape: Any) -> str:
    """Gives the words of a diagram (SmartArt), which stand in a file of their own."""
    relation = shape._element.xpath(".//*[local-name()='relIds']/@*[local-name()='dm']")
    if not relation:
        return ""
    part = shape.part.related_part(relation[0])
    points = etree.fromstring(part.blob, parser()).iter(f"{_A}p")
    texts = ["".join(run.text or "" for run in point.iter(f"{_A}t")).strip() for point in points]
    return "\n".join(f"- {text}" for text in texts if text)
