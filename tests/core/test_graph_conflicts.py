"""Which values of a graph a change contradicts, whatever the store."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgot_core.graph.conflicts import Replaced, replaced_values
from kgot_core.graph.elements import GraphChange, Node
from kgot_core.graph.fold import TaskGraph
from kgot_core.graph.values import Value

values = st.one_of(
    st.integers(-3, 3), st.sampled_from(["1", "two", ""]), st.tuples(st.integers(0, 2), st.integers(0, 2))
)
properties = st.dictionaries(st.sampled_from(["a", "b", "c"]), values)


def changed(old: dict[str, Value], new: dict[str, Value]) -> tuple[Replaced, ...]:
    graph = TaskGraph()
    graph.apply(GraphChange(added=(Node("n", ("Lake",), old),)))
    return replaced_values(GraphChange(changed=(Node("n", ("Lake",), new),)), graph)


@given(old=properties, new=properties)
def test_only_values_that_are_gone_are_contradicted(old: dict[str, Value], new: dict[str, Value]) -> None:
    found = {item.name: item for item in changed(old, new)}
    assert set(found) <= set(old) & set(new)
    for name, item in found.items():
        assert (item.old, item.new) == (old[name], new[name]) and item.old != item.new
    assert not changed(old, {**new, **old})


def test_a_further_value_and_another_spelling_contradict_nothing() -> None:
    assert not changed({"a": 1}, {"a": (1, 2)})
    assert not changed({"a": 1952}, {"a": "1952"})
    assert not changed({"a": (1, 2)}, {"a": (2, 1, 3)})
    assert changed({"a": (1, 2)}, {"a": 2}) == (Replaced("n", "a", (1, 2), 2),)
    assert replaced_values(GraphChange(changed=(Node("other", (), {"a": 1}),)), TaskGraph()) == ()
