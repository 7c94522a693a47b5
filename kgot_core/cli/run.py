"""``kgot run``: one question from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgot_core.cli.asking import Asking, asking_options, read_question
from kgot_core.cli.run_options import run_options
from kgot_core.cli.running import run_to_its_end

if TYPE_CHECKING:
    from kgot_core.contracts.task import Task
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Override, Settings


@click.command()
@click.argument("question", required=False)
@click.option("--file", "files", metavar="PATH", multiple=True, help="Attach a file; may be repeated.")
@run_options
@asking_options
def run(
    question: str | None,
    files: tuple[str, ...],
    graph: str | None,
    overrides: Callable[[], list[Override]],
    asking: Asking,
) -> int:
    """Answer QUESTION with a knowledge graph of the task; without QUESTION it is read from standard input.

    The answer goes to standard output, progress to standard error. Exit code: 0 answered, 1 failed, 2 wrong usage,
    3 no solution or not sure enough, 75 interrupted: kgot resume goes on with it.
    """
    from kgot_core.contracts.task import Task

    registry, settings = asking.settings(overrides())
    text = read_question(question, 'kgot run "..."')
    task = Task(text, tuple(Path(path) for path in files))
    return answer_task(registry, settings, asking, task, graph)


def answer_task(registry: PluginRegistry, settings: Settings, asking: Asking, task: Task, graph: str | None) -> int:
    """Runs a task in a session of its own, prints its answer and says where it is kept.

    Args:
        registry: The plugins.
        settings: The settings in force.
        asking: The command's options.
        task: The task.
        graph: File or run with the graph to start from.

    Returns:
        The exit code.
    """
    from kgot_core.cli.runs import runs_dir
    from kgot_core.session.session import Session

    runs = Path(settings.core.runs_dir)
    # With --out the run's own folder lies elsewhere, while the run that it starts from lies where runs usually do.
    beside = [runs_dir(asking.options)] if graph is not None and asking.values["out"] else []
    session = Session(registry, settings, runs=runs, schema=asking.read_schema(), graph=graph, beside=beside)
    return run_to_its_end(
        session,
        lambda sinks: session.solve(task, sinks=sinks),
        session.folder_of,
        as_json=asking.as_json,
        quiet=asking.quiet,
    )
