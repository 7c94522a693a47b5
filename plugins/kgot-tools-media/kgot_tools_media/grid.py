"""Sheets of every spreadsheet format, written as tables with the letters of columns and the numbers of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from kgot_tools_media.markdown import PIECE, header, row
from kgot_tools_media.parts import Part

MOST_NAMED = 400


@dataclass(frozen=True)
class Cell:
    """A cell.

    Attributes:
        value: What it shows; empty where it is blank.
        marks: What else is known of it by name, for example ``{"Formulas": "=B2/2", "Colours": "yellow"}``.
    """

    value: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """A sheet.

    Attributes:
        title: Its name.
        rows: Rows by number from 1, each with its cells by column from 1; only those that hold something.
        merged: Merged ranges as ``(first row, first column, last row, last column)``.
        hidden_rows: Numbers of rows that are not shown.
        hidden_columns: Numbers of columns that are not shown.
        hidden: It is not shown at all.
        below: Markdown that belongs below it: charts, pictures.
    """

    title: str
    rows: Mapping[int, Mapping[int, Cell]]
    merged: Sequence[tuple[int, int, int, int]] = ()
    hidden_rows: Sequence[int] = ()
    hidden_columns: Sequence[int] = ()
    hidden: bool = False
    below: Sequence[str] = ()


def sheet_parts(sheet: Sheet) -> Iterator[Part]:
    """Writes a sheet in parts; each carries the marks of its own rows."""
    section = f"sheet {sheet.title}" + (" (hidden)" if sheet.hidden else "")
    columns = sorted({place for cells in sheet.rows.values() for place in cells})
    head = "\n\n".join([f"## {section[0].upper()}{section[1:]}", *_hidden(sheet)])
    if columns:
        head += f"\n\n{header(['', *map(letters, columns)])}"
    sizes, group = 0, list[int]()
    for number in sorted(sheet.rows):
        line = sum(len(cell.value) + 3 for cell in sheet.rows[number].values())
        if group and sizes + line > PIECE:
            yield _rows_part(sheet, section, head, columns, group)
            group, sizes = [], 0
        group.append(number)
        sizes += line
    if group:
        yield _rows_part(sheet, section, head, columns, group)
    if not columns:
        yield Part("(no cell holds anything)\n", section, head=head)
    if sheet.below:
        yield Part("\n" + "\n\n".join(sheet.below) + "\n", section)


def letters(column: int) -> str:
    """Names a column: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def span(first_row: int, first_column: int, last_row: int, last_column: int) -> str:
    """Names a range: ``A2:B3``, or ``A2``."""
    start, end = f"{letters(first_column)}{first_row}", f"{letters(last_column)}{last_row}"
    return start if start == end else f"{start}:{end}"


def _rows_part(sheet: Sheet, section: str, head: str, columns: Sequence[int], group: Sequence[int]) -> Part:
    blank = Cell()
    lines = [row([number, *(sheet.rows[number].get(place, blank).value for place in columns)]) for number in group]
    return Part("\n".join(lines), section, "row", group[0], group[-1], head, _marks(sheet, group))


def _marks(sheet: Sheet, group: Sequence[int]) -> str:
    found: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for number in group:
        for place, cell in sorted(sheet.rows[number].items()):
            for name, value in cell.marks.items():
                found.setdefault(name, {}).setdefault(value, []).append((number, place))
    lines = [f"{name}: {_listed(values)}" for name, values in found.items()]
    inside = range(group[0], group[-1] + 1)
    merged = [area for area in sheet.merged if area[0] in inside]
    if merged:
        named = [f"{span(*area)} = {_value(sheet, area[0], area[1])}" for area in merged[:MOST_NAMED]]
        lines.append("Merged cells, each with its one value: " + "; ".join(named))
    return "\n".join(lines)


def _listed(values: Mapping[str, Sequence[tuple[int, int]]]) -> str:
    """Names the cells of each value, those side by side as one range."""
    shown = [f"{value}: {', '.join(_ranges(places))}" for value, places in values.items()]
    more = len(shown) - MOST_NAMED
    return "; ".join(shown[:MOST_NAMED]) + (f"; and {more:,} more" if more > 0 else "")


def _ranges(places: Sequence[tuple[int, int]]) -> list[str]:
    runs: list[tuple[int, int, int, int]] = []
    for number, columns in groupby(sorted(places), key=lambda place: place[0]):
        for _, run in groupby(enumerate(column for _, column in columns), key=lambda item: item[1] - item[0]):
            taken = [column for _, column in run]
            runs.append((number, taken[0], number, taken[-1]))
    return [span(*area) for area in _stacked(runs)]


def _stacked(runs: Iterable[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Joins runs that stand below each other over the same columns."""
    done: list[tuple[int, int, int, int]] = []
    open_runs: dict[tuple[int, int], int] = {}
    for top, left, bottom, right in runs:
        place = open_runs.get((left, right))
        if place is not None and done[place][2] == top - 1:
            done[place] = (done[place][0], left, bottom, right)
        else:
            open_runs[(left, right)] = len(done)
            done.append((top, left, bottom, right))
    return done


def _value(sheet: Sheet, number: int, place: int) -> str:
    return sheet.rows.get(number, {}).get(place, Cell()).value or "(blank)"


def _hidden(sheet: Sheet) -> Iterator[str]:
    if sheet.hidden_rows:
        yield f"Hidden rows: {', '.join(_runs(sheet.hidden_rows, str))}"
    if sheet.hidden_columns:
        yield f"Hidden columns: {', '.join(_runs(sheet.hidden_columns, letters))}"


def _runs(numbers: Iterable[int], shown: Callable[[int], str]) -> list[str]:
    runs = []
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda item: item[1] - item[0]):
        taken = [number for _, number in run]
        runs.append(shown(taken[0]) if len(taken) == 1 else f"{shown(taken[0])} to {shown(taken[-1])}")
    return runs
