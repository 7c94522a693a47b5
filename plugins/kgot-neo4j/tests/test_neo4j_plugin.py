"""The entry point, the settings and the guide; without a server."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import bpe_openai
import pytest

from kgot_neo4j import plugin
from kgot_neo4j.dialect import dialect
from kgot_neo4j.settings import Neo4jSettings


def test_the_hook_gives_one_backend():
    (provider,) = plugin.kgot_graph_backends()
    assert provider.name == "neo4j" and provider.settings is Neo4jSettings
    assert provider.check(Neo4jSettings()) is None


def test_the_entry_point_leads_to_it():
    (entry,) = [entry for entry in entry_points(group="kgot") if entry.name == "neo4j"]
    assert entry.load() is plugin


def test_loading_the_plugin_loads_no_driver():
    code = "import sys, kgot_neo4j.plugin as p; list(p.kgot_graph_backends()); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'neo4j'" not in loaded and "kgot_neo4j.backend" not in loaded


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"uri": ""}, "backends.neo4j.uri"),
        ({"uri": "http://localhost:7474"}, "backends.neo4j.uri"),
        ({"uri": "bolt+s://x:1", "tls": "on"}, "decides on TLS itself"),
        ({"trust": "/not/there.pem"}, "/not/there.pem"),
        ({"concurrency": 0}, "concurrency"),
        ({"query_seconds": 0}, "query_seconds"),
        ({"lease_seconds": -1}, "lease_seconds"),
    ],
)
def test_settings_that_make_no_sense_are_named(changed, said):
    problem = plugin.check(Neo4jSettings(**changed))
    assert problem is not None and said in problem.message


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr(plugin.importlib.util, "find_spec", lambda name: None)
    problem = plugin.check(Neo4jSettings())
    assert problem is not None and "pip install" in problem.hint


def test_the_guide_with_its_examples_is_short():
    shown = dialect()
    first = shown.query_examples[0]
    text = "\n".join([shown.guide, *shown.write_examples, first.question, first.query, first.answer, *first.basis])
    assert len(bpe_openai.get_encoding("o200k_base").encode(text)) <= 530
