"""Measures the graph stores at several sizes, each beside the bare client of its server in the same run.

A graph of cities on a road is filled in; then come writes of one node and one edge each, queries, the state as text
and the snapshot. ``write_rate_vs_driver`` is how many writes the backend does in the time in which the bare client does
one, by the medians of writes that take turns; an embedded store has no bare client. ``find_change_ms`` is what finding
new elements by a scan costs, ``change_ms`` a write that changes an existing node, after which the graph is read back.
``script_ms`` is a write that the sandbox has to run; the others of ``networkx`` are plain statements, which are read.

    python benchmarks/stores.py [--sizes 100,1000,10000,100000] [--backends neo4j,rdf4j,...] [--json]

The servers are started from the files of ``tests/servers``: Java and Maven are needed for Neo4j, Fuseki and RDF4J.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

from bare_clients import NAMES, SECONDS, Bare, BareDriver, opened

from kgot_core.contracts.backend import Call, GraphBackend
from kgot_core.graph.elements import Edge, Element, GraphChange, Node
from kgot_core.graph.fold import TaskGraph

SIZES = (100, 1_000, 10_000, 100_000)
CHUNK = 4_000
INDEPENDENT = 64
GOALS = {"neo4j": 0.8, "oxigraph": 0.8, "fuseki": 0.8, "rdf4j": 0.8}
"""Least ``write_rate_vs_driver``."""
MOST_MS = {"networkx": 2.0, "rdf": 2.0}
"""Most milliseconds of a write at 1,000 elements."""
Row = dict[str, Any]


def language(name: str) -> str:
    """Gives the language of a store's statements."""
    return "python" if name.startswith("networkx") else "cypher" if name == "neo4j" else "sparql"


def write(name: str, number: int, prefix: str = "Extra") -> str:
    """Gives a statement that adds one city and one road."""
    city = f"{prefix} {number}"
    if language(name) == "python":
        return (
            f'G.add_node("{city}", label="City", population={number})\n'
            f'G.add_edge("{city}", "City 5", type="ROAD", km={number})'
        )
    if language(name) == "cypher":
        return (
            f'MERGE (a:City {{name: "{city}"}}) SET a.population = {number}\n'
            f'MERGE (b:City {{name: "City 5"}})\nMERGE (a)-[:ROAD {{km: {number}}}]->(b)'
        )
    iri = f":{prefix}_{number}"
    return f'INSERT DATA {{ {iri} a :City ; :name "{city}" ; :population {number} ; :ROAD :City_5 . }}'


def change(name: str, number: int) -> str:
    """Gives a statement that changes a city."""
    return {
        "python": f'G.nodes["City 5"]["population"] = {number}',
        "cypher": f'MATCH (c:City {{name: "City 5"}}) SET c.population = {number}',
        "sparql": "DELETE { :City_5 :population ?old } INSERT { :City_5 :population "
        f"{number} }} WHERE {{ :City_5 :population ?old }}",
    }[language(name)]


def script(number: int) -> str:
    """Gives a write of one city and one road that has to be run: nothing but running it tells what it writes."""
    return (
        f'city = "Made " + str({number})\nG.add_node(city, label="City", population={number})\n'
        f'G.add_edge(city, "City 5", type="ROAD", km={number})'
    )


def queries(name: str) -> Sequence[str]:
    """Gives a query for one city and one over all."""
    return {
        "python": (
            'result = [{"km": d["km"]} for _, _, d in G.out_edges("City 7", data=True)]',
            'result = [{"n": sum(1 for _, d in G.nodes(data=True) if d["population"] > 50)}]',
        ),
        "cypher": (
            'MATCH (:City {name: "City 7"})-[r:ROAD]->(b) RETURN b.name AS name, r.km AS km',
            "MATCH (c:City) WHERE c.population > 50 RETURN count(c) AS n",
        ),
        "sparql": (
            "SELECT ?b { :City_7 :ROAD ?b }",
            "SELECT (COUNT(?c) AS ?n) { ?c :population ?p FILTER(?p > 50) }",
        ),
    }[language(name)]


def cities(name: str, elements: int) -> Iterator[Element]:
    """Gives a road through cities: as many nodes as edges, each city before the road from it."""
    keys = {"python": "City {}", "cypher": "", "sparql": ":City_{}"}[language(name)]
    for number in range(max(elements // 2, 10)):
        properties = {"name": f"City {number}", "population": number % 97, "founded": 1000 + number % 900}
        yield Node(f"n{number}", ("City",), properties, key=keys.format(number))
        if number:
            yield Edge(f"e{number}", "ROAD", f"n{number}", f"n{number - 1}", {"km": number} if number % 2 else {})


def timed(function: Callable[[], object]) -> float:
    """Gives the seconds that a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


class Measuring:
    """One store that grows from size to size.

    Args:
        name: The store.
        backend: It.
        bare: Its bare client.
    """

    def __init__(self, name: str, backend: GraphBackend, bare: Bare | None) -> None:
        self._name, self._backend, self._bare = name, backend, bare
        self._calls, self._numbers = count(1), count(1)
        self._filled = 0

    def row(self, elements: int) -> Row:
        """Fills the store up to a size and measures there."""
        new = list(cities(self._name, elements))[self._filled :]
        self._filled += len(new)
        backend = self._backend
        fill = sum(
            timed(lambda part=new[start : start + CHUNK]: backend.apply(GraphChange(tuple(part)), self._call()))
            for start in range(0, len(new), CHUNK)
        )
        row: Row = {"backend": self._name, "elements": elements, "fill_s": round(fill, 3)}
        turns = 100 if elements <= 10_000 else 20
        row |= self._writes(turns)
        row["change_ms"] = self._median(
            turns // 4, lambda number: backend.write(change(self._name, number), self._call())
        )
        if language(self._name) == "python":
            row["script_ms"] = self._median(turns // 4, lambda number: self._add(script(number)))
        for key, query in zip(("query_one_ms", "query_all_ms"), queries(self._name), strict=True):
            row[key] = self._median(turns // 4, lambda _, query=query: backend.query(query, self._call()))
        snapshot = backend.snapshot()
        row["snapshot_ms"] = self._median(3, lambda _: backend.snapshot())
        state = TaskGraph(snapshot)
        row["state_text_ms"] = self._median(3, lambda _: backend.dialect.lines(state, state))
        text = "\n".join(backend.dialect.lines(state, state))
        row["state_characters_per_element"] = round(len(text) / len(state), 1)
        return row | (self._neo4j(turns) if isinstance(self._bare, BareDriver) else {})

    def _call(self) -> Call:
        return Call(f"call {next(self._calls)}", SECONDS)

    def _median(self, turns: int, function: Callable[[int], object]) -> float:
        numbers = [next(self._numbers) for _ in range(turns)]
        return round(1_000 * statistics.median(timed(lambda n=number: function(n)) for number in numbers), 3)

    def _writes(self, turns: int) -> Row:
        """Lets backend and bare client take turns, so that whatever else the machine does hits both."""
        numbers = range(start := next(self._numbers) * 1_000, start + turns + 5)
        if self._bare is not None:
            self._bare.ready()
        ours: list[float] = []
        bare: list[float] = []
        for number in numbers:
            text, call = write(self._name, number), self._call()
            ours.append(timed(lambda text=text, call=call: self._backend.write(text, call)))
            if self._bare is not None:
                bare.append(timed(lambda number=number: self._bare.write(number)))  # type: ignore[union-attr]
        own = statistics.median(ours[5:])
        row: Row = {"write_ms": round(1_000 * own, 3), "bare_write_ms": None, "write_rate_vs_driver": None}
        if bare:
            alone = statistics.median(bare[5:])
            row |= {"bare_write_ms": round(1_000 * alone, 3), "write_rate_vs_driver": round(alone / own, 3)}
        return row

    def _neo4j(self, turns: int) -> Row:
        """What is told of Neo4j alone: finding by a scan, reading back, writes side by side."""
        told = self._median(turns // 4, lambda number: self._add(f'CREATE (:City {{name: "Told {number}"}})'))
        untold = self._median(
            turns // 4, lambda number: self._add(f'FOREACH (x IN [1] | CREATE (:City {{name: "Found {number}"}}))')
        )
        row: Row = {"find_change_ms": round(untold - told, 3)}
        for workers in (1, 8):
            number = next(self._numbers)
            texts = [
                f'MERGE (a:City {{name: "Alone {number}/{k}"}}) MERGE (b:City {{name: "Beside {number}/{k}"}}) '
                f"MERGE (a)-[:ROAD]->(b)"
                for k in range(INDEPENDENT)
            ]
            with ThreadPoolExecutor(workers) as pool:
                row[f"writes_{INDEPENDENT}_concurrency_{workers}_s"] = round(
                    timed(lambda texts=texts, pool=pool: list(pool.map(self._add, texts))), 3
                )
        row["read_back_s"] = round(timed(self._backend.snapshot), 3)
        return row

    def _add(self, text: str) -> None:
        self._backend.write(text, self._call())


def misses(rows: Sequence[Row]) -> Iterator[str]:
    """Names the goals that were missed."""
    for row in rows:
        name, size = row["backend"], row["elements"]
        if name in GOALS and row["write_rate_vs_driver"] < GOALS[name]:
            yield f"{name} at {size:,}: {row['write_rate_vs_driver']:.2f} of the bare client, goal {GOALS[name]}"
        if name in MOST_MS and size == 1_000 and row["write_ms"] > MOST_MS[name]:
            yield f"{name} at {size:,}: {row['write_ms']:.2f} ms a write, goal {MOST_MS[name]}"
        if name == "neo4j" and size == 10_000 and (row["find_change_ms"] > 50 or row["read_back_s"] > 2):
            yield f"neo4j at {size:,}: change found in {row['find_change_ms']} ms, read back in {row['read_back_s']} s"


def main() -> None:
    """Prints the table, or rows as JSON; progress goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of nodes and edges together")
    parser.add_argument("--backends", default=",".join(NAMES), help="stores, of " + ", ".join(NAMES))
    parser.add_argument("--json", action="store_true", help="print one array of rows and nothing else")
    given = parser.parse_args()
    names = given.backends.split(",")
    if wrong := [name for name in names if name not in NAMES]:
        parser.error(f"there is no store {wrong[0]}; there are {', '.join(NAMES)}")
    rows: list[Row] = []
    for name in names:
        with opened(name, lambda number, name=name: write(name, number, "Bare")) as (backend, bare):
            measuring = Measuring(name, backend, bare)
            for size in sorted(map(int, given.sizes.split(","))):
                print(f"{name} at {size:,} ...", file=sys.stderr)
                rows.append(row := measuring.row(size))
                if not given.json:
                    print("  ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print(*(f"goal missed: {line}" for line in misses(rows)), sep="\n")


if __name__ == "__main__":
    main()
