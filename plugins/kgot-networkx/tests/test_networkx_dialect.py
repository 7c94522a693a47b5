"""What the model is shown works, in both sandboxes, and is short."""

from __future__ import annotations

import bpe_openai
import pytest

from kgot_core.errors import QueryError
from kgot_core.graph.fold import TaskGraph
from kgot_networkx.dialect import dialect


def test_every_example_runs(graph):
    shown = graph.backend.dialect
    told = TaskGraph()
    for example in shown.write_examples:
        change = graph.write(example)
        assert change
        told.apply(change)
    assert told.snapshot() == graph.snapshot
    assert not any(graph.write(example).added for example in shown.write_examples)
    names = {node.key for node in graph.snapshot.nodes}
    assert shown.query_examples
    for example in shown.query_examples:
        rows = graph.query(example.query)
        assert any(example.answer in map(str, row.values()) for row in rows)
        assert set(example.basis) <= names
    before = graph.snapshot
    with pytest.raises(QueryError):
        graph.write(shown.invalid_example)
    assert graph.snapshot == before


def test_what_the_guide_names_is_so(graph):
    graph.write('G.add_node("key", label="Label", year=1)\nG.add_edge("key", "key", type="TYPE", year=1)')
    guide = graph.backend.dialect.guide
    state = TaskGraph(graph.snapshot)
    for line in graph.backend.dialect.lines(state, state):
        assert f"`{line}`" in guide
    read = ['d["label"]', 'd.get("year")', 'd["name"]']
    assert all(f"`{expression}`" in guide for expression in [*read, 'd["type"]'])
    rows = graph.query(f"result = [({', '.join(read)}) for n, d in G.nodes(data=True)]")
    assert rows == [{"result": ["Label", 1, "key"]}]
    for statement in ('G.nodes["key"]["year"] = 2', 'G.remove_edge("key", "key", "TYPE")', 'G.remove_node("key")'):
        assert f"`{statement}`" in guide
        assert graph.write(statement)
    assert not graph.nodes


def test_the_guide_with_its_examples_is_short():
    encoding = bpe_openai.get_encoding("o200k_base")
    for python, most in (("full", 480), ("subset", 530)):
        shown = dialect(python)
        first = shown.query_examples[0]
        text = "\n".join([shown.guide, *shown.write_examples, first.question, first.query, first.answer, *first.basis])
        assert len(encoding.encode(text)) <= most


def test_the_subset_is_told_of_and_full_python_is_not():
    assert "cut down" in dialect("subset").guide and "cut down" not in dialect("full").guide
