"""What an Excel workbook says of its cells beside their values: formulas, colours, comments, links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree
from openpyxl.styles.colors import COLOR_INDEX

from kgot_tools_media.colours import colour_name, tinted
from kgot_tools_media.readers.formulas import FORMULAS, origin_of
from kgot_tools_media.readers.xml import parser

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
# The order in which cells count the theme's colours is not the one in which the theme lists them.
_THEME = (
    "lt1",
    "dk1",
    "lt2",
    "dk2",
    "accent1",
    "accent2",
    "accent3",
    "accent4",
    "accent5",
    "accent6",
    "hlink",
    "folHlink",
)

_ORDINARY = "black #000000"


class Marks:
    """Reads marks from a workbook that was opened with its formulas.

    Args:
        workbook: The workbook.
    """

    def __init__(self, workbook: Any) -> None:
        self._theme = _theme_colours(workbook.loaded_theme)

    def of_sheet(self, sheet: Any) -> Mapping[tuple[int, int], Mapping[str, str]]:
        """Gives the marks of a sheet's cells by row and column."""
        found: dict[tuple[int, int], dict[str, str]] = {}
        groups: dict[tuple[int, int], tuple[str, str]] = {}
        for place in sorted(sheet._cells):
            cell = sheet._cells[place]
            marks = {}
            if cell.data_type == "f":
                marks[FORMULAS] = origin_of(groups, place, formula_text(cell.value))
            if filled := self._fill(cell):
                marks["Colours"] = filled
            written = self._colour(cell.font.color if cell.font else None)
            if written and written != _ORDINARY:
                marks["Colours of the text"] = written
            if cell.comment is not None:
                marks["Comments"] = " ".join(str(cell.comment.text).split())
            if cell.hyperlink is not None and cell.hyperlink.target:
                marks["Links"] = str(cell.hyperlink.target)
            if marks:
                found[place] = marks
        return found

    def _fill(self, cell: Any) -> str:
        if not cell.has_style or cell.fill is None or cell.fill.fill_type in (None, "none"):
            return ""
        return self._colour(cell.fill.fgColor)

    def _colour(self, colour: Any) -> str:
        if colour is None:
            return ""
        code = ""
        if colour.type == "rgb" and isinstance(colour.rgb, str):
            code = colour.rgb[-6:]
        elif colour.type == "indexed" and colour.indexed < len(COLOR_INDEX):
            code = COLOR_INDEX[colour.indexed][-6:]
        elif colour.type == "theme" and colour.theme < len(self._theme):
            code = self._theme[colour.theme]
        if len(code) != 6:
            return ""
        return colour_name(tinted(code, colour.tint) if colour.tint else code)


def _theme_colours(theme: bytes | None) -> list[str]:
    if not theme:
        return []
    root = etree.fromstring(theme, parser())
    scheme = root.find(f".//{_A}clrScheme")
    colours = {} if scheme is None else {etree.QName(found).localname: found for found in scheme}
    codes = []
    for name in _THEME:
        inner = next(iter(colours[name]), None) if name in colours else None
        codes.append("" if inner is None else inner.get("lastClr") or inner.get("val") or "")
    return codes


def formula_text(value: Any) -> str:
    """Gives a formula as it is written, also one of a whole range."""
    text = getattr(value, "text", None) or getattr(value, "ref", None) or value
    return str(text) if str(text).startswith("=") else f"={text}"
