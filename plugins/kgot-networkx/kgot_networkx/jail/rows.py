"""The result of a query script as rows of JSON values."""

import datetime
from typing import Any

KG_MOST_VALUES = 200_000
KG_DEEPEST = 20
KG_UNSET = "kgot: no result yet"


class KgRoom:
    """How many values a result may still take up."""

    def __init__(self, values: int) -> None:
        self.values = values

    def take(self) -> None:
        """Counts one value."""
        self.values -= 1
        if self.values < 0:
            raise ValueError(f"the result holds more than {KG_MOST_VALUES:,} values; ask for less")


def kg_text(value: Any) -> str:
    """Gives the text of a dictionary's key."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (tuple, list)):
        return ", ".join([kg_text(item) for item in value])
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def kg_members(value: Any) -> Any:
    """Gives what to loop over in a collection of any kind, or None where the value is none."""
    if isinstance(value, (str, bytes, bool, int, float)) or value is None:
        return None
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=lambda item: (type(item).__name__, str(item)))
    try:
        return iter(value)
    except TypeError:
        return None


def kg_mapping(value: Any) -> Any:
    """Gives the pairs of a dictionary or of a view that acts as one, or None."""
    if isinstance(value, dict):
        return list(value.items())
    if hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "add_node"):
        return [("nodes", list(value.nodes())), ("edges", list(value.edges()))]
    # The views G.nodes and G.edges have items() too, but stand for their members.
    if hasattr(value, "items") and not hasattr(value, "data") and hasattr(value, "keys"):
        return list(value.items())
    return None


def kg_plain(value: Any, room: KgRoom, depth: int) -> Any:
    """Gives the JSON form of any value; dates as ISO text, numbers that JSON lacks as text."""
    room.take()
    if depth > KG_DEEPEST:
        raise ValueError(f"the result is nested more than {KG_DEEPEST} levels deep")
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else str(float(value))
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return kg_plain(value.tolist(), room, depth + 1)
    pairs = kg_mapping(value)
    if pairs is not None:
        return {kg_text(name): kg_plain(item, room, depth + 1) for name, item in pairs}
    members = kg_members(value)
    if members is not None:
        return [kg_plain(item, room, depth + 1) for item in members]
    return str(value)[:2000]


def kg_row(value: Any, room: KgRoom) -> dict[str, Any]:
    """Gives one row: a dictionary's own columns, or the column ``result``."""
    plain = kg_plain(value, room, 0)
    return plain if isinstance(plain, dict) else {"result": plain}


def kg_rows(result: Any, last: Any, limit: int) -> dict[str, Any]:
    """Gives ``{"rows": ..., "cut": ..., "set": ...}`` from ``result``, else from the last expression.

    ``set`` is false where the script gave neither, so that what it printed may stand in.
    """
    room = KgRoom(KG_MOST_VALUES)
    value = result
    if isinstance(value, str) and value == KG_UNSET:
        value = last
        if value is None or (isinstance(value, str) and value == KG_UNSET):
            return {"rows": [], "cut": False, "set": False}
    members = kg_members(value)
    if hasattr(value, "tolist") or kg_mapping(value) is not None or members is None:
        row = kg_row(value, room)
        empty = value is None or row in ({}, {"result": ""}, {"result": []})
        return {"rows": [] if empty else [row], "cut": False, "set": True}
    rows: list[dict[str, Any]] = []
    for item in members:
        if len(rows) >= limit:
            return {"rows": rows, "cut": True, "set": True}
        rows.append(kg_row(item, room))
    return {"rows": rows, "cut": False, "set": True}
