"""The fact language: one neutral fact a line, read leniently and turned into a change for any store.

``(Label: name)``, ``(Label: name) key = value``, ``(Label: name) -[TYPE key=value]-> (Label: name)``, and each of
them after ``DELETE``.
"""

from kgot_core.graph.facts.change import FactsResult, facts_to_change
from kgot_core.graph.facts.model import (
    EdgeFact,
    Fact,
    FactsReading,
    LineProblem,
    Mention,
    NodeFact,
    PropertyFact,
    RemoveEdge,
    RemoveNode,
    RemoveProperty,
)
from kgot_core.graph.facts.reader import read_lines
from kgot_core.graph.facts.show import mention_of, show_fact, show_facts, show_mention

__all__ = [
    "EdgeFact",
    "Fact",
    "FactsReading",
    "FactsResult",
    "LineProblem",
    "Mention",
    "NodeFact",
    "PropertyFact",
    "RemoveEdge",
    "RemoveNode",
    "RemoveProperty",
    "facts_to_change",
    "mention_of",
    "read_lines",
    "show_fact",
    "show_facts",
    "show_mention",
]
