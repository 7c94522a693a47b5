"""``kgot resume``: goes on with a run that was broken off."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from kgot_core.cli.options import SettingsOptions, read_sources, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.running import EXIT_CODES, run_to_its_end, show_answer


@click.command()
@click.argument("run")
@click.option("--file", "files", metavar="PATH", multiple=True, help="Where an attachment is now; may be repeated.")
@click.option("--force", is_flag=True, help="Go on although something has changed since the run began.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@settings_options
def resume(run: str, files: tuple[str, ...], force: bool, as_json: bool, quiet: bool, options: SettingsOptions) -> int:
    """Go on with RUN after an interruption, a crash or a failure; nothing that was answered is asked again.

    RUN is a path, an id, its beginning, or last. The settings are those that the run began with; keys are read anew.
    What has changed since and may change the answer is refused by name. Exit codes are those of kgot run.
    """
    from kgot_core.run.broken_off import final_answer
    from kgot_core.run.record.finding import find_run
    from kgot_core.run.record.folder import read_records
    from kgot_core.session.recorded import recorded_settings
    from kgot_core.session.session import Session
    from kgot_core.settings import Settings

    folder = find_run(run, Path(Settings.build(read_sources(options)).core.runs_dir)).absolute()
    if final_answer(list(read_records(folder))) is not None:
        return _ended(folder, as_json)
    registry, settings, schema = recorded_settings(folder, os.environ, options.sets, Path.cwd(), options.plugins)
    for record in registry.failures:
        echo(f"kgot: {record.line} (kgot plugins show {record.distribution})", err=True)
    session = Session(registry, settings, schema=schema)
    return run_to_its_end(
        session,
        lambda sinks: session.resume(folder, attachments=files, sinks=sinks, force=force),
        lambda _: folder,
        as_json=as_json,
        quiet=quiet,
    )


def _ended(folder: Path, as_json: bool) -> int:
    """Shows the answer of a run that is at its end, once more."""
    from kgot_core.session.broken_run import BrokenRun

    run = asyncio.run(BrokenRun.reopen(folder, str))
    run.close()
    assert run.answer is not None
    echo(f"kgot: the run {run.run} is at its end, so there is nothing to go on with; this is its answer", err=True)
    show_answer(run.answer, as_json)
    return EXIT_CODES[run.answer.status]
