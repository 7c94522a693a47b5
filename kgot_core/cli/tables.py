"""Plain columns for the terminal: no colours, no library."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.cli.output import echo


def echo_columns(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Writes rows with aligned columns; the last column may be as long as it likes."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        echo(indent + "  ".join([*cells, row[-1]]).rstrip())
