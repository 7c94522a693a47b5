"""CSV and its relatives: encoding and dialect are found, each cell is kept as it is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kgot_tools_media.markdown import header, row, table_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.text import read_text

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAMPLE = 20_000
_LONGEST_CELL = 1 << 24


@dataclass(frozen=True)
class Shape:
    """How a table is written.

    Attributes:
        delimiter: Between cells.
        escape: ``\\`` where a quote inside a cell is written so, empty where it is doubled.
    """

    delimiter: str
    escape: str = ""

    def rows(self, text: str, strict: bool = False) -> Iterator[list[str]]:
        """Gives the rows.

        Raises:
            csv.Error: A cell is too long, or with ``strict`` a quote does not fit.
        """
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            escapechar=self.escape or None,
            doublequote=not self.escape,
            strict=strict,
        )


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the rows as a table; the first one is its header."""
    csv.field_size_limit(_LONGEST_CELL)
    decoded = read_text(path)
    shape = find_shape(decoded.text)
    rows = [cells for cells in shape.rows(decoded.text) if cells]
    widths = Counter(map(len, rows))
    width = max(widths, default=0)
    yield Fact(f"{max(0, len(rows) - 1):,} rows below the first, {width} columns")
    yield Fact(f"delimiter {_DELIMITERS[shape.delimiter]}")
    yield decoded.fact
    if len(widths) > 1:
        usual = widths.most_common(1)[0][0]
        odd = [number for number, cells in enumerate(rows, 1) if len(cells) != usual]
        shown = ", ".join(map(str, odd[:10])) + (", ..." if len(odd) > 10 else "")
        yield Note(f"most rows have {usual} cells, but these have another number: {shown}")
    if shape.escape:
        yield Note("quotes inside cells are escaped by a backslash, which the csv module must be told: escapechar")
    if not rows:
        yield Note("it holds no cells")
        return
    head = header(_filled(rows[0], width))
    if len(rows) == 1:
        yield Part("", "", "row", 1, 1, head)
    # Rows are counted as a spreadsheet does: the header is row 1.
    yield from table_parts(((number, row(_filled(cells, width))) for number, cells in enumerate(rows[1:], 2)), head)


def find_shape(text: str) -> Shape:
    """Finds how a table is written: so that its quotes fit, and most rows have the same number of cells."""
    escapes = ("", "\\") if '\\"' in text else ("",)
    shapes = [Shape(delimiter, escape) for escape in escapes for delimiter in _DELIMITERS]
    # Of equals the first one is taken, so a backslash escapes only where nothing else fits.
    return max(shapes, key=lambda shape: _agreement(shape, text))


def _agreement(shape: Shape, text: str) -> tuple[bool, float]:
    strict = True
    try:
        widths = _widths(shape.rows(text, strict=True))
    except csv.Error:
        strict = False
        try:
            widths = _widths(shape.rows(text))
        except csv.Error:
            return False, 0.0
    count, width = max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))
    # One column alone fits anything, so it is taken only where no delimiter gives more.
    return strict and count > 0, (count / widths.total() + min(width, 50) / 1_000) if count else 0.0


def _widths(rows: Iterable[list[str]]) -> Counter[int]:
    return Counter(len(cells) for cells in islice(rows, _SAMPLE) if cells)


def _filled(cells: Sequence[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))]
