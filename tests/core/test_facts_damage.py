"""The faults of real small models, generated: nearly every fact is understood, none wrongly."""

import itertools
import random
from collections import Counter
from collections.abc import Callable

from kgot_core.graph.facts import facts_to_change
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Value
from kgot_core.reading.facts import read_facts

Triple = tuple[str, str, str]
NAMES = {
    "The Lantern": "Film",
    "Alien (1979)": "Film",
    "Movie 43": "Film",
    "千と千尋": "Film",
    "Rubik's Cube": "Toy",
    "Ola Brandt": "Person",
    "Nora Vale": "Person",
    "J. R. Moss": "Person",
    "São Paulo": "City",
    "Washington, D.C.": "City",
    "Köln": "City",
    "AC/DC": "Band",
    "Route 66": "Road",
    "O'Brien & Sons": "Company",
}
RELATIONS = ("DIRECTED_BY", "STARRING", "BORN_IN", "PART_OF", "CO_FOUNDED_BY")
KEYS = ("year", "running_time", "height_m")
VALUES: dict[str, Value] = {
    "1952": 1952,
    "95.5": 95.5,
    "true": True,
    "Norwegian": "Norwegian",
    "Paris, France": "Paris, France",
}
PROSE = (
    "Here are the facts:",
    "The film was made in Norway.",
    "(Label: name) key = value",
    "Note: all of it is known.",
)


def words(name: str, rng: random.Random) -> str:
    text = name.replace("_", " ").lower()
    return rng.choice([name, text, name.lower(), text.title().replace(" ", "")])


def edge(triple: Triple, rng: random.Random) -> str:
    first, relation, second = triple
    ends = [f"({NAMES[name]}: {name})" for name in (first, second)]
    relation = words(relation, rng)
    fault = rng.randrange(12)
    if fault == 0:  # The second label left out: the fault seen most.
        ends[1] = f"({second})"
    elif fault == 1:
        ends = [f"({first})", f"({second})"]
    elif fault == 2:
        ends = [f'({NAMES[name]}: "{name}")' for name in (first, second)]
    elif fault == 3:
        return f"{first} | {relation} | {second}"
    elif fault == 4:
        return f"| {ends[0]} | {relation} | {ends[1]} |"
    elif fault == 5:
        return f"{ends[0]} -> {relation} -> {ends[1]}"
    elif fault == 6:
        return f"{ends[1]} <-[{relation}]- {ends[0]}"
    elif fault == 7:
        return f"{NAMES[first]}: {first} -[{relation}]-> {NAMES[second]}: {second}"
    elif fault == 8:
        ends = [end.replace(": ", " :  ", 1).lower() if rng.random() < 0.5 else end for end in ends]
    left, right = rng.choice([(" -[", "]-> "), ("-[:", "]->"), (" --[", "]--> "), (" —[", "]—> "), (" -[", "]→ ")])
    return f"{ends[0]}{left}{relation}{right}{ends[1]}"


def assignment(name: str, key: str, value: str, rng: random.Random) -> str:
    node = rng.choice([f"({NAMES[name]}: {name})", f"({name})", f'({NAMES[name]}: "{name}")'])
    key = words(key, rng)
    quoted = f'"{value}"' if isinstance(VALUES[value], str) and rng.random() < 0.5 else value
    return rng.choice(
        [f"{node} {key} = {quoted}", f"{node}: {key}: {quoted}", f"{node}.{key} = {quoted}", f"{node} {key}={quoted}."]
    )


FRONT: tuple[Callable[[int], str], ...] = (
    lambda number: "",
    lambda number: f"{number}. ",
    lambda number: "* ",
    lambda number: "- ",
    lambda number: "   ",
)


def reply(rng: random.Random) -> tuple[str, set[Triple], dict[tuple[str, str], Value]]:
    edges: set[Triple] = set()
    properties: dict[tuple[str, str], Value] = {}
    lines: list[str] = []
    front = rng.choice(FRONT)
    for number in range(1, rng.randint(2, 9)):
        if rng.random() < 0.6:
            first, second = rng.sample(list(NAMES), 2)
            edges.add((first, relation := rng.choice(RELATIONS), second))
            lines.append(front(number) + edge((first, relation, second), rng))
        else:
            name, key, value = rng.choice(list(NAMES)), rng.choice(KEYS), rng.choice(list(VALUES))
            properties[name, key] = VALUES[value]
            lines.append(front(number) + assignment(name, key, value, rng))
    if rng.random() < 0.5:
        lines.insert(rng.randrange(len(lines)), rng.choice(PROSE))
    text = "\n".join(lines)
    return rng.choice([text, f"```facts\n{text}\n```", f"<think>so</think>\n```\n{text}"]), edges, properties


def test_at_least_95_of_100_faulty_facts_are_understood_and_none_wrongly() -> None:
    rng = random.Random(20240504)
    counts: Counter[str] = Counter()
    for _ in range(800):
        text, edges, properties = reply(rng)
        graph, counter = TaskGraph(), itertools.count()
        ids = lambda kind, counter=counter: f"{kind}{next(counter)}"  # noqa: E731
        reading = read_facts(text)
        result = facts_to_change(reading.facts, graph, ids)
        graph.apply(result.change)
        names = {node.id: str(node.properties["name"]) for node in graph.nodes}
        known = {name.casefold(): name for name in NAMES}
        spelled = {node_id: known.get(name.casefold(), name) for node_id, name in names.items()}
        read_edges = {(spelled[item.source], item.type, spelled[item.target]) for item in graph.edges}
        read_values = {
            (spelled[node.id], key): value
            for node in graph.nodes
            for key, value in node.properties.items()
            if key != "name"
        }
        assert read_edges <= edges, text
        assert read_values.items() <= properties.items(), text
        counts["given"] += len(edges) + len(properties)
        counts["read"] += len(read_edges) + len(read_values)
    assert counts["read"] >= 0.95 * counts["given"], counts
