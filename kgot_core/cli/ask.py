"""``kgot graph ask``: an answer from a graph that is there already."""

from __future__ import annotations

import click

from kgot_core.cli.asking import Asking, asking_options, read_question
from kgot_core.cli.run import answer_task


@click.command()
@click.argument("graph", required=False)
@click.argument("question", required=False)
@click.option("--stored", is_flag=True, help="Ask the graph that the store holds; then GRAPH is left out.")
@asking_options
def ask(graph: str | None, question: str | None, stored: bool, asking: Asking) -> int:
    """Answer QUESTION from GRAPH, a file or a run, or with --stored from what the store of --backend holds.

    No tool is called and nothing is written into the graph. The answer goes to standard output; exit codes are those of
    kgot run: 0 answered, 1 failed, 2 wrong usage, 3 the graph does not hold it.
    """
    from kgot_core.contracts.task import Task
    from kgot_core.errors import UsageError
    from kgot_core.settings import Override

    if stored and question is not None:
        raise UsageError(
            "a graph is named beside --stored", hint='kgot graph ask --stored "QUESTION", or kgot graph ask GRAPH "..."'
        )
    if stored:
        graph, question = None, graph
    elif graph is None:
        raise UsageError("no graph is named", hint='kgot graph ask GRAPH "QUESTION": GRAPH is a file or a run, or last')
    chosen = [Override("strategy", "ask_graph", "kgot graph ask"), Override("graph.keep", stored, "--stored")]
    registry, settings = asking.settings(chosen)
    task = Task(read_question(question, 'kgot graph ask GRAPH "..."'))
    return answer_task(registry, settings, asking, task, graph)
