"""``kgot graph convert`` and ``export``: graphs of runs into files, and from one format into another."""

from __future__ import annotations

import asyncio
import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.graph.elements import GraphSnapshot, Node
from kgot_core.graph.same import unlike
from kgot_core.plugins import PluginRegistry
from kgot_core.session.graphs import read_graph

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
opened, QUESTION, kgot, environment = _story["opened"], _story["QUESTION"], _command["kgot"], _command["environment"]
FORMATS = ("snapshot", "turtle", "ntriples", "jsonld", "cypher", "graphml", "gexf", "neo4j-json")
ODD = {"version": 1, "nodes": [{"id": "a", "labels": ["Hill"], "properties": {
    "name": "Alderkop \u202e\x1b[0m", "born": {"@date": "1871-02-03"}}}]}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with one whole run, which no test changes."""
    folder = tmp_path_factory.mktemp("many") / "runs"

    async def make() -> None:
        async with opened(runs=folder) as session:
            await session.solve(QUESTION)

    asyncio.run(make())
    yield folder


@pytest.fixture(scope="module")
def registry() -> PluginRegistry:
    made = PluginRegistry()
    made.load()
    return made


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "odd.json").write_text(json.dumps(ODD))
    return folder


def on(runs: Path, *arguments: str) -> Any:
    return kgot(*arguments, "--set", f"runs_dir={runs}")


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_is_exported_to_standard_output_and_read_back(
    name: str, runs: Path, folder: Path, registry: PluginRegistry
) -> None:
    done = on(runs, "graph", "export", "last", "--format", name)
    assert (done.exit_code, done.stderr) == (0, "")
    graph = read_graph(registry, "last", runs)
    assert len(graph.nodes) > 1 and "Alderkop" in done.stdout
    if name != "cypher":
        (folder / "graph").write_bytes(done.stdout_bytes)
        assert unlike(graph, read_graph(registry, str(folder / "graph"), runs, format=name)) == []


def test_a_run_is_exported_to_a_file_or_a_folder(runs: Path, folder: Path, registry: PluginRegistry) -> None:
    graph = read_graph(registry, "last", runs)
    counts = f"nodes {len(graph.nodes)}, edges {len(graph.edges)}"
    for name, options in (("a.gexf", ()), ("b", ("--format", "turtle")), ("c", ("--format", "csv")), ("d.zip", ())):
        done = on(runs, "graph", "export", "last", "--out", name, *options)
        assert (done.exit_code, done.stdout, done.stderr) == (0, f"{name}: {counts}\n", "")
        assert unlike(graph, read_graph(registry, name, runs, format=options[1] if options else "")) == []
    assert sorted(path.name for path in (folder / "c").iterdir()) == ["edges.csv", "nodes.csv"]


def test_graphs_are_converted_by_their_endings_and_losses_are_told(folder: Path, registry: PluginRegistry) -> None:
    done = kgot("graph", "convert", "odd.json", "odd.neo4j.json")
    assert (done.exit_code, done.stdout) == (0, "odd.neo4j.json: nodes 1, edges 0\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("kgot: a date or time is text in Neo4j") and "born" in line and "\x1b" not in line
    (folder / "odd.neo4j.json").rename("apoc.json")
    done = kgot("graph", "convert", "apoc.json", "back", "--from", "neo4j-json", "--to", "graphml")
    assert done.exit_code == 0, done.stderr
    back = read_graph(registry, "back", folder, format="graphml")
    assert unlike(read_graph(registry, "odd.json", folder), back) == []


def test_a_run_is_converted_too(runs: Path, folder: Path, registry: PluginRegistry) -> None:
    done = on(runs, "graph", "convert", "last", "graph.nt")
    assert done.exit_code == 0, done.stderr
    assert unlike(read_graph(registry, "last", runs), read_graph(registry, "graph.nt", runs)) == []


def test_settings_of_a_format_count(runs: Path) -> None:
    space = "formats.turtle.namespace=http://hills.example/#"
    done = on(runs, "graph", "export", "last", "--format", "turtle", "--set", space)
    assert "@prefix : <http://hills.example/#> ." in done.stdout
    done = on(runs, "graph", "export", "last", "--format", "turtle", "--set", "formats.turtle.namespace=hills")
    assert done.exit_code == 2 and "no address" in done.stderr


def test_a_file_is_replaced_on_request_only(folder: Path) -> None:
    (folder / "there.ttl").write_text("mine")
    done = kgot("graph", "convert", "odd.json", "there.ttl")
    assert done.exit_code == 2 and (folder / "there.ttl").read_text() == "mine"
    assert done.stderr.splitlines() == [
        "kgot: there.ttl is there already", "      replace it with --force, or name another"
    ]  # fmt: skip
    assert kgot("graph", "convert", "odd.json", "there.ttl", "--force").exit_code == 0
    assert kgot("graph", "convert", "there.ttl", "there.ttl", "--force").exit_code == 0
    assert "Alderkop" in (folder / "there.ttl").read_text("utf-8")


def test_output_for_other_programs_is_exact(folder: Path) -> None:
    run = folder / "runs" / "20260101-x"
    run.mkdir(parents=True)
    name = "Alderkop \u202e\x85"
    events = [
        {"kind": "graph_opened", "snapshot": {"version": 1, "nodes": [{"id": "a", "properties": {"name": name}}]}}
    ]
    (run / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in [*events, {"kind": "x"}]))
    done = subprocess.run(
        [sys.executable, "-m", "kgot_core", "graph", "export", "last", "--format", "graphml"],
        cwd=folder, env=environment(), capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    (folder / "graph.graphml").write_bytes(done.stdout)
    made = PluginRegistry()
    made.load()
    found = read_graph(made, str(folder / "graph.graphml"), folder)
    assert unlike(GraphSnapshot((Node("a", (), {"name": name}),)), found) == []


@pytest.mark.parametrize(
    ("arguments", "said", "hint"),
    [
        (("convert", "no.json", "x.ttl"), "there is no file no.json", "a run is named by its id, or last: kgot runs"),
        (("convert", "no-run", "x.ttl"), "there is no run 'no-run' in ", "kgot runs lists the runs"),
        (("convert", "odd.json", "x.xyz"), "x.xyz: the ending says no format; known are ", "--from or --to NAME"),
        (("convert", "odd.json", "x.ttl", "--to", "turtel"), "there is no format turtel; ", "did you mean turtle?"),
        (("convert", "bad.ttl", "x.json"), "bad.ttl, line 1: ", ""),
        (("convert", "bad.ttl", "x.json", "--from", "snapshot"), "bad.ttl is not JSON", "another format is named"),
        (("convert", "odd.json", "x.ttl", "--from", "neo4j-json"), "odd.json, line 1: no node", "a snapshot is read"),
        (
            ("convert", "a.cypher", "x.json"),
            "the format cypher can be written but not read: ",
            "formats to read: csv, ",
        ),
        (("convert", "odd.json", "no/x.json"), "no/x.json cannot be written: No such file", ""),
        (("convert", "odd.json", "deep", "--to", "snapshot", "--force"), "deep is a folder", "name a file in it"),
        (("convert", "odd.json", "odd.json/", "--force"), "odd.json/ cannot be written: File exists", ""),
        (("convert", "deep", "x.json"), "deep has no nodes.csv", "a graph as CSV is nodes.csv and edges.csv"),
        (("convert", "deep", "x.json", "--from", "turtle"), "deep cannot be read: Is a directory", ""),
        (("export", "no-run", "--format", "turtle"), "there is no run 'no-run' in ", "kgot runs lists the runs"),
        (("export", "last"), "export needs a format", "for example --format snapshot, or --out graph.json"),
    ],
)
def test_bad_input_is_one_line_and_the_next_step(
    arguments: tuple[str, ...], said: str, hint: str, folder: Path
) -> None:
    (folder / "bad.ttl").write_text("<urn:a> <urn:b>")
    (folder / "a.cypher").write_text("")
    (folder / "deep").mkdir()
    done = kgot("graph", *arguments)
    lines = done.stderr.splitlines()
    assert done.exit_code == 2 and done.stdout == "" and len(lines) == (2 if hint else 1), done.output
    assert lines[0].startswith(f"kgot: {said}")
    assert not hint or lines[1].strip().startswith(hint)
    assert not list(folder.glob("x.*")) and not list(folder.glob(".kgot*"))


def test_csv_has_no_place_on_standard_output(runs: Path) -> None:
    done = on(runs, "graph", "export", "last", "--format", "csv")
    assert done.exit_code == 2 and done.stderr.splitlines() == [
        "kgot: the format csv is more than one text", "      name a place for it with --out"
    ]  # fmt: skip
