"""Tables of a page: each cell in the column where a reader sees it."""

from __future__ import annotations

import copy

from bs4 import BeautifulSoup, Tag

_WIDEST = 200


def spread_out(root: Tag) -> None:
    """Repeats cells that span several rows or columns, so that each row has a cell for each column.

    A table that only lays out a page (it holds other tables, or a single cell) becomes plain blocks.
    """
    for table in root.find_all("table"):
        if (
            table.find("table")
            or table.get("role") in ("presentation", "none")
            or len(table.find_all("td", limit=2)) < 2
        ):
            _flatten(table)
    for table in root.find_all("table"):
        _spread(table)


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


def _spread(table: Tag) -> None:
    rows = table.find_all("tr")
    below: dict[int, tuple[Tag, int]] = {}
    for row in rows:
        cells = row.find_all(["td", "th"], recursive=False)
        filled: list[Tag] = []
        rest = list(cells)
        while rest or len(filled) in below:
            place = len(filled)
            if place in below:
                cell, left = below.pop(place)
                if left > 1:
                    below[place] = (cell, left - 1)
                filled.append(copy.copy(cell))
                continue
            cell = rest.pop(0)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            for name in ("colspan", "rowspan"):
                cell.attrs.pop(name, None)
            for offset in range(wide):
                filled.append(cell if not offset else copy.copy(cell))
                if high > 1:
                    below[place + offset] = (cell, min(high, len(rows)) - 1)
        for cell in cells:
            cell.extract()
        row.extend(filled)
    width = max((len(row.find_all(["td", "th"], recursive=False)) for row in rows), default=0)
    for row in rows:
        for _ in range(width - len(row.find_all(["td", "th"], recursive=False))):
            row.append(BeautifulSoup("", "lxml").new_tag("td"))


def _span(cell: Tag, name: str) -> int:
    text = str(cell.get(name, "1")).strip()
    return min(max(int(text), 1), _WIDEST) if text.isdigit() else 1
