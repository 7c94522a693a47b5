"""The entry point, the settings, and what is said where something is missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from kgot_ray import plugin
from kgot_ray.cluster import rank_environment
from kgot_ray.settings import RaySettings


def test_the_entry_point_leads_to_the_scheduler():
    (entry,) = [entry for entry in entry_points(group="kgot") if entry.name == "ray"]
    assert entry.load() is plugin
    (provider,) = plugin.kgot_schedulers()
    assert provider.name == "ray" and provider.settings is RaySettings
    assert provider.check(RaySettings()) is None


def test_nothing_but_ranks_imports_ray():
    code = "import sys, kgot_ray.plugin as p; (q,) = p.kgot_schedulers(); q.check(q.settings(ranks=2))"
    code += "; q.launch(q.settings(), [], []); q.open(q.settings()).close(); print('ray' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "False"


@pytest.mark.parametrize("name", ["ranks", "restarts", "cpus", "room_seconds"])
def test_settings_that_make_no_sense_are_named(name):
    problem = plugin.check(RaySettings(**{name: -1}))
    assert problem is not None and f"schedulers.ray.{name}" in problem.message


def test_a_missing_ray_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    problem = plugin.check(RaySettings())
    assert problem is not None and problem.message == "ray is not installed" and "pip install 'ray" in problem.hint


def test_a_rank_gets_our_variables_and_those_that_are_named():
    given = {"KGOT_MODEL": "a", "OPENAI_API_KEY": "secret", "HF_TOKEN": "secret", "PATH": "/bin"}
    assert rank_environment(RaySettings(), given) == {"KGOT_MODEL": "a"}
    assert rank_environment(RaySettings(environment=("OPENAI_API_KEY",)), given).keys() == {
        "KGOT_MODEL",
        "OPENAI_API_KEY",
    }
