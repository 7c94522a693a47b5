"""Events of the graph between its writes: its whole state, and what was dropped, replaced, checked or removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kgot_core.events.base import Event
from kgot_core.graph.values import JsonValue


@dataclass(frozen=True, kw_only=True)
class GraphState(Event):
    """The whole graph, from time to time, so that a reader need not fold from the start.

    Attributes:
        snapshot: Its nodes and edges.
    """

    kind: ClassVar[str] = "graph_state"
    snapshot: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StatementDropped(Event):
    """A statement could not be mended and was passed over (paper, section 3.6).

    Attributes:
        statement: The statement as it was at last.
        error: Its fault.
    """

    kind: ClassVar[str] = "statement_dropped"
    statement: str = ""
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class ValueReplaced(Event):
    """What was written contradicted a value that stood in the graph, and replaced it; both are kept here and shown.

    Attributes:
        element: Id of the node or edge.
        name: The property.
        old: Its value before.
        new: Its value now.
        earlier: What the element rested on before: steps of tool calls, ``task`` or ``model``.
        sources: What the new value rests on.
    """

    kind: ClassVar[str] = "value_replaced"
    element: str = ""
    name: str = ""
    old: JsonValue = None
    new: JsonValue = None
    earlier: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SourcesChecked(Event):
    """Some of what a round wrote does not stand in the sources it cites: it is the model's own thought.

    Attributes:
        unsupported: Names of the properties whose values are not there, by the id of their element.
    """

    kind: ClassVar[str] = "sources_checked"
    unsupported: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ElementRemoved(Event):
    """An element was taken out of the graph as noise (paper, B.6).

    Attributes:
        element: The element, JSON form, so that it can be put back.
        line: The element as the state text shows it.
        reason: Why.
    """

    kind: ClassVar[str] = "element_removed"
    element: Mapping[str, JsonValue] = field(default_factory=dict)
    line: str = ""
    reason: str = ""
