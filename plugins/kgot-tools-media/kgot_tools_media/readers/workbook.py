"""Excel workbooks: values with their formulas, colours, comments, merged and hidden cells, charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from lxml import etree
from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from kgot_tools_media.grid import Cell, Sheet, sheet_parts
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.cell_marks import Marks, formula_text
from kgot_tools_media.readers.charts import chart_text
from kgot_tools_media.readers.formulas import FORMULAS
from kgot_tools_media.readers.values import shown
from kgot_tools_media.readers.xml import parser


def _opened(source: Path | BinaryIO, *, data_only: bool) -> Any:
    if not isinstance(source, Path):
        return load_workbook(source, data_only=data_only)
    # Of a path the library would believe the ending, which may be wrong.
    with source.open("rb") as file:
        return load_workbook(file, data_only=data_only)


def read(source: Path | BinaryIO, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the sheets."""
    try:
        # What a formula gave the last time, and the formulas: a library reads one or the other.
        values, formulas = _opened(source, data_only=True), _opened(source, data_only=False)
    except (InvalidFileException, BadZipFile, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
    yield Fact(f"{len(values.sheetnames)} sheets: {', '.join(values.sheetnames)}")
    marks = Marks(formulas)
    pictures = uncalculated = 0
    for title in values.sheetnames:
        sheet = values[title]
        if not hasattr(sheet, "_cells"):
            yield Part("A sheet that is only a chart.\n", f"sheet {title}")
            continue
        pictures += len(sheet._images)
        rows = _rows(sheet, formulas[title], marks.of_sheet(formulas[title]))
        uncalculated += sum(cell.value.startswith("=") for cells in rows.values() for cell in cells.values())
        yield from sheet_parts(
            Sheet(
                title,
                rows,
                merged=sorted(
                    (area.min_row, area.min_col, area.max_row, area.max_col) for area in sheet.merged_cells.ranges
                ),
                hidden_rows=sorted(number for number, found in sheet.row_dimensions.items() if found.hidden),
                hidden_columns=list(_hidden_columns(sheet)),
                hidden=sheet.sheet_state != "visible",
            )
        )
    if uncalculated:
        yield Note(
            f"{uncalculated:,} formulas have no value, since no spreadsheet program has calculated the file;"
            " these cells show the formula itself"
        )
    for number, text in enumerate(_charts(source), 1):
        yield Part(text + "\n", f"chart {number}")
    if pictures:
        yield Note(f"{pictures} pictures in it are not read; extract_archive with this file gives them")


def _rows(
    sheet: Any, formulas: Any, marked: Mapping[tuple[int, int], Mapping[str, str]]
) -> Mapping[int, Mapping[int, Cell]]:
    """Gives the rows that hold anything; a sheet with one far cell would else be walked through whole."""
    found: dict[int, dict[int, Cell]] = {}
    for place in sorted(sheet._cells):
        cell = sheet._cells[place]
        marks = dict(marked.get(place, {}))
        value = shown(cell.value, cell.number_format)
        if cell.value is None and marks.pop(FORMULAS, ""):
            value = formula_text(formulas._cells[place].value)
        if value or marks:
            found.setdefault(place[0], {})[place[1]] = Cell(value, marks)
    return found


def _hidden_columns(sheet: Any) -> Iterator[int]:
    for found in sheet.column_dimensions.values():
        if found.hidden:
            yield from range(found.min, min(found.max, found.min + 100) + 1)


def _charts(source: Path | BinaryIO) -> Iterator[str]:
    with ZipFile(source) as packed:
        names = [name for name in packed.namelist() if re.fullmatch(r"xl/charts/chart\d*\.xml", name)]
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield chart_text(etree.fromstring(packed.read(name), parser()))
