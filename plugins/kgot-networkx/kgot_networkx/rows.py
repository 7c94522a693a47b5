"""The rows of a query, from what its script left."""

from __future__ import annotations

from collections.abc import Sequence

from kgot_core.contracts.backend import Row
from kgot_core.contracts.sandbox import CodeResult
from kgot_core.errors import QueryError
from kgot_core.graph.values import JsonValue


def read_rows(result: CodeResult, limit: int) -> Sequence[Row]:
    """Gives at most ``limit`` rows; where rows were left out, the last one says so.

    Raises:
        QueryError: The script gave no result in any way.
    """
    value = result.value if isinstance(result.value, dict) else {}
    listed = value.get("rows")
    rows: list[dict[str, JsonValue]] = []
    if isinstance(listed, list):
        rows = [row for row in listed if isinstance(row, dict)]
    if not value.get("set"):
        if not result.output.strip():
            raise QueryError("the script gave no result; end it with result = ... (a list of dictionaries is best)")
        rows = [{"result": result.output.strip()}]
    cut = bool(value.get("cut")) or len(rows) > limit
    rows = rows[:limit]
    if cut and limit > 1:
        rows[-1] = {"note": f"only the first {limit - 1:,} rows are shown; there are more: ask for less, or count them"}
    return rows
