"""The rows of a query as JSON values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from kgot_core.contracts.backend import Row
from kgot_core.graph.values import Iri, JsonValue, LangText, TypedText
from kgot_rdf.names import Names
from kgot_rdf.store import Table
from kgot_rdf.terms import Term, from_term, is_literal


def to_rows(table: Table, names: Names, limit: int, ordered: bool) -> Sequence[Row]:
    """Gives at most ``limit`` rows; where rows were left out, the last one says so.

    Rows that the query does not order are sorted, so that equal graphs give equal rows.
    """
    if table.boolean is not None:
        return [{"result": table.boolean}]
    listed = list(table.rows)
    if not ordered:
        listed.sort(key=lambda row: [_sort_key(term) for term in row])
    blanks: dict[Term, str] = {}
    cut = table.cut or len(listed) > limit
    rows: list[Row] = []
    for row in listed[:limit]:
        pairs = zip(table.names, row, strict=True)
        rows.append({name: None if term is None else _value(term, names, blanks) for name, term in pairs})
    if cut and limit > 1:
        rows[-1:] = [
            {"note": f"only the first {limit - 1:,} rows are shown; there are more: ask for less, or count them"}
        ]
    return rows


def _sort_key(term: Term | None) -> tuple[int, float, str]:
    if term is None:
        return 0, 0, ""
    if term.startswith("_:"):
        return 1, 0, ""
    if not is_literal(term):
        return 2, 0, term
    value = from_term(term)
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1e300:
        return 3, float(value), term
    return 4, 0, term


def _value(term: Term, names: Names, blanks: dict[Term, str]) -> JsonValue:
    if term.startswith("_:"):
        return blanks.setdefault(term, f"_:b{len(blanks) + 1}")
    if not is_literal(term):
        return names.show(term)
    value = from_term(term)
    if isinstance(value, Iri):
        return value.value
    if isinstance(value, LangText | TypedText):
        return value.text
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
