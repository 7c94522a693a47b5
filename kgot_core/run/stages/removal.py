"""Take elements out of the graph, each with its reason, so that they can be put back (paper, B.6)."""

from __future__ import annotations

from collections.abc import Mapping

from kgot_core.contracts.run import Run
from kgot_core.errors import QueryError
from kgot_core.events import ElementRemoved
from kgot_core.graph.elements import GraphChange, element_to_json
from kgot_core.graph.fold import TaskGraph, compare


async def remove(run: Run, step: str, reasons: Mapping[str, str]) -> GraphChange:
    """Removes elements; edges of a removed node go with it.

    Args:
        run: The run.
        step: Place of the write, below the run's own.
        reasons: Why each element is removed, by its id.

    Returns:
        The change that puts all of it back.
    """
    return await change_graph(run, step, GraphChange(removed=tuple(reasons)), reasons)


async def change_graph(run: Run, step: str, change: GraphChange, reasons: Mapping[str, str]) -> GraphChange:
    """Applies a change that takes elements out, and tells of each of them.

    Args:
        run: The run.
        step: Place of the write, below the run's own.
        change: The change.
        reasons: Why each element is removed, by its id, empty for one that was only moved; an edge that goes with its
            node takes the node's reason.

    Returns:
        The change that takes it back; empty where the store refused it.
    """
    if not change:
        return GraphChange()
    before = TaskGraph(run.graph.state.snapshot())
    try:
        await run.graph.apply(f"{run.path}/{step}", change, ("model",))
    except QueryError as error:
        run.notice(f"the graph was not cleaned: {error}")
        return GraphChange()
    back = compare(run.graph.state.snapshot(), before.snapshot())
    for element in back.added:
        if reasons.get(element.id) == "":
            continue  # it was only moved
        ends = (getattr(element, "source", ""), getattr(element, "target", ""))
        reason = next((reasons[name] for name in (element.id, *ends) if name in reasons), "")
        line = run.graph.dialect.line(element, before)
        run.emit(ElementRemoved(element=element_to_json(element), line=line, reason=reason))
    return back
