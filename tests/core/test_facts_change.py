"""From facts to a change of the graph."""

import datetime
import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.graph.elements import Edge, GraphChange, GraphSnapshot, Node
from kgot_core.graph.facts import FactsResult, facts_to_change, read_lines, show_facts
from kgot_core.graph.facts.names import same_name
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import encode_properties


def numbers() -> Callable[[str], str]:
    counter = itertools.count(100)
    return lambda kind: f"{kind}{next(counter)}"


def write(text: str, graph: TaskGraph) -> FactsResult:
    reading = read_lines(text.split("\n"))
    assert reading.problems == ()
    result = facts_to_change(reading.facts, graph, numbers())
    graph.apply(result.change)
    return result


@pytest.fixture
def graph() -> TaskGraph:
    return TaskGraph(
        GraphSnapshot(
            (
                Node("n1", ("Film",), {"title": "The Lantern", "releaseYear": 1951}),
                Node("n2", ("Person",), {"name": "Ola Brandt"}, key="http://kg.example/OlaBrandt"),
                Node("n3", ("Role",), {"name": "System Admin"}),
                Node("n4", ("Course",), {"name": "System Admin"}),
                Node("n5", (), {"name": "Bergen"}),
            ),
            (Edge("e1", "directedBy", "n1", "n2", {"year": 1950}),),
        )
    )


def test_things_that_are_there_are_used(graph: TaskGraph) -> None:
    change = write("(film: the  LANTERN) -[SEEN_BY]-> (Person: http://kg.example/OlaBrandt)", graph).change
    assert change.added == (Edge("e100", "SEEN_BY", "n1", "n2"),)
    assert not change.changed and not change.removed


def test_new_things_get_a_name_and_come_before_their_edges(graph: TaskGraph) -> None:
    change = write(
        "(Film: The Lantern) -[STARRING role=lead]-> (Person: Nora Vale)\n(Ida Moss) born = 1920", graph
    ).change
    assert change.added == (
        Node("n100", ("Person",), {"name": "Nora Vale"}),
        Node("n102", ("Thing",), {"name": "Ida Moss", "born": 1920}),
        Edge("e101", "STARRING", "n1", "n100", {"role": "lead"}),
    )


def test_spellings_of_one_name_are_one_node_and_homonyms_stay_apart() -> None:  # D45
    graph = TaskGraph()
    write(
        "(Role: System Admin)\n(Role: system admin) a = 1\n(role: System  Admin ) b = 2\n(Course: System Admin)", graph
    )
    assert [(node.labels, dict(node.properties)) for node in graph.nodes] == [
        (("Role",), {"name": "System Admin", "a": 1, "b": 2}),
        (("Course",), {"name": "System Admin"}),
    ]


def test_a_name_without_label_must_be_clear(graph: TaskGraph) -> None:
    result = write("(System Admin) level = 3\n(the lantern) color = false", graph)
    assert [problem.line for problem in result.problems] == [1]
    assert "(Role: System Admin), (Course: System Admin)" in result.problems[0].reason
    assert result.change.changed == (
        Node("n1", ("Film",), {"title": "The Lantern", "releaseYear": 1951, "color": False}),
    )


def test_a_thing_of_unknown_kind_takes_the_kind_that_is_named_later(graph: TaskGraph) -> None:
    result = write(
        "(Town: Bergen) size = 1\n(Film: The Lantern) -[BY]-> (Ida Moss)\n(Person: Ida Moss) born = 1920", graph
    )
    assert result.change.changed == (Node("n5", ("Town",), {"name": "Bergen", "size": 1}),)
    assert result.change.added[0] == Node("n100", ("Person",), {"name": "Ida Moss", "born": 1920})


def test_a_colon_in_a_known_name_is_no_label() -> None:
    graph = TaskGraph(
        GraphSnapshot(
            (Node("n1", ("Film",), {"name": "Alien: Covenant"}), Node("n2", ("Thing",), {"name": "Mars: One"}))
        )
    )
    write("(Alien: Covenant) year = 2017\n(Mars: One) year = 1", graph)
    assert [(node.labels, node.properties["year"]) for node in graph.nodes] == [(("Film",), 2017), (("Thing",), 1)]


def test_a_colon_in_a_name_that_the_reply_itself_explains() -> None:
    graph = TaskGraph()
    write("(Alien: Covenant) year = 2017\n(Film: Alien: Covenant) length = 122", graph)
    assert [(node.labels, dict(node.properties)) for node in graph.nodes] == [
        (("Film",), {"name": "Alien: Covenant", "year": 2017, "length": 122})
    ]


def test_an_edge_is_not_written_twice_and_takes_properties_in(graph: TaskGraph) -> None:
    text = "(Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)"
    assert not write(text, graph).change
    result = write("(Film: The Lantern) -[DIRECTED_BY year=1952, as=sole]-> (Person: Ola Brandt)", graph)
    assert result.change == GraphChange(changed=(Edge("e1", "directedBy", "n1", "n2", {"year": 1952, "as": "sole"}),))
    assert [(r.element_id, r.name, r.old, r.new) for r in result.replaced] == [("e1", "year", 1950, 1952)]


def test_a_correction_replaces_and_is_told(graph: TaskGraph) -> None:
    result = write("(Film: The Lantern) release year = 1952", graph)
    assert result.change == GraphChange(changed=(Node("n1", ("Film",), {"title": "The Lantern", "releaseYear": 1952}),))
    assert [(r.element_id, r.name, r.old, r.new) for r in result.replaced] == [("n1", "releaseYear", 1951, 1952)]
    assert not write("(Film: The Lantern) releaseYear = 1952\n(Film: The Lantern)", graph).change


def test_deletions(graph: TaskGraph) -> None:
    result = write(
        "DELETE (Film: The Lantern) release_year\nDELETE (Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)",
        graph,
    )
    assert result.change == GraphChange(changed=(Node("n1", ("Film",), {"title": "The Lantern"}),), removed=("e1",))
    result = write("DELETE (Course: System Admin)\nDELETE (Film: The Lantern)", graph)
    assert result.change == GraphChange(removed=("n4", "n1"))


def test_a_deleted_thing_takes_its_edges(graph: TaskGraph) -> None:
    assert set(write("DELETE (Person: Ola Brandt)", graph).change.removed) == {"e1", "n2"}


def test_what_cannot_be_deleted_costs_only_its_line(graph: TaskGraph) -> None:
    text = """DELETE (Person: Nobody)
DELETE (Film: The Lantern) color
DELETE (Film: The Lantern) release_year = 1900
DELETE (Film: The Lantern) -[STARRING]-> (Person: Ola Brandt)
DELETE (Person: Ola Brandt) name
(Film: The Lantern) color = true"""
    result = write(text, graph)
    assert [problem.line for problem in result.problems] == [1, 2, 3, 4, 5]
    assert result.change == GraphChange(
        changed=(Node("n1", ("Film",), {"title": "The Lantern", "releaseYear": 1951, "color": True}),)
    )


def test_what_comes_and_goes_within_a_reply_leaves_nothing(graph: TaskGraph) -> None:
    assert not write("(Town: Oslo) -[NEAR]-> (Film: The Lantern)\nDELETE (Town: Oslo)", graph).change


def test_a_line_that_fails_leaves_nothing(graph: TaskGraph) -> None:
    result = write("(Town: Oslo) -[HAS]-> (System Admin)", graph)
    assert not result.change and len(result.problems) == 1


def test_elements_know_their_lines(graph: TaskGraph) -> None:
    result = write("(Town: Oslo) size = 3\n(Film: The Lantern) -[IN]-> (Town: Oslo)\n(Town: Oslo) rain = true", graph)
    assert result.lines == {"n100": (1, 3), "e101": (2,)}


def test_the_graph_itself_is_not_touched(graph: TaskGraph) -> None:
    before = graph.snapshot()
    facts = read_lines(["(Film: The Lantern) year = 1", "DELETE (Person: Ola Brandt)"]).facts
    assert facts_to_change(facts, graph, numbers()).change
    assert graph.snapshot() == before


LETTERS = st.characters(codec="utf-8")
TEXTS = st.text(LETTERS, max_size=30)
NAMES = st.one_of(
    st.text(LETTERS, min_size=1, max_size=20),
    st.sampled_from(
        [
            "Alien (1979)",
            "a: b",
            "Label: name",
            "<x>",
            "(",
            "x)",
            '"',
            "it's",
            "a | b",
            "a -[b]-> c",
            "name",
            "- x",
            "x\ny",
        ]
    ),
).filter(lambda name: bool(name.strip()) and bool("".join(name.split())))
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    st.dates(min_value=datetime.date(1000, 1, 1)),
    st.datetimes(min_value=datetime.datetime(1000, 1, 1)),
    st.times(),
    st.lists(st.one_of(TEXTS, st.integers(-9, 9)), min_size=1, max_size=3).map(tuple),
)
LABELS = st.sampled_from(["Film", "Person", "TVShow", "Ort"])
PROPERTIES = st.dictionaries(st.sampled_from(["year", "running_time", "größe", "note2"]), VALUES, max_size=3)


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    nodes: dict[object, Node] = {}
    for number in range(draw(st.integers(1, 5))):
        name, label = draw(NAMES), draw(LABELS)
        key = (label, same_name(name))
        nodes.setdefault(key, Node(f"n{number}", (label,), {"name": name, **draw(PROPERTIES)}))
    ids = [node.id for node in nodes.values()]
    edges: dict[object, Edge] = {}
    for number in range(draw(st.integers(0, 5))):
        ends = (
            draw(st.sampled_from(["KNOWS", "PART_OF", "LIEGT_AN"])),
            draw(st.sampled_from(ids)),
            draw(st.sampled_from(ids)),
        )
        edges.setdefault(ends, Edge(f"e{number}", *ends, draw(PROPERTIES)))
    return GraphSnapshot(tuple(nodes.values()), tuple(edges.values()))


def content(snapshot: GraphSnapshot) -> tuple[object, object]:
    """Gives a graph without its ids, so that two can be compared."""

    def properties(element: Node | Edge) -> str:
        return json.dumps(encode_properties(element.properties), sort_keys=True)

    names = {node.id: (node.labels, str(node.properties["name"])) for node in snapshot.nodes}
    return (
        sorted((names[node.id], properties(node)) for node in snapshot.nodes),
        sorted((names[edge.source], edge.type, names[edge.target], properties(edge)) for edge in snapshot.edges),
    )


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back(snapshot: GraphSnapshot) -> None:
    text = show_facts(snapshot.elements())
    reading = read_lines(text.split("\n"))
    assert reading.problems == (), text
    graph = TaskGraph()
    result = facts_to_change(reading.facts, graph, numbers())
    assert result.problems == (), text
    graph.apply(result.change)
    assert content(graph.snapshot()) == content(snapshot), text
    assert not facts_to_change(reading.facts, graph, numbers()).change
    assert all(node.properties for node in graph.nodes)


@given(st.text(st.sampled_from("(): -[]->=,|\"'AbcDe1 \n{}.<"), max_size=120))
@settings(max_examples=500, deadline=None)
def test_no_text_makes_the_reader_or_the_builder_fail(text: str) -> None:
    graph = TaskGraph(GraphSnapshot((Node("n1", ("A",), {"name": "b"}), Node("n2", ("C",), {"name": "b"}))))
    reading = read_lines(text.split("\n"))
    change = facts_to_change(reading.facts, graph, numbers()).change
    graph.apply(change)
    assert all(node.properties and node.labels for node in graph.nodes)
    assert all(graph.node(edge.source) and graph.node(edge.target) for edge in graph.edges)
