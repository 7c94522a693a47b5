"""``kgot batch``: many tasks from one file."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgot_core.cli.asking import Asking, asking_options
from kgot_core.cli.errors import exit_code
from kgot_core.cli.output import echo
from kgot_core.cli.run_options import number, run_options
from kgot_core.errors import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from kgot_core.batch.plan import BatchPlan
    from kgot_core.batch.running import BatchRun, Outcome
    from kgot_core.batch.task_reading import BadTasks
    from kgot_core.errors import UsageError
    from kgot_core.settings import Override


@click.command()
@click.argument("tasks")
@click.option("--scheduler", metavar="NAME", help="Who runs the tasks: local, or that of a plugin.")
@click.option("--ranks", metavar="N", help="Processes, of a scheduler that starts them: its setting ranks.")
@click.option("--jobs", metavar="N", help="Tasks at once in one process.")
@click.option("--pool", metavar="NAME|DIR", help="Lease each task a slot of this pool (kgot pool start).")
@click.option("--batch-max-cost", metavar="DOLLARS", help="What all tasks together may cost.")
@click.option("--batch-max-tokens", metavar="N", help="What all tasks together may use.")
@click.option("--strict", is_flag=True, help="Exit code 1 where a task failed.")
@run_options
@asking_options
def batch(
    tasks: str,
    scheduler: str | None,
    ranks: str | None,
    jobs: str | None,
    pool: str | None,
    batch_max_cost: str | None,
    batch_max_tokens: str | None,
    strict: bool,
    graph: str | None,
    overrides: Callable[[], list[Override]],
    asking: Asking,
) -> int:
    """Answer every task of the file TASKS: JSON lines, CSV or Parquet with id, question, files, answer, level, meta.

    --out names the folder of the batch; --max-cost, --max-tokens and --deadline hold for each task. Interrupted, it
    goes on with the same command or with kgot resume. Exit code: 0 every task has its record, 1 the batch failed,
    2 wrong usage, 75 interrupted.
    """
    from kgot_core.batch.plan import BatchPlan
    from kgot_core.errors import UsageError
    from kgot_core.settings import Override

    if not asking.values["out"]:
        raise UsageError("a batch needs a folder", hint="name it with --out DIR")
    own = {
        "--scheduler": ("scheduler", scheduler),
        "--jobs": ("batch.jobs", number("--jobs", jobs, int, "a whole number")),
        "--pool": ("pool.name", pool),
        "--batch-max-cost": ("batch.max_cost", number("--batch-max-cost", batch_max_cost, float, "a number")),
        "--batch-max-tokens": ("batch.max_tokens", number("--batch-max-tokens", batch_max_tokens, int, "a number")),
    }
    named = [Override(key, value, option) for option, (key, value) in own.items() if value is not None]
    # Here the option is no folder for runs, but the one of the batch.
    rest = replace(asking, values={**asking.values, "out": None})
    registry, settings = rest.settings([*overrides(), *named])
    if ranks is not None:
        key = f"schedulers.{settings.core.scheduler}.ranks"
        override = Override(key, number("--ranks", ranks, int, "a whole number"), "--ranks")
        settings = settings.with_overrides([override], registry)
    if graph is not None and Path(graph).exists():
        graph = str(Path(graph).absolute())  # a batch may go on from another folder
    folder = Path(asking.values["out"]).absolute()
    plan = BatchPlan(folder, Path(tasks).absolute(), registry, settings, asking.read_schema(), graph)
    return run_batch(plan, goes_on=False, strict=strict, as_json=asking.as_json, quiet=asking.quiet)


def run_batch(plan: BatchPlan, *, goes_on: bool, strict: bool, as_json: bool, quiet: bool) -> int:
    """Runs a batch to its end, shows how it goes, and says how it ended.

    Args:
        plan: What it is begun or gone on with.
        goes_on: It is there already and was asked to go on.
        strict: A task that failed gives exit code 1.
        as_json: Print what became of it as JSON.
        quiet: Show no progress.

    Returns:
        The exit code.
    """
    from kgot_core.batch.running import BatchRun
    from kgot_core.batch.schedulers import launched
    from kgot_core.batch.task_reading import BadTasks
    from kgot_core.cli.batch_view import BatchView
    from kgot_core.cli.interrupts import on_signals
    from kgot_core.errors import KgotError

    this = [sys.executable, "-m", "kgot_core", *sys.argv[1:]]
    try:
        # The same command goes on with a batch that is there.
        code = launched(plan, goes_on, this, this)
    except BadTasks as error:
        raise _named(error) from None
    if code is not None:
        return code
    view = BatchView(plan.folder, sys.stderr, sys.stderr.isatty(), quiet)
    run = BatchRun(plan, goes_on=goes_on, on_begin=view.begin, on_record=view.record)

    def first() -> None:
        run.interrupt()
        echo("kgot: interrupted; the running tasks come to their ends (once more: at once)", err=True)

    # On a thread: the handler may have come while a line was being written.
    with on_signals(lambda: threading.Thread(target=first, daemon=True).start()):
        try:
            outcome = run.run()
        except KgotError as error:
            if error is run.said_elsewhere:
                return exit_code(error)
            raise (_named(error) if isinstance(error, BadTasks) else error) from None
        finally:
            view.close()
    return _end(plan, run, outcome, strict, as_json, quiet)


def _named(error: BadTasks) -> UsageError:
    """Says what is wrong with each row, a line each, and gives the error without them."""
    from kgot_core.errors import UsageError

    for problem in error.problems:
        echo(f"{error.path.name}: {problem}", err=True)
    return UsageError(error.short, hint=error.hint)


def _end(plan: BatchPlan, run: BatchRun, outcome: Outcome, strict: bool, as_json: bool, quiet: bool) -> int:
    failed = outcome.totals["statuses"].get("failed", 0)
    if outcome.rank == 0:
        if as_json:
            echo(json.dumps(outcome.totals, ensure_ascii=False, indent=2))
        if not quiet:
            said = ", ".join(f"{number} {status}" for status, number in outcome.totals["statuses"].items())
            echo(f"{said or 'no task ended'}; results in {plan.folder / 'results.jsonl'}", err=True)
        if outcome.left or run.stopped:
            echo(f"      {outcome.left} tasks are left; to go on: kgot resume {plan.folder}", err=True)
    if run.stopped:
        return INTERRUPTED
    return FAILED if outcome.left or (strict and failed) else 0
