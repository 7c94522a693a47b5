"""What kgot doctor says of a Neo4j server."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
import yaml

from kgot_neo4j.plugin import kgot_graph_backends
from kgot_neo4j.settings import Neo4jSettings

pytestmark = pytest.mark.xdist_group("neo4j")
PERSON = "MERGE (p:Person {name: 'Ada'})"


def test_doctor_says_whether_a_run_could_start(opened, settings):
    (provider,) = kgot_graph_backends()
    first = opened("the first run")
    first.write(PERSON)
    assert "used by the run the first run" in provider.reach(settings(existing="refuse"), False).message
    first.backend.close()
    # What a run of kgot left is cleared by the next; what others left is not.
    assert provider.reach(settings(existing="refuse"), False) is None
    other = opened("other")
    other.on_server("CREATE (:Foreign)")
    other.backend.close()
    held = provider.reach(settings(existing="refuse"), False)
    assert "holds 1 nodes" in held.message and "did not make" in held.message and "existing=keep" in held.hint
    assert provider.reach(settings(existing="refuse"), True) is None
    assert provider.reach(settings(), False) is None
    assert "refuses the user or password" in provider.reach(settings(password="not the one"), False).message
    assert len(opened(mode="read_only").nodes) == 1


def test_doctor_says_that_a_graph_is_kept_only_where_runs_would_not_go_on_with_it(opened, settings):
    (provider,) = kgot_graph_backends()
    opened().backend.close()
    first = opened("one", "keep")
    first.write(PERSON)
    first.backend.close()
    problem = provider.reach(settings(existing="refuse"), False)
    assert "holds 1 nodes and 0 relationships that are kept" in problem.message and "--keep-graph" in problem.hint
    assert provider.reach(settings(existing="refuse"), True) is None
    assert provider.reach(settings(existing="keep"), False) is None


def test_doctor_shows_how_to_start_a_server(settings):
    (provider,) = kgot_graph_backends()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    problem = provider.reach(settings(uri=f"bolt://127.0.0.1:{port}"), False)
    assert f"no Neo4j answers at bolt://127.0.0.1:{port}" in problem.message and "\n" not in problem.message
    command = re.search(r"docker compose -f (\S+) up --wait", problem.hint)
    compose = yaml.safe_load(Path(command[1]).read_text())["services"]["neo4j"]
    assert compose["image"].startswith("neo4j:5.26") and "127.0.0.1:7687:7687" in compose["ports"]
    assert compose["environment"]["NEO4J_AUTH"].startswith("neo4j/${KGOT_BACKENDS__NEO4J__PASSWORD:?")
    assert Neo4jSettings().uri == "bolt://localhost:7687" and "cypher-shell" in compose["healthcheck"]["test"][1]
