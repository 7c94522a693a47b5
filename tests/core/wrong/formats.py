"""Formats with one fault each, and the test of their suite that is meant for it."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

from kgot_core.errors import UsageError
from kgot_core.formats.snapshot import read_snapshot, write_snapshot
from kgot_core.graph.elements import GraphSnapshot, Node, snapshot_from_json
from kgot_core.graph.values import plain_text
from kgot_core.providers import FormatProvider
from kgot_core.testing.format_suite import FormatSuite


def kept(change=lambda graph: graph, **functions):
    """Gives a format that writes snapshots, changed on the way."""

    def write(settings, graph, path, losses):
        write_snapshot(settings, change(graph), path, losses)

    given = {"suffixes": (".kept",), "read": read_snapshot, "write": write, **functions}
    return FormatProvider(name="kept", summary="Keeps graphs.", **given)


def beside(settings, graph, path, losses):
    write_snapshot(settings, graph, path, losses)
    path.with_name("index.txt").write_text("one graph")


def raising(settings, path, losses):
    """Lets whatever the parser raises through."""
    return snapshot_from_json(json.loads(path.read_text("utf-8")))


def believing(settings, path, losses):
    """Makes a node of anything."""
    try:
        return read_snapshot(settings, path, losses)
    except (UsageError, UnicodeDecodeError):
        return GraphSnapshot((Node("a", (), {"text": path.read_bytes().decode("utf-8", "replace")}),))


def chatting(settings, path, losses):
    try:
        return read_snapshot(settings, path, losses)
    except UsageError as error:
        raise UsageError(f"{error.message}\nsorry") from None


def without_edges(graph):
    return GraphSnapshot(graph.nodes)


def as_text(graph):
    def text(properties):
        return {name: plain_text(value) for name, value in properties.items()}

    nodes = tuple(replace(node, properties=text(node.properties)) for node in graph.nodes)
    return GraphSnapshot(nodes, tuple(replace(edge, properties=text(edge.properties)) for edge in graph.edges))


def never_empty(graph):
    return graph if graph.nodes else GraphSnapshot((Node("root"),))


BOTH = "test_graphs_come_back_or_the_loss_is_told[plain] test_graphs_come_back_or_the_loss_is_told[odd]"
KINDS = ("nothing", "a word", "an open bracket", "an open tag", "a list of nothing", "a thousand brackets")
DAMAGED = " ".join(f"test_damaged_file_is_refused_in_one_line[{what}]" for what in KINDS)
FORMATS = {
    "CapitalEnding": ("test_provider_is_complete", kept(suffixes=(".KEPT",))),
    "NeitherWay": ("test_provider_is_complete", kept(read=None, write=None)),
    "LosesEdges": (BOTH, kept(without_edges)),
    "MakesTextOfAll": (BOTH, kept(as_text)),
    "AddsARoot": ("test_empty_graph", kept(never_empty)),
    "WritesBeside": ("test_writes_where_it_is_told_and_nowhere_else", kept(write=beside)),
    "RaisesAnything": (DAMAGED, kept(read=raising)),
    "TakesAnything": (f"{DAMAGED} test_damaged_file_is_refused_in_one_line[no text]", kept(read=believing)),
    "SaysMuch": (DAMAGED, kept(read=chatting)),
}


_suites = runpy.run_path(str(Path(__file__).with_name("suites.py")))
FAULTS = _suites["of_providers"](globals(), FormatSuite, FORMATS)
