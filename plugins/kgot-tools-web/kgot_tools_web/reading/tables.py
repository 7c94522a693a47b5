"""Tables of a page: each cell in the column where a reader sees it."""

from __future__ import annotations

import copy

from bs4 import BeautifulSoup, Tag

_WIDEST = 200
_CELL = 10
MOST_REPEATED = 400_000
"""Characters that the repeated cells of a page may have in all: a few cells may claim to span a million places."""


class _Room:
    """What may still be repeated, in characters."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._maker = BeautifulSoup("", "lxml")

    def copy(self, cell: Tag) -> Tag | None:
        """Gives a copy of a cell, ``None`` where there is no room for it."""
        self._left -= _CELL + (len(str(cell)) if self._left >= 0 else 0)
        return copy.copy(cell) if self._left >= 0 else None

    def blank(self) -> Tag | None:
        """Gives an empty cell, ``None`` where there is no room for it."""
        self._left -= _CELL
        return self._maker.new_tag("td") if self._left >= 0 else None

    @property
    def used_up(self) -> bool:
        """Something found no room."""
        return self._left < 0


def spread_out(root: Tag, most: int = MOST_REPEATED) -> bool:
    """Repeats cells that span several rows or columns, so that each row has a cell for each column.

    A table that only lays out a page (it holds other tables, or a single cell) becomes plain blocks.

    Args:
        root: The page.
        most: Characters that the repeated cells may have in all.

    Returns:
        Whether there was room for all of them.
    """
    for table in root.find_all("table"):
        if (
            table.find("table")
            or table.get("role") in ("presentation", "none")
            or len(table.find_all("td", limit=2)) < 2
        ):
            _flatten(table)
    room = _Room(most)
    whole = True
    for table in root.find_all("table"):
        whole = _spread(table, room) and whole
    return whole


def _flatten(table: Tag) -> None:
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
    for row in rows:
        cells = row.find_all(["td", "th"], recursive=False)
        row.name = "div"
        for cell in cells:
            cell.name = "div"
    for part in table.find_all(["tbody", "thead", "tfoot"], recursive=False):
        part.unwrap()
    table.name = "div"


def _spread(table: Tag, room: _Room) -> bool:
    rows = [(row, row.find_all(["td", "th"], recursive=False)) for row in table.find_all("tr")]
    below: dict[int, tuple[Tag, int]] = {}
    widths = [_fill(row, cells, below, len(rows), room) for row, cells in rows]
    for (row, _), width in zip(rows, widths, strict=True):
        for _ in range(max(widths) - width):
            if (blank := room.blank()) is None:
                return False
            row.append(blank)
    return not room.used_up


def _fill(row: Tag, cells: list[Tag], below: dict[int, tuple[Tag, int]], height: int, room: _Room) -> int:
    """Puts the cells of a row into their columns, with copies of those that reach into it; gives its width.

    Args:
        row: The row.
        cells: Its own cells.
        below: Cells of rows above that reach down, by column, with how many rows they still cover; kept up to date.
        height: Rows of the table.
        room: What may still be repeated.
    """
    spans = [(_span(cell, "colspan", _WIDEST), _span(cell, "rowspan", height)) for cell in cells]
    for cell in cells:
        # They are acted upon here, and a converter may not take what stands there for a number.
        cell.attrs = {name: value for name, value in cell.attrs.items() if name not in ("colspan", "rowspan")}
    if not below and all(span == (1, 1) for span in spans):
        return len(cells)
    filled: list[Tag] = []
    rest = list(zip(cells, spans, strict=True))[::-1]
    while rest or len(filled) in below:
        place = len(filled)
        if place in below:
            cell, left = below.pop(place)
            if (repeated := room.copy(cell)) is not None:
                filled.append(repeated)
                if left > 1:
                    below[place] = (cell, left - 1)
            continue
        cell, (wide, high) = rest.pop()
        for offset in range(wide):
            repeated = room.copy(cell) if offset else cell
            if repeated is None:
                break
            filled.append(repeated)
            if high > 1:
                below[place + offset] = (cell, high - 1)
    beside = [found for found in row.contents if getattr(found, "name", None) not in ("td", "th")]
    row.clear()
    row.extend([*beside, *filled])
    return len(filled)


def _span(cell: Tag, name: str, most: int) -> int:
    text = str(cell.get(name, "1")).strip()
    # A number so long that Python would not read it is above the most in any case.
    return min(max(int(text[:9]), 1), most) if text.isdecimal() else 1
