"""The entry point and the settings."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from kgot_networkx import plugin
from kgot_networkx.settings import NetworkxSettings


def test_the_hook_gives_one_backend():
    (provider,) = plugin.kgot_graph_backends()
    assert provider.name == "networkx" and provider.settings is NetworkxSettings
    assert provider.check(NetworkxSettings()) is None


def test_the_entry_point_leads_to_it():
    (entry,) = [entry for entry in entry_points(group="kgot") if entry.name == "networkx"]
    assert entry.load() is plugin


def test_loading_the_plugin_loads_no_driver():
    code = "import sys, kgot_networkx.plugin as p; list(p.kgot_graph_backends()); list(p.kgot_graph_formats())"
    code += "; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'networkx'" not in loaded and "kgot_networkx.backend" not in loaded


@pytest.mark.parametrize("name", ["memory_mb", "output_chars", "script_chars", "load_seconds"])
def test_settings_that_make_no_sense_are_named(name):
    problem = plugin.check(NetworkxSettings(**{name: 0}))
    assert problem is not None and name in problem.message


def test_a_missing_networkx_is_named(monkeypatch):
    monkeypatch.setattr(plugin.importlib.util, "find_spec", lambda name: None)
    problem = plugin.check(NetworkxSettings())
    assert problem is not None and "networkx" in problem.message and "pip install" in problem.hint
