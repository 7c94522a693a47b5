"""What the model is shown works in every store, and is short."""

from __future__ import annotations

import datetime
import subprocess
import sys
from importlib.metadata import entry_points

import bpe_openai
import pyoxigraph as ox
import pytest

from kgot_core.errors import QueryError
from kgot_core.graph.elements import Edge, Node
from kgot_core.graph.values import LangText
from kgot_rdf import plugin
from kgot_rdf.dialect import dialect
from kgot_rdf.names import DEFAULT_NAMESPACE
from kgot_rdf.settings import RdfSettings, RemoteSettings


def test_every_example_runs(graph):
    shown = graph.backend.dialect
    for example in shown.write_examples:
        assert graph.write(example)
    assert not any(graph.write(example).added for example in shown.write_examples)
    assert shown.query_examples
    for example in shown.query_examples:
        assert any(example.answer in map(str, row.values()) for row in graph.query(example.query))
        assert set(example.basis) <= set(graph.nodes)
    before = graph.snapshot
    with pytest.raises(QueryError):
        graph.write(shown.invalid_example)
    assert graph.snapshot == before


def test_what_the_guide_names_is_so(graph):
    guide = graph.backend.dialect.guide
    graph.write("INSERT DATA { :Key :year 1 ; :TYPE :Other . :Third :TYPE :Key }")
    for statement in (
        "[] a rdf:Statement ; rdf:subject :Key ; rdf:predicate :TYPE ; rdf:object :Other ; :year 1 .",
        "DELETE { :Key :year ?old } INSERT { :Key :year 2 } WHERE { :Key :year ?old }",
        "DELETE WHERE { :Key ?p ?o } ; DELETE WHERE { ?s ?p :Key }",
    ):
        assert f"`{statement}`" in guide
        assert graph.write(statement if "WHERE" in statement else f"INSERT DATA {{ {statement} }}")
    assert ":Key" not in graph.nodes


def test_the_state_is_turtle_that_says_all(local):
    local.apply(
        Node("a", ("Tower", "foaf:Thing"), {"name": 'The "Old"\nTower', "height": 61, "tags": ("x", "y")}),
        Node("b", (), {"day": datetime.date(2001, 2, 3), "said": LangText("oui", "fr"), "pi": 3.5, "ok": True}),
        Node("c"),
        Edge("e", "NEXT TO", "a", "b", {"m": 1}),
    )
    lines = local.backend.dialect.lines(local.told, local.told)
    prefixes = f"@prefix : <{DEFAULT_NAMESPACE}> .\n" + "".join(
        f"@prefix {name}: <{address}> .\n"
        for name, address in (
            ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
            ("xsd", "http://www.w3.org/2001/XMLSchema#"),
            ("foaf", "http://xmlns.com/foaf/0.1/"),
        )
    )
    triples = list(ox.parse(prefixes + "\n".join(lines), ox.RdfFormat.TURTLE))
    assert len(triples) == 2 + 4 + 4 + 1 + 4
    assert any(line.startswith("# ") for line in lines)


def test_the_guide_with_its_examples_is_short():
    encoding = bpe_openai.get_encoding("o200k_base")
    shown = dialect(DEFAULT_NAMESPACE)
    first = shown.query_examples[0]
    text = "\n".join([shown.guide, *shown.write_examples, first.question, first.query, first.answer, *first.basis])
    assert len(encoding.encode(text)) <= 500


def test_the_hook_gives_both_backends():
    first, second = plugin.kgot_graph_backends()
    assert (first.name, first.settings) == ("rdf", RdfSettings) and first.check(RdfSettings()) is None
    assert (second.name, second.settings) == ("rdf-remote", RemoteSettings)


def test_the_entry_point_leads_to_them():
    (entry,) = [entry for entry in entry_points(group="kgot") if entry.name == "rdf"]
    assert entry.load() is plugin


def test_loading_the_plugin_loads_no_driver():
    code = "import sys, kgot_rdf.plugin as p; list(p.kgot_graph_backends()); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not any(f"'{name}'" in loaded for name in ("pyoxigraph", "rdflib", "http.client", "kgot_rdf.backend"))


@pytest.mark.parametrize("name", ["statement_chars", "memory_mb", "load_seconds"])
def test_settings_that_make_no_sense_are_named(name):
    problem = plugin.check(RdfSettings(**{name: 0}))
    assert problem is not None and name in problem.message


@pytest.mark.parametrize("module", ["pyoxigraph", "rdflib"])
def test_a_missing_library_is_named(monkeypatch, module):
    monkeypatch.setattr(plugin.importlib.util, "find_spec", lambda name: None if name == module else object())
    problem = plugin.check(RdfSettings())
    assert problem is not None and module in problem.message and "pip install" in problem.hint


def test_a_namespace_that_is_no_address_is_named():
    problem = plugin.check(RdfSettings(namespace="kg"))
    assert problem is not None and "namespace" in problem.message
