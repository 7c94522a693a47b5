"""The schema of snapshots holds for real ones and refuses what the reader refuses; the page lists every format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from kgot_core.errors import UsageError
from kgot_core.formats.snapshot import read_snapshot, write_snapshot
from kgot_core.graph.elements import GraphSnapshot
from kgot_core.graph.losses import Losses
from kgot_core.plugins import PluginRegistry
from kgot_core.testing.graphs import ANYTHING, make_graph

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    data = json.loads((DOCS / "snapshot.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(data)
    return Draft202012Validator(data)


def test_snapshots_are_what_the_schema_says(schema: Draft202012Validator, tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    for graph in (GraphSnapshot(), *(make_graph(seed, ANYTHING) for seed in range(60))):
        write_snapshot(None, graph, file, Losses())
        schema.validate(json.loads(file.read_text("utf-8")))


NODE: dict[str, Any] = {"id": "a", "labels": [], "properties": {}}
EDGE: dict[str, Any] = {"id": "e", "type": "T", "source": "a", "target": "a"}


@pytest.mark.parametrize(
    "changed",
    [
        {"version": 2},
        {"version": "1"},
        {"nodes": {}},
        {"nodes": [{**NODE, "id": 1}]},
        {"nodes": [{**NODE, "labels": "Hill"}]},
        {"nodes": [{**NODE, "labels": [1]}]},
        {"nodes": [{**NODE, "key": None}]},
        {"nodes": [{**NODE, "inferred": "yes"}]},
        {"nodes": [{**NODE, "type": "T"}]},
        {"nodes": [{**NODE, "properties": {"x": None}}]},
        {"nodes": [{**NODE, "properties": {"x": [["a"]]}}]},
        {"nodes": [{**NODE, "properties": {"x": {}}}]},
        {"nodes": [{**NODE, "properties": {"x": {"@number": "1"}}}]},
        {"nodes": [{**NODE, "properties": {"x": {"@text": "chat"}}}]},
        {"edges": [{**EDGE, "source": None}]},
        {"edges": [{**EDGE, "type": 1}]},
        {"edges": "none"},
    ],
    ids=json.dumps,
)
def test_what_the_schema_refuses_the_reader_refuses(
    changed: dict[str, Any], schema: Draft202012Validator, tmp_path: Path
) -> None:
    good = {"version": 1, "nodes": [NODE], "edges": [EDGE]}
    schema.validate(good)
    with pytest.raises(ValidationError):
        schema.validate({**good, **changed})
    (tmp_path / "graph.json").write_text(json.dumps({**good, **changed}))
    with pytest.raises(UsageError):
        read_snapshot(None, tmp_path / "graph.json", Losses())


def test_the_page_lists_every_format_with_its_endings() -> None:
    registry = PluginRegistry()
    registry.load()
    page = (DOCS / "graph-formats.md").read_text("utf-8")
    rows = {row[0]: row for row in re.findall(r"^\| `([\w-]+)` \|(.*)\|$", page, re.MULTILINE)}
    formats: list[Any] = [provider for package, provider in registry.all("format") if package.startswith("kgot-")]
    assert set(rows) == {provider.name for provider in formats}
    for provider in formats:
        for suffix in provider.suffixes:
            assert f"`{suffix}`" in rows[provider.name][1], f"{provider.name}: {suffix}"
        assert ("write only" in rows[provider.name][1]) is (provider.read is None)
