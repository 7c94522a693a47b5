"""Finds what a transaction changed: new elements by their places or a scan, the rest by reading the graph back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_neo4j.cypher.names import RESERVED
from kgot_neo4j.record import Record

if TYPE_CHECKING:
    from typing import LiteralString

    from neo4j import Result, Transaction

Row: TypeAlias = Sequence[Any]
_NODE = "[elementId(n), labels(n), properties(n)]"
_EDGE = "[elementId(r), type(r), elementId(a), elementId(b), properties(r)]"
# One row that holds everything is read several times faster than a row for each element.
WHOLE = f"""
CALL {{ MATCH (n) WHERE NOT n:{RESERVED} RETURN collect({_NODE}) AS nodes }}
CALL {{ MATCH (a)-[r]->(b) RETURN collect({_EDGE}) AS edges }}
RETURN nodes, edges
"""
AT_PLACES = f"""
CALL {{ MATCH (n) WHERE elementId(n) IN $nodes RETURN collect({_NODE}) AS nodes }}
CALL {{ MATCH (a)-[r]->(b) WHERE elementId(r) IN $edges RETURN collect({_EDGE}) AS edges }}
"""
_NODE_PLACES = f"MATCH (n) WHERE NOT n:{RESERVED} RETURN collect(elementId(n))"
_EDGE_PLACES = "MATCH ()-[r]->() RETURN collect(elementId(r))"
_NODES_NEXT = f"MATCH (n) WHERE elementId(n) IN $places AND NOT n:{RESERVED} RETURN collect(elementId(n))"
_EDGES_NEXT = "MATCH ()-[r]->() WHERE elementId(r) IN $places RETURN collect(elementId(r))"
# Other writes and the bookkeeping take numbers in between.
_BETWEEN = 64


@dataclass
class Counts:
    """What the statements of a transaction report together.

    Attributes:
        nodes: Nodes made.
        edges: Relationships made.
        nodes_gone: Nodes removed.
        edges_gone: Relationships removed.
        properties: Properties set or removed.
        labels: Labels added.
        labels_gone: Labels removed.
        node_places: Where nodes are that the statements may have made.
        edge_places: The same for relationships.
    """

    nodes: int = 0
    edges: int = 0
    nodes_gone: int = 0
    edges_gone: int = 0
    properties: int = 0
    labels: int = 0
    labels_gone: int = 0
    node_places: list[str] = field(default_factory=list)
    edge_places: list[str] = field(default_factory=list)

    def add(self, counters: Any) -> None:
        """Adds the counters of one statement."""
        self.nodes += counters.nodes_created
        self.edges += counters.relationships_created
        self.nodes_gone += counters.nodes_deleted
        self.edges_gone += counters.relationships_deleted
        self.properties += counters.properties_set
        self.labels += counters.labels_added
        self.labels_gone += counters.labels_removed


@dataclass
class Found:
    """What a transaction did, before it is committed.

    Attributes:
        change: The change.
        claimed: Places that got an id and lose it where the transaction is not committed.
        whole: Existing elements changed as well: the graph has to be read back.
    """

    change: GraphChange = field(default_factory=GraphChange)
    claimed: list[str] = field(default_factory=list)
    whole: bool = False


@dataclass
class Places:
    """Where the nodes and relationships are that a transaction made; ``told``: in the order of its statements."""

    nodes: list[str]
    edges: list[str]
    told: bool

    @property
    def order(self) -> list[str]:
        """All of them, where their order is known."""
        return [*self.nodes, *self.edges] if self.told else []


def new_places(transaction: Transaction, record: Record, counts: Counts) -> Places:
    """Finds where the nodes and relationships are that a transaction made.

    The statements tell most of it. Where it does not add up to what the server counted, the places are looked at that
    come next, and where that does not add up either, all of them.
    """
    run = transaction.run
    nodes, nodes_told = _places(run, record, counts.nodes, counts.node_places, ("4", _NODES_NEXT, _NODE_PLACES))
    edges, edges_told = _places(run, record, counts.edges, counts.edge_places, ("5", _EDGES_NEXT, _EDGE_PLACES))
    return Places(nodes, edges, nodes_told and edges_told)


def _places(
    run: Callable[..., Result],
    record: Record,
    made: int,
    told: Sequence[str],
    looks: tuple[str, LiteralString, LiteralString],
) -> tuple[list[str], bool]:
    if not made:
        return [], True
    fresh = [place for place in dict.fromkeys(told) if not record.knows(place)]
    if len(fresh) == made:
        return fresh, True
    kind, following, every = looks
    places = record.next_places(kind, 2 * made + _BETWEEN)
    found = run(following, places=places).single(strict=True)[0] if places else []
    fresh = [place for place in found if not record.knows(place)]
    if len(fresh) != made:
        fresh = [place for place in run(every).single(strict=True)[0] if not record.knows(place)]
    return fresh, False


def new_elements(
    record: Record, counts: Counts, nodes: Sequence[Row], edges: Sequence[Row], order: Sequence[str]
) -> Found:
    """Gives new elements their ids, from the rows at their places.

    Args:
        record: What was there before.
        counts: What the server counted.
        nodes: Rows of new nodes.
        edges: Rows of new relationships.
        order: Their places in the order of the statements; empty where it is not known.

    Raises:
        QueryError: One of them may not be.
    """
    found = Found()
    try:
        added = _elements(record, found, nodes, edges, order)
        check_new(added)
    except BaseException:
        record.give_up(found.claimed)
        raise
    found.change = GraphChange(tuple(added))
    labels = sum(len(row[1]) for row in nodes)
    properties = sum(len(row[-1]) for row in (*nodes, *edges))
    found.whole = counts.labels > labels or counts.properties > properties
    return found


def _elements(
    record: Record, found: Found, nodes: Sequence[Row], edges: Sequence[Row], order: Sequence[str] = ()
) -> list[Element]:
    """Gives rows as elements, and new ones an id: in the order of the statements, else by what they hold.

    The store's own order depends on what was deleted before, and equal runs must give equal ids.
    """
    ranks = {place: rank for rank, place in enumerate(order)}

    def by_content(row: Row) -> tuple[int, str]:
        return ranks.get(row[0], len(ranks)), repr((*row[1:-1], sorted(row[-1].items())))

    def by_ends(row: Row) -> tuple[int, str]:
        ends = (record.id_at(row[2]), record.id_at(row[3]))
        return ranks.get(row[0], len(ranks)), repr((row[1], *ends, sorted(row[-1].items())))

    for rows, letter, key in ((nodes, "n", by_content), (edges, "e", by_ends)):
        for row in sorted((row for row in rows if not record.knows(row[0])), key=key):
            record.claim(row[0], letter=letter)
            found.claimed.append(row[0])
    elements: list[Element] = [*map(record.node_of, nodes), *map(record.edge_of, edges)]
    if order:
        elements.sort(key=lambda element: (isinstance(element, Edge), ranks[record.place(element.id)]))
    return elements


def check_new(elements: Sequence[Element]) -> None:
    """Refuses nodes that hold nothing at all.

    Raises:
        QueryError: There is one.
    """
    for element in elements:
        if isinstance(element, Node) and not element.labels and not element.properties:
            raise QueryError(
                "the statement would make a node without a label and without properties: "
                "a pattern uses a variable that is not bound; bind it with MATCH or MERGE in the same statement"
            )


def read_back(transaction: Transaction, record: Record, claimed: Sequence[str] = ()) -> Found:
    """Reads the whole graph and compares it with what is recorded.

    Args:
        transaction: The transaction whose view is read.
        record: What was there before.
        claimed: Places that this transaction has claimed already.
    """
    found = Found(claimed=list(claimed), whole=True)
    try:
        nodes, edges = transaction.run(WHOLE).single(strict=True)
        now = {element.id: element for element in _elements(record, found, nodes, edges)}
        # In the order in which they got their ids, which does not depend on the store.
        added = [now[record.id_at(place)] for place in found.claimed]
        check_new(added)
    except BaseException:
        record.give_up(found.claimed)
        raise
    before = list(record.snapshot().elements())
    changed = [now[old.id] for old in before if old.id in now and not now[old.id].same_as(old)]
    removed = [old.id for old in before if old.id not in now]
    found.change = GraphChange(tuple(added), tuple(changed), tuple(removed))
    return found
