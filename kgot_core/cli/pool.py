"""``kgot pool``: starts, shows and stops pools of graph servers of which the runs of a batch lease one each."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.run_options import number
from kgot_core.cli.tables import echo_columns
from kgot_core.errors import FAILED

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Override, Settings

_pool_option = click.option("--pool", metavar="NAME|DIR", help="Its name on this machine, or its folder.  [default]")


@click.group()
def pool() -> None:
    """Start, show and stop pools: a graph server and a sandbox for each of several runs at once."""


@pool.command()
@_pool_option
@click.option("--slots", metavar="N", help="How many runs it serves at once.  [4]")
@click.option("--backend", metavar="NAME", help="The backend whose servers it starts.")
@settings_options
def start(pool: str | None, slots: str | None, backend: str | None, options: SettingsOptions) -> None:
    """Start a pool, and wait until all of its slots are ready; what is left of a dead pool is swept first.

    It goes on until kgot pool stop. Batches use it with --pool NAME.
    """
    from kgot_core.errors import UsageError
    from kgot_core.pool.opening import docker_settings, pool_backend
    from kgot_core.pool.place import private_folder
    from kgot_core.pool.sources import listed_addresses, named_folder
    from kgot_core.pool.starting import start_keeper, wait_until_ready
    from kgot_core.pool.state import keeper_runs
    from kgot_core.pool.sweeping import dead_pools, sweep

    given = _overrides(pool, slots, backend)
    registry, settings = open_settings(options, given)
    provider = pool_backend(registry, settings)
    if listed_addresses(settings, provider.name):
        raise UsageError(f"the servers of pool.{provider.name} are there already", hint="batches take them as they are")
    folder = private_folder(named_folder(settings))
    if keeper_runs(folder):
        raise UsageError(f"the pool in {folder} runs already", hint="kgot pool status; kgot pool stop")
    for dead in dead_pools(folder):
        ended = sweep(dead, docker_settings(registry, settings))
        echo(f"swept a dead pool in {dead}: {', '.join(ended) or 'nothing was left running'}", err=True)
    sandbox = _tried_sandbox(registry, settings)
    command = [sys.executable, "-m", "kgot_core", "pool", "keep", str(folder), sandbox]
    # The later ones stand above the earlier ones, as the options stand above --set here.
    texts = [*options.sets, *(f"{one.key}={one.value}" for one in given)]
    command += [part for text in texts for part in ("--set", text)]
    command += [part for name in options.plugins for part in ("--plugin", name)]
    wait_until_ready(start_keeper(command, folder, os.environ), folder, lambda line: echo(line, err=True))
    echo(
        f"the pool is ready; to use it: kgot batch ... --pool {pool or settings.core.pool.name or 'default'}", err=True
    )


@pool.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("sandbox")
@settings_options
def keep(folder: Path, sandbox: str, options: SettingsOptions) -> None:
    """Keep a pool: the process that kgot pool start leaves behind."""
    from kgot_core.cli.interrupts import on_signals
    from kgot_core.pool.opening import open_keeper

    registry, settings = open_settings(options)
    stop = threading.Event()
    with on_signals(stop.set):
        open_keeper(registry, settings, folder, sandbox, stop, lambda line: echo(line, err=True)).keep()


@pool.command()
@_pool_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@settings_options
def status(pool: str | None, as_json: bool, options: SettingsOptions) -> int:
    """Show the slots of a pool: their servers, how they are, and who holds them. Exit code 1 where there is none."""
    from kgot_core.pool.looking import describe_listed, describe_pool, pool_lines, slot_rows
    from kgot_core.pool.opening import pool_backend
    from kgot_core.pool.place import named_pools
    from kgot_core.pool.sources import ListedServers, listed_addresses, named_folder
    from kgot_core.pool.state import read_pool

    registry, settings = open_settings(options, _overrides(pool))
    backend = pool_backend(registry, settings).name
    listed = listed_addresses(settings, backend)
    told: dict[str, Any] | None
    told = describe_listed(ListedServers(backend, listed)) if listed else describe_pool(named_folder(settings))
    if as_json:
        echo(json.dumps(told, ensure_ascii=False, indent=2))
        return FAILED if told is None else 0
    if told is None:
        echo(f"there is no pool in {named_folder(settings)}")
        for other in named_pools():
            if read_pool(other) is not None:
                echo(f"  but one named {other.name}: kgot pool status --pool {other.name}")
        return FAILED
    for line in pool_lines(told):
        echo(line)
    echo_columns(slot_rows(told), "  ")
    return 0


@pool.command()
@_pool_option
@click.option("--force", is_flag=True, help="Also where runs use it; they fail, and kgot resume goes on with them.")
@settings_options
def stop(pool: str | None, force: bool, options: SettingsOptions) -> None:
    """Stop a pool: its servers end, and all that they stored is removed. Their logs stay until the next start."""
    from kgot_core.errors import UsageError
    from kgot_core.pool.opening import docker_settings
    from kgot_core.pool.sources import named_folder
    from kgot_core.pool.starting import stop_keeper
    from kgot_core.pool.state import read_pool
    from kgot_core.pool.sweeping import sweep

    registry, settings = open_settings(options, _overrides(pool))
    folder = named_folder(settings)
    if read_pool(folder) is None:
        raise UsageError(f"there is no pool in {folder}", hint="kgot pool status")
    if stop_keeper(folder, force=force):
        echo(f"the pool in {folder} has ended", err=True)
        return
    ended = sweep(folder, docker_settings(registry, settings))
    echo(f"swept a dead pool in {folder}: {', '.join(ended) or 'nothing was left running'}", err=True)


def _overrides(pool: str | None, slots: str | None = None, backend: str | None = None) -> list[Override]:
    from kgot_core.settings import Override

    own = {
        "--pool": ("pool.name", pool),
        "--slots": ("pool.slots", number("--slots", slots, int, "a whole number")),
        "--backend": ("backend", backend),
    }
    return [Override(key, value, option) for option, (key, value) in own.items() if value is not None]


def _tried_sandbox(registry: PluginRegistry, settings: Settings) -> str:
    """Makes sure that model-written Python can run, so that no run of a batch finds out; gives the sandbox's name."""
    from kgot_core.contracts.sandbox import CodeJob, Prelude, SandboxLimits
    from kgot_core.session.opening import open_sandbox

    sandbox, chosen = open_sandbox(registry, settings)
    session = sandbox.open(Prelude(), SandboxLimits())
    try:
        session.run(CodeJob("print(1)"))
    finally:
        session.close()
    echo(chosen or f"the sandbox {sandbox.name} works", err=True)
    return sandbox.name
