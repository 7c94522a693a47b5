"""What goes into a fold of the record, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgot_core.graph.elements import GraphChange
from kgot_rdf.terms import Term, Triple
from kgot_rdf.triples import Delta

Place = tuple[Triple, Term]


@dataclass(frozen=True)
class Ids:
    """Ids that elements have to get: of nodes by their IRI, of edges by triple and describing resource."""

    nodes: Mapping[Term, str] = field(default_factory=dict)
    edges: Mapping[Place, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Folded:
    """What was folded, and what is needed to take it back."""

    change: GraphChange
    delta: Delta
    inferred: Delta
    gone: Ids
    counters: Mapping[str, int]


class Touched:
    """Nodes, and edges by their triple, that a delta may have changed.

    Attributes:
        nodes: The nodes, in order; true where triples of their own changed, false where edges alone did.
        spots: The edges.
    """

    def __init__(self) -> None:
        self.nodes: dict[Term, bool] = {}
        self.spots: dict[Triple, None] = {}

    def spot(self, spot: Triple) -> None:
        """Notes an edge and both its ends."""
        self.spots[spot] = None
        self.end(spot[0])
        self.end(spot[2])

    def end(self, term: Term) -> None:
        """Notes a node that an edge leaves or reaches."""
        self.nodes.setdefault(term, False)
