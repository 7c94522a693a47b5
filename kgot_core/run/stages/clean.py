"""Take noise out of the graph: duplicates, and what the task does not need (paper, 2.5, B.6.1 and B.6.2)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from kgot_core.contracts.run import Run
from kgot_core.errors import ModelError
from kgot_core.graph.clean import Alike, merge_duplicates, node_name, texts_of
from kgot_core.graph.elements import GraphSnapshot, Node
from kgot_core.graph.fold import compare
from kgot_core.reading.numbered import read_numbered
from kgot_core.run.ids import new_ids
from kgot_core.run.prompting.transcript import shorten
from kgot_core.run.stages.removal import change_graph, remove

MOST_REMOVED = 0.75
REASON = "the task does not need it"
_DIGITS = re.compile(r"\d+")


async def clean_round(run: Run) -> None:
    """Merges duplicates after a round, where ``clean.when`` is ``round``."""
    if run.options.clean.when == "round":
        await _merge(run)


async def clean_for_solve(run: Run, needed: Sequence[str]) -> GraphSnapshot | None:
    """Cleans the graph before it is solved from, unless ``clean.when`` is ``never``.

    Args:
        run: The run at this step.
        needed: Queries, answers and names that the votes to solve rest on: nodes that they name stay.

    Returns:
        The graph as it was, for :func:`restore`; ``None`` where nothing was taken out.
    """
    if run.options.clean.when == "never":
        return None
    before = run.graph.state.snapshot()
    await _merge(run)
    if run.options.clean.irrelevant:
        await _remove_irrelevant(run, needed)
    if not compare(before, run.graph.state.snapshot()):
        return None
    run.refresh_state()
    return before


async def restore(run: Run, before: GraphSnapshot) -> None:
    """Puts back what was taken out."""
    run.notice("the cleaned graph gave no answer, so what was taken out is put back")
    await change_graph(run, "restored", compare(run.graph.state.snapshot(), before), {})
    run.refresh_state()


async def _merge(run: Run) -> None:
    merged = merge_duplicates(run.graph.state, new_ids(run.graph), await _alike(run))
    await change_graph(run, "duplicates", merged.change, merged.reasons)


async def _alike(run: Run) -> Alike | None:
    """Compares the nodes' texts by their vectors; texts whose numbers differ never say the same."""
    nodes = [node for node in run.graph.state.nodes if node.properties and not node.inferred]
    if run.options.clean.similarity > 1 or len(nodes) < 2:
        return None
    texts = texts_of(nodes)
    try:
        vectors = await run.embed("likeness", "clean", texts)
    except ModelError as error:
        run.notice(f"nodes are compared by name only: {error}")
        return None
    known = {node.id: (text, vector) for node, text, vector in zip(nodes, texts, vectors, strict=True)}
    least = run.options.clean.similarity

    def alike(left: Node, right: Node) -> bool:
        if left.id not in known or right.id not in known:
            return False
        (one, first), (other, second) = known[left.id], known[right.id]
        return _DIGITS.findall(one) == _DIGITS.findall(other) and _cosine(first, second) >= least

    return alike


async def _remove_irrelevant(run: Run, needed: Sequence[str]) -> None:
    """Removes nodes that a model says the task does not need; never one that the question or a vote names."""
    said = " ".join(re.findall(r"\w+", " ".join([run.task.question, *needed]).casefold()))
    nodes = [node for node in run.graph.state.nodes if not node.inferred and f" {node_name(node)} " not in f" {said} "]
    if not nodes:
        return
    graph = run.graph.state
    lines = [f"{number}: {run.graph.dialect.line(node, graph)}" for number, node in enumerate(nodes, 1)]
    edges = run.graph.dialect.lines(graph.edges, graph)

    def prompt(tokens: int) -> str:
        shown = shorten("\n".join(edges), tokens // 2)
        slots = {"question": run.task.question, "nodes": shorten("\n".join(lines), tokens)}
        return run.prompt("clean", edges=shown, **slots)

    reply = await run.ask("irrelevant", "clean", prompt)
    found = read_numbered(reply.completions[0].text, len(nodes))
    if len(found) > MOST_REMOVED * len(graph.nodes):
        run.notice(f"nothing was removed as irrelevant: the model named {len(found)} of {len(graph.nodes)} nodes")
        return
    await remove(
        run, "irrelevant-removed", {nodes[number - 1].id: reason or REASON for number, reason in found.items()}
    )


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    product = sum(one * other for one, other in zip(left, right, strict=True))
    lengths = math.hypot(*left) * math.hypot(*right)
    return product / lengths if lengths else 0.0
