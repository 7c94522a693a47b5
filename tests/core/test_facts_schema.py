"""Allowed node and edge types."""

import json
from pathlib import Path

import pytest

from kgot_core.errors import UsageError
from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.schema import check_change, read_schema, schema_text

DATA = {
    "nodes": {"Film": ["release_year"], "Person": {}, "Town": {"properties": []}},
    "edges": {"DIRECTED_BY": {"from": "Film", "to": ["Person"], "properties": ["year"]}, "NEAR": {}},
}
TOML = """
[nodes]
Film = ["release_year"]
Person = {}
[nodes.Town]
properties = []
[edges.DIRECTED_BY]
from = "Film"
to = ["Person"]
properties = ["year"]
[edges.NEAR]
"""
FILM, BRANDT = (
    Node("n1", ("Film",), {"name": "The Lantern"}),
    Node("n2", ("Person",), {"name": "Ola Brandt", "born": 1900}),
)


def check(*added: Node | Edge) -> tuple[str, ...]:
    return check_change(GraphChange(added=added), TaskGraph(GraphSnapshot((FILM, BRANDT))), read_schema(DATA))


def test_the_same_schema_from_data_json_and_toml(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DATA))
    (tmp_path / "a.toml").write_text(TOML)
    assert read_schema(tmp_path / "a.json") == read_schema(tmp_path / "a.toml") == read_schema(DATA)


def test_what_is_allowed_passes() -> None:
    assert (
        check(FILM, BRANDT, Edge("e1", "DIRECTED_BY", "n1", "n2", {"year": 1952}), Edge("e2", "NEAR", "n2", "n1")) == ()
    )


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (
            Node("n3", ("Movie",), {"name": "X"}),
            "(Movie: X): the label Movie is not allowed; allowed are Film, Person, Town",
        ),
        (Node("n3", ("Persons",), {"name": "X"}), "(Persons: X): the label Persons is not allowed; use Person"),
        (Node("n3", (), {"name": "X"}), "(Thing: X): it has no label; allowed are Film, Person, Town"),
        (
            Node("n3", ("Film",), {"name": "X", "releaseYear": 1}),
            "(Film: X): the property releaseYear is not allowed; use release_year",
        ),
        (
            Node("n3", ("Town",), {"name": "X", "size": 1}),
            "(Town: X): the property size is not allowed; allowed are name, title",
        ),
        (
            Edge("e1", "DIRECTED", "n1", "n2"),
            "(Film: The Lantern) -[DIRECTED]-> (Person: Ola Brandt):"
            " the relation DIRECTED is not allowed; use DIRECTED_BY",
        ),
        (
            Edge("e1", "DIRECTED_BY", "n2", "n1"),
            "(Person: Ola Brandt) -[DIRECTED_BY]-> (Film: The Lantern): DIRECTED_BY starts at Film, not Person",
        ),
        (
            Edge("e1", "DIRECTED_BY", "n1", "n2", {"role": "x"}),
            "(Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt):"
            " the property role is not allowed; allowed are year",
        ),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(element: Node | Edge, message: str) -> None:
    assert message in check(element)


def test_lists_of_names_and_missing_parts_allow_all_else() -> None:
    schema = read_schema({"nodes": ["Film"]})
    change = GraphChange(added=(Node("n3", ("Film",), {"any": 1}), Edge("e1", "ANY", "n3", "n3")))
    assert check_change(change, TaskGraph(), schema) == ()
    assert check_change(GraphChange(added=(Node("n3", ("Town",), {"a": 1}),)), TaskGraph(), schema)


def test_the_text_for_a_prompt() -> None:
    assert schema_text(read_schema(DATA)).split("\n") == [
        "node Film with release_year",
        "node Person",
        "node Town",
        "edge DIRECTED_BY from Film to Person with year",
        "edge NEAR",
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"node": []},
        {"nodes": "Film"},
        {"nodes": {"Film": 1}},
        {"edges": {"A": {"source": "x"}}},
        {"edges": {"A": {"from": 1}}},
        {"nodes": ["Film"], "edges": {"A": {"from": "Town"}}},
    ],
)
def test_a_schema_of_another_form_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="graph schema"):
        read_schema(data)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.toml", "x = "), ("a.json", "[1]")])
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=name):
        read_schema(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be read"):
        read_schema(tmp_path / "none.json")
