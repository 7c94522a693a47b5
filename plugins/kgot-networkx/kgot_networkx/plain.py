"""Reads a write that is data: calls of ``G`` with constants, which need no interpreter and so no sandbox.

Models are asked for such writes, and nearly all that they write is of this form. Nothing of the script is run: its
syntax tree is read as one reads a file, and whatever is not a constant, or would fail, is left to the sandbox, which
knows all of Python and tells what went wrong.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kgot_networkx.jail.subset import kg_change, kg_graph
from kgot_networkx.jail.values import kg_key
from kgot_networkx.reading import read_report
from kgot_networkx.record import GraphRecord, Step
from kgot_networkx.subset_state import subset_state

# So much is done in a moment; there is no time limit here, as there is in the sandbox.
_MOST_STEPS = 1_000
_MOST_PARALLEL = 64


class PutNode(NamedTuple):
    """Adds or updates a node."""

    node: Any
    attributes: dict[Any, Any]


class PutEdge(NamedTuple):
    """Adds or updates an edge."""

    source: Any
    target: Any
    key: Any
    attributes: dict[Any, Any]


class SetProperty(NamedTuple):
    """Sets one attribute of a node that is there."""

    node: Any
    name: Any
    value: Any


PlainStep = PutNode | PutEdge | SetProperty


class _NotPlain(Exception):
    """There is something to run."""


def plain_steps(statements: Sequence[ast.stmt]) -> tuple[PlainStep, ...]:
    """Reads the statements of a script; gives none where there is anything to run, or nothing to write."""
    steps: list[PlainStep] = []
    try:
        for statement in statements:
            steps += _read(statement)
            if len(steps) > _MOST_STEPS:
                return ()
    except (_NotPlain, TypeError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(steps)


def plain_change(record: GraphRecord, steps: Iterable[PlainStep]) -> Step | None:
    """Gives what steps do to the graph, worked out and read as a script's report is.

    Returns:
        The change, ready to be folded; ``None`` where the sandbox has to do it, since it fails or is much.
    """
    try:
        graph = kg_graph(subset_state(_around(record, steps)))
        for step in steps:
            match step:
                case PutNode(node, attributes):
                    graph.put_node(node, attributes)
                case PutEdge(source, target, key, attributes):
                    graph.put_edge(source, target, key, attributes)
                case SetProperty(node, name, value):
                    graph.nodes[node][name] = value
        return read_report(record, json.loads(json.dumps(kg_change(graph, graph), allow_nan=False)))
    except (_NotPlain, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return None


def _around(record: GraphRecord, steps: Iterable[PlainStep]) -> Mapping[str, Any]:
    """Gives the nodes and edges that steps can touch; nothing else of the graph counts for what they do."""
    nodes: dict[str, None] = {}
    pairs: dict[tuple[str, str], None] = {}
    for step in steps:
        ends = (step.source, step.target) if isinstance(step, PutEdge) else (step.node,)
        found = [record.id_of(kg_key(end)) for end in ends]
        nodes |= dict.fromkeys(filter(None, found))
        if len(found) == 2 and all(found):
            pairs[found[0], found[1]] = None
    if any(len(record.between(*pair)) > _MOST_PARALLEL for pair in pairs):
        raise _NotPlain
    return record.state(nodes, pairs)


def _read(statement: ast.stmt) -> Iterator[PlainStep]:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="G"), attr=name), args=args, keywords=named)):
            if name not in _CALLS:
                raise _NotPlain
            yield from _CALLS[name](*map(ast.literal_eval, args), **_named(named))
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=ast.Subscript(
                        value=ast.Attribute(value=ast.Name(id="G"), attr="nodes"), slice=ast.expr() as node
                    ),
                    slice=ast.expr() as name,
                )
            ],
            value=value,
        ):
            yield SetProperty(*map(ast.literal_eval, (node, name, value)))
        case ast.Import(names=[ast.alias(name="networkx", asname="nx" | None)]) | ast.Pass():
            return
        case ast.Expr(value=ast.Constant()):
            return
        case _:
            raise _NotPlain


def _named(keywords: Sequence[ast.keyword]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for keyword in keywords:
        value = ast.literal_eval(keyword.value)
        more = {keyword.arg: value} if keyword.arg is not None else value
        if not isinstance(more, dict) or named.keys() & more.keys():
            raise _NotPlain
        named |= more
    return named


def _add_node(node_for_adding: Any, **attr: Any) -> Iterator[PlainStep]:
    yield PutNode(node_for_adding, attr)


def _add_nodes_from(nodes_for_adding: Any, **attr: Any) -> Iterator[PlainStep]:
    for entry in _listed(nodes_for_adding):
        if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], dict):
            yield PutNode(entry[0], {**attr, **entry[1]})
        else:
            yield PutNode(entry, dict(attr))


def _add_edge(u_for_edge: Any, v_for_edge: Any, key: Any = None, **attr: Any) -> Iterator[PlainStep]:
    yield PutEdge(u_for_edge, v_for_edge, key, attr)


def _add_edges_from(ebunch_to_add: Any, **attr: Any) -> Iterator[PlainStep]:
    for edge in _listed(ebunch_to_add):
        match edge:
            case (source, target):
                yield PutEdge(source, target, None, dict(attr))
            case (source, target, dict() as data):
                yield PutEdge(source, target, None, {**attr, **data})
            case (source, target, key):
                yield PutEdge(source, target, key, dict(attr))
            case (source, target, key, dict() as data):
                yield PutEdge(source, target, key, {**attr, **data})
            case _:
                raise _NotPlain


def _listed(value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise _NotPlain
    return value


_CALLS: Mapping[str, Callable[..., Iterator[PlainStep]]] = {
    "add_node": _add_node,
    "add_nodes_from": _add_nodes_from,
    "add_edge": _add_edge,
    "add_edges_from": _add_edges_from,
}
