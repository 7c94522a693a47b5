"""``kgot run``: one question from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgot_core.cli.asking import Asking, asking_options, read_question
from kgot_core.cli.running import run_to_its_end

if TYPE_CHECKING:
    from kgot_core.contracts.task import Task
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Override, Settings

T = TypeVar("T", int, float)


@click.command()
@click.argument("question", required=False)
@click.option("--file", "files", metavar="PATH", multiple=True, help="Attach a file; may be repeated.")
@click.option("--graph", metavar="FILE|RUN", help="Start from the graph in a file, or at the end of a run.")
@click.option("--keep-graph", is_flag=True, help="Go on with the graph that the store holds, and leave it there.")
@click.option("--folder", "folders", metavar="DIR", multiple=True, help="Let tools search and read a folder.")
@click.option("--allow-path", "allowed", metavar="PATH", multiple=True, help="Let tools read a file or folder.")
@click.option("--strategy", metavar="NAME", help="Who runs the whole task.")
@click.option("--abstain-below", metavar="SHARE", help="Say that it is not known where samples agree less, 0 to 1.")
@click.option("--tool-model", metavar="SPEC", help="Model of the role tool, as provider:name.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="Offer these tools only; may be repeated.")
@click.option("--without-tool", "without", metavar="NAME", multiple=True, help="Leave a tool out; may be repeated.")
@click.option("--allow-install", is_flag=True, help="Let scripts have any package of the index, as wheels.")
@click.option("--max-iterations", metavar="N", help="Enhance rounds at most.")
@click.option("--max-cost", metavar="DOLLARS", help="Solve from what is there once the requests have cost this.")
@click.option("--max-tokens", metavar="N", help="Solve from what is there once this many tokens are used.")
@click.option("--deadline", metavar="TIME", help="Solve from what is there after 90s, 15m, 1h.")
@asking_options
def run(question: str | None, files: tuple[str, ...], graph: str | None, asking: Asking, **given: Any) -> int:
    """Answer QUESTION with a knowledge graph of the task; without QUESTION it is read from standard input.

    The answer goes to standard output, progress to standard error. Exit code: 0 answered, 1 failed, 2 wrong usage,
    3 no solution or not sure enough, 75 interrupted: kgot resume goes on with it.
    """
    from kgot_core.contracts.task import Task

    registry, settings = asking.settings(_overrides(**given))
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


def _overrides(
    keep_graph: bool,
    strategy: str | None,
    abstain_below: str | None,
    tool_model: str | None,
    tools: tuple[str, ...],
    without: tuple[str, ...],
    allow_install: bool,
    max_iterations: str | None,
    max_cost: str | None,
    max_tokens: str | None,
    deadline: str | None,
    folders: tuple[str, ...],
    allowed: tuple[str, ...],
) -> list[Override]:
    """Gives the command's own options as settings; each option that was given stands above ``--set``."""
    from kgot_core.settings import Override

    named: dict[str, tuple[str, Any]] = {
        "--keep-graph": ("graph.keep", keep_graph or None),
        "--strategy": ("strategy", strategy),
        "--abstain-below": ("votes.abstain_below", _number("--abstain-below", abstain_below, float, "a number")),
        "--tool-model": ("models.tool.model", tool_model),
        "--tool": ("tools.enabled", tools),
        "--without-tool": ("tools.disabled", without),
        "--max-cost": ("caps.max_cost", _number("--max-cost", max_cost, float, "a number")),
        "--max-tokens": ("caps.max_tokens", _number("--max-tokens", max_tokens, int, "a whole number")),
        "--deadline": ("caps.deadline", _duration("--deadline", deadline)),
        "--max-iterations": ("loop.max_iterations", _number("--max-iterations", max_iterations, int, "a whole number")),
        "--allow-install": ("tools.run_python_code.allow_install", allow_install or None),
        "--folder": ("files.folders", folders),
        "--allow-path": ("files.allow", allowed),
    }
    return [Override(key, value, option) for option, (key, value) in named.items() if value not in (None, ())]


def _number(option: str, text: str | None, kind: Callable[[str], T], what: str) -> T | None:
    from kgot_core.errors import UsageError

    try:
        return None if text is None else kind(text)
    except ValueError:
        raise UsageError(f"{option} takes {what}, not {text!r}") from None


def _duration(option: str, text: str | None) -> float | None:
    """Reads seconds, or a number with s, m or h."""
    factor = {"s": 1, "m": 60, "h": 3600}.get((text or "")[-1:], 0)
    number = _number(option, text[:-1] if text and factor else text, float, "a time such as 90s, 15m or 1h")
    return None if number is None else number * (factor or 1)
