"""SQLite databases: tables with their definition and rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from kgot_tools_media.markdown import header, row, table_parts
from kgot_tools_media.parts import Fact, Note, Options, Part

MOST_ROWS = 10_000


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the tables."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    query = (
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    tables = connection.execute(query).fetchall()
    yield Fact(f"{len(tables)} tables and views: " + ", ".join(name for name, _ in tables[:30]))
    for name, definition in tables:
        quoted = name.replace('"', '""')
        found = connection.execute(f'SELECT * FROM "{quoted}" LIMIT {MOST_ROWS}')
        titles = [column[0] for column in found.description]
        head = f"## Table {name}\n\n{definition}\n\n{header(titles)}"
        lines = ((number, row(map(_shown, values))) for number, values in enumerate(found, 1))
        parts = list(table_parts(lines, head, f"table {name}"))
        yield from parts or [Part("", f"table {name}", head=head)]
        if parts and parts[-1].last == MOST_ROWS:
            yield Note(f"of the table {name} only the first {MOST_ROWS:,} rows were read")


def _shown(value: object) -> object:
    return f"({len(value):,} bytes)" if isinstance(value, bytes) else value
