"""What one line of the fact language says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from kgot_core.graph.values import Value


@dataclass(frozen=True, slots=True)
class Mention:
    """A node as a fact names it.

    Attributes:
        name: The name.
        label: The kind of thing; empty where the line leaves it out.
        whole: The text as it stood, where it may also be read as a name that holds a colon.
    """

    name: str
    label: str = ""
    whole: str = ""

    def __str__(self) -> str:
        return f"({self.label}: {self.name})" if self.label else f"({self.name})"


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A thing exists: ``(Label: name)``."""

    node: Mention
    line: int = 0


@dataclass(frozen=True, slots=True)
class PropertyFact:
    """A property has a value: ``(Label: name) key = value``; replaces an earlier value."""

    node: Mention
    key: str
    value: Value
    line: int = 0


@dataclass(frozen=True, slots=True)
class EdgeFact:
    """An edge joins two things: ``(Label: name) -[TYPE key=value]-> (Label: name)``."""

    source: Mention
    type: str
    target: Mention
    properties: Mapping[str, Value] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """A thing and its edges go: ``DELETE (Label: name)``."""

    node: Mention
    line: int = 0


@dataclass(frozen=True, slots=True)
class RemoveProperty:
    """A property goes: ``DELETE (Label: name) key``; with a value, only where it has that value."""

    node: Mention
    key: str
    value: Value | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RemoveEdge:
    """An edge goes: ``DELETE (Label: name) -[TYPE]-> (Label: name)``."""

    source: Mention
    type: str
    target: Mention
    line: int = 0


Fact: TypeAlias = NodeFact | PropertyFact | EdgeFact | RemoveNode | RemoveProperty | RemoveEdge


def mentions_of(fact: Fact) -> tuple[Mention, ...]:
    """Gives the things that a fact names."""
    return (fact.source, fact.target) if isinstance(fact, EdgeFact | RemoveEdge) else (fact.node,)


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A line that was passed over, and why; ``line`` counts from 1."""

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}: {self.text[:120]}"


@dataclass(frozen=True, slots=True)
class FactsReading:
    """The facts of a reply in order, and the lines that were passed over."""

    facts: tuple[Fact, ...] = ()
    problems: tuple[LineProblem, ...] = ()


class LineFault(Exception):
    """A line is not a fact; the message says why."""
