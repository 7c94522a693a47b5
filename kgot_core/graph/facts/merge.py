"""Puts the properties that facts bring over those that an element has."""

from __future__ import annotations

from kgot_core.graph.conflicts import Replaced
from kgot_core.graph.facts.names import same_label
from kgot_core.graph.values import Properties, same_value


def merge(element_id: str, old: Properties, new: Properties) -> tuple[Properties, list[Replaced]]:
    """Puts new values over old ones.

    Returns:
        The properties, ``old`` itself where nothing is new, and the values that were replaced.
    """
    merged = dict(old)
    replaced: list[Replaced] = []
    for name, value in new.items():
        key = spelled(name, merged)
        if key not in merged:
            merged[key] = value
        elif not same_value(merged[key], value):
            replaced.append(Replaced(element_id, key, merged[key], value))
            merged[key] = value
    return (merged if replaced or len(merged) > len(old) else old), replaced


def spelled(name: str, properties: Properties) -> str:
    """Spells a property's name as the element does already, where it does."""
    if name in properties:
        return name
    wanted = same_label(name)
    return next((key for key in properties if same_label(key) == wanted), name)
