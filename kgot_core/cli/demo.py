"""``kgot demo``: the whole loop on a small real table, offline."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.output import echo

if TYPE_CHECKING:
    from kgot_core.contracts.task import Answer


@click.command()
@click.option("--keep", metavar="DIR", help="Keep the run's folder below DIR, to look at with kgot show.")
def demo(keep: str | None) -> int:
    """Run a real task offline: sandbox, graph, votes, calculation and journal are real, model replies are recorded."""
    from kgot_core.errors import KgotError

    echo("This demo needs no key and no network: the model's replies are recorded; sandbox, graph, votes,")
    echo("calculation and journal are the real ones.\n")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kgot-demo-") as temporary, as_file(_table()) as table:
        echo(f"table {table.name}:\n" + "".join(f"  {line}\n" for line in table.read_text("utf-8").splitlines()))
        answer = asyncio.run(_run(table, Path(keep) if keep else Path(temporary)))
    if answer.status != "answered":
        raise KgotError(
            f"the demo did not work: {answer.reason or answer.text}", hint="kgot doctor says what is missing"
        )
    echo(f"\nanswer: {answer.text}")
    for item in answer.evidence:
        echo(f"  rests on {item.text}")
    echo(f"\n{time.monotonic() - began:.1f} s. Next: kgot run --help, and kgot doctor for what is set up here.")
    return 0


async def _run(table: Path, runs: Path) -> Answer:
    from kgot_core.contracts.task import Task
    from kgot_core.demo.recorded import QUESTION, RecordedModel
    from kgot_core.session.session import Session
    from kgot_core.settings import Override, Settings
    from kgot_core.settings.layers import Sources, override_layer
    from kgot_core.settings.start import load_plugins
    from kgot_core.sinks.progress import ProgressSink

    # The replies fit one way to run the task: no file and no variable may change it.
    overrides = [Override("backend", ("networkx",)), Override("tools.enabled", ("ask_llm", "run_python_code"))]
    sources = Sources((override_layer(overrides, Path.cwd()),), Path.cwd(), os.environ)
    registry, _ = load_plugins(sources)
    model: Any = RecordedModel()
    async with Session(registry, Settings.build(sources, registry), models={"graph": model}, runs=runs) as session:
        echo(f"sandbox: {session.sandbox_name}")
        return await session.solve(Task(QUESTION, (table,)), sinks=[ProgressSink(sys.stdout, live=False, graph=True)])


def _table() -> Any:
    return files("kgot_core.demo").joinpath("summits.csv")
