"""What a change contradicts: a value that stood in the graph and gives way to another one."""

from __future__ import annotations

from dataclasses import dataclass

from kgot_core.graph.elements import GraphChange
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Value, same_value


@dataclass(frozen=True, slots=True)
class Replaced:
    """A value that gave way to another one."""

    element_id: str
    name: str
    old: Value
    new: Value


def replaced_values(change: GraphChange, graph: TaskGraph) -> tuple[Replaced, ...]:
    """Finds the values of a graph that a change replaces by others; values that are only added contradict nothing.

    Args:
        change: The change, not yet folded in.
        graph: The graph before it.
    """
    found = []
    for element in change.changed:
        before = graph.get(element.id)
        if before is None:
            continue
        for name, old in before.properties.items():
            new = element.properties.get(name, old)
            if not _within(old, new):
                found.append(Replaced(element.id, name, old, new))
    return tuple(found)


def _within(old: Value, new: Value) -> bool:
    """Tells whether all that the old value said is said by the new one."""
    olds = old if isinstance(old, tuple) else (old,)
    news = new if isinstance(new, tuple) else (new,)
    return all(any(same_value(item, other) for other in news) for item in olds)
