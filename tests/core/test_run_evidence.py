"""Which elements an answer rests on."""

from __future__ import annotations

import datetime
from types import ModuleType
from typing import Any

import pytest

from kgot_core.graph.elements import Edge, GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.run.stages.evidence import MOST_ELEMENTS, holding, match_names


@pytest.fixture
def graph() -> TaskGraph:
    filled = TaskGraph()
    nodes = (
        Node("veder", ("Lake",), {"name": "Veder", "depth_m": 61, "area": 1200}, "Veder"),
        Node("orm", ("Lake",), {"name": "Orm", "depth_m": 40, "rivers": 61, "seen": datetime.date(1912, 5, 1)}, "Orm"),
        Node("ulmet", ("River",), {"name": "Ulmet", "length_km": 40}, "Ulmet"),
        Node("bare", ("Lake",), {"title": "Ask"}),
    )
    edges = (Edge("feeds", "FEEDS", "veder", "ulmet", {"since": 1900}), Edge("near", "NEAR", "orm", "veder"))
    filled.apply(GraphChange(added=(*nodes, *edges)))
    return filled


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"name": "Veder"}, ["veder"]),
        ({"lake": "veder"}, ["veder"]),
        ({"x": ["Orm", {"y": "Ulmet"}]}, ["orm", "ulmet"]),
        ({"type": "FEEDS"}, ["feeds"]),
        # A number counts for the property that its column is called like,
        ({"depth_m": 61}, ["veder"]),
        ({"rivers": 61}, ["orm"]),
        # in any other column where it is long or only one element holds it.
        ({"result": 1200}, ["veder"]),
        ({"result": 61}, []),
        ({"count": 40}, []),
        ({"count": 3}, []),
        ({"year": 1900}, ["feeds"]),
        ({"seen": {"@date": "1912-05-01"}}, ["orm"]),
        ({"found": True, "none": None}, []),
    ],
)
def test_elements_that_hold_what_a_query_returned(graph: TaskGraph, row: dict[str, Any], found: list[str]) -> None:
    assert list(holding(graph, [row])) == found


def test_a_short_number_that_a_single_element_holds(graph: TaskGraph) -> None:
    graph.apply(GraphChange(removed=("orm",)))
    assert holding(graph, [{"result": 61}]) == ("veder",)


def test_evidence_is_bounded() -> None:
    graph = TaskGraph()
    graph.apply(GraphChange(added=tuple(Node(f"n{number}", ("Lake",), {"kind": "deep"}) for number in range(200))))
    assert len(holding(graph, [{"kind": "deep"}])) == MOST_ELEMENTS


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Veder", ["veder"]),
        (" vEDER. ", ["veder"]),
        ("(Lake: Veder)", ["veder"]),
        ('"Veder" :Lake depth_m=61', ["veder"]),
        ("Veder :Lake depth_m=61", ["veder"]),
        ('"Veder" -FEEDS-> "Ulmet"', ["veder", "ulmet"]),
        ("FEEDS", ["feeds"]),
        ("Ask", ["bare"]),
        ("1200", ["veder"]),
        ("Lake", []),
        ("Atlantis", []),
        ("", []),
    ],
)
def test_names_that_a_model_gives_as_its_basis(kit: ModuleType, graph: TaskGraph, name: str, found: list[str]) -> None:
    assert list(match_names(graph, [name], kit.DIALECT)) == found
