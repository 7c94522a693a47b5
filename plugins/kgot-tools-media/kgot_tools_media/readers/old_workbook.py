"""Excel workbooks of the format before 2007 (.xls)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xlrd

from kgot_tools_media.colours import colour_name
from kgot_tools_media.grid import Cell, Sheet, sheet_parts
from kgot_tools_media.parts import CannotRead, Fact, Note, Options, Part
from kgot_tools_media.readers.values import shown


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the sheets; this format's formulas are not read, only their values."""
    try:
        book = xlrd.open_workbook(path, formatting_info=True)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise CannotRead("is protected by a password", "save it without one and give that file") from None
        raise CannotRead(f"is damaged and cannot be opened: {error}", "ask for the file again") from None
    yield Fact(f"{book.nsheets} sheets: {', '.join(book.sheet_names())}")
    yield Note("of this old format only values and colours are read, no formulas")
    for sheet in book.sheets():
        rows: dict[int, dict[int, Cell]] = {}
        for number in range(sheet.nrows):
            for place, cell in enumerate(sheet.row(number)):
                colour = _fill(book, cell)
                found = Cell(_value(book, cell), {"Colours": colour} if colour else {})
                if found.value or found.marks:
                    rows.setdefault(number + 1, {})[place + 1] = found
        merged = [(top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells]
        hidden_rows = [number + 1 for number, info in sheet.rowinfo_map.items() if info.hidden]
        hidden_columns = [place + 1 for place, info in sheet.colinfo_map.items() if info.hidden]
        yield from sheet_parts(
            Sheet(sheet.name, rows, sorted(merged), sorted(hidden_rows), sorted(hidden_columns), sheet.visibility != 0)
        )


def _value(book: Any, cell: Any) -> str:
    if cell.ctype == xlrd.XL_CELL_DATE:
        form = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
        return shown(xlrd.xldate_as_datetime(cell.value, book.datemode), form)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return shown(bool(cell.value))
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return shown(cell.value, book.format_map[book.xf_list[cell.xf_index].format_key].format_str)
    return shown(cell.value)


def _fill(book: Any, cell: Any) -> str:
    if cell.xf_index is None:
        return ""
    background = book.xf_list[cell.xf_index].background
    rgb = book.colour_map.get(background.pattern_colour_index)
    if not background.fill_pattern or rgb is None:
        return ""
    return colour_name("".join(f"{part:02X}" for part in rgb))
