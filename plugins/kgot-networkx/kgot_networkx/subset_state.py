"""The text from which a sandbox with a part of Python makes its graph before each script.

What the host can do once for many scripts is done here, since that interpreter is slow at it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgot_networkx.jail.values import KG_EDGE_RESERVED, KG_NODE_RESERVED, kg_attribute


def subset_state(state: Mapping[str, Any]) -> str:
    """Gives attributes by node, edges with theirs, and which of them hold more than plain JSON values."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[list[Any]] = []
    for key, labels, properties in state["nodes"]:
        attributes = {"label": labels[0]} if labels else {}
        if len(labels) > 1:
            attributes["labels"] = labels
        nodes[key] = attributes | {kg_attribute(name, KG_NODE_RESERVED): value for name, value in properties.items()}
    for source, target, parallel in state["pairs"]:
        for key, kind, properties in parallel:
            named = {kg_attribute(name, KG_EDGE_RESERVED): value for name, value in properties.items()}
            edges.append([source, target, key, {"type": kind} | named])
    return json.dumps(
        {
            "nodes": nodes,
            "edges": edges,
            "odd_nodes": [key for key, attributes in nodes.items() if _odd(attributes)],
            "odd_edges": [index for index, edge in enumerate(edges) if _odd(edge[3])],
        },
        separators=(",", ":"),
    )


def _odd(attributes: Mapping[str, Any]) -> bool:
    return any(
        isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
        for value in attributes.values()
    )
