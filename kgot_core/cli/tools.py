"""``kgot tools``: what a run may use, and one tool called by hand."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.tables import echo_columns
from kgot_core.errors import FAILED

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.session.one_tool import OneCall
    from kgot_core.settings import Settings


@click.group()
def tools() -> None:
    """List the tools of a run, and call one by hand."""


@tools.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@settings_options
def list_tools(as_json: bool, options: SettingsOptions) -> None:
    """List every tool with the package that brings it, and whether it is ready."""
    rows = _rows(*open_settings(options))
    if as_json:
        echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    columns = [[row["tool"], row["package"], row["state"], row["about"]] for row in rows]
    echo_columns([["TOOL", "PACKAGE", "STATE", "ABOUT"], *columns])


@tools.command(name="call")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--file", "files", metavar="PATH", multiple=True, help="Attach a file; may be repeated.")
@click.option("--folder", "folders", metavar="DIR", multiple=True, help="Let tools search and read a folder.")
@click.option("--allow-path", "allowed", metavar="PATH", multiple=True, help="Let tools read a file or folder.")
@click.option("--model", metavar="SPEC", help="Model for tools that ask one, as provider:name.")
@click.option("--out", metavar="DIR", help="Keep files that the tool makes there.")
@click.option("--json", "as_json", is_flag=True, help="Print text, sources, files and usage as JSON.")
@settings_options
def call_tool(
    name: str,
    arguments: tuple[str, ...],
    files: tuple[str, ...],
    folders: tuple[str, ...],
    allowed: tuple[str, ...],
    model: str | None,
    out: str | None,
    as_json: bool,
    options: SettingsOptions,
) -> int:
    """Call the tool NAME once, as a run would. Values that are no text are JSON: pages=[1,2]. Exit code 1: failed."""
    from kgot_core.session.one_tool import call_tool as call
    from kgot_core.settings import Override

    values = {
        "--model": ("models.graph.model", model),
        "--folder": ("files.folders", folders),
        "--allow-path": ("files.allow", allowed),
    }
    overrides = [Override(key, value, option) for option, (key, value) in values.items() if value]
    registry, settings = open_settings(options, overrides)
    given = dict(_pair(text) for text in arguments)
    kept = Path(out).absolute() if out else None
    done = asyncio.run(call(registry, settings, name, given, [Path(path) for path in files], kept))
    _show(done, as_json)
    return FAILED if done.result.failed else 0


def _rows(registry: PluginRegistry, settings: Settings) -> list[dict[str, str]]:
    from kgot_core.session.checks import parts_of
    from kgot_core.session.one_tool import all_tools
    from kgot_core.session.tools import find_tools

    of_run = {entry.provider.name for entry in find_tools(registry, settings, ())}
    packages = {provider.name: package for package, provider in registry.all("tool")}
    rows: list[dict[str, str]] = []
    for entry in all_tools(registry, settings):
        name, state = entry.provider.name, "ready" if entry.provider.name in of_run else "by name only"
        rows.append(
            _row(name, packages[name], "not ready" if entry.ready else state, entry.ready or entry.provider.summary)
        )
        if not entry.ready:
            for part in parts_of(entry.provider, entry.settings):
                about = part.problem or part.summary
                rows.append(_row(f"{name} {part.name}", packages[name], "not ready" if part.problem else state, about))
    return rows


def _row(tool: str, package: str, state: str, about: str) -> dict[str, str]:
    return {"tool": tool, "package": package, "state": state, "about": about}


def _pair(text: str) -> tuple[str, str]:
    from kgot_core.errors import UsageError

    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"an argument is given as KEY=VALUE, not {text!r}")
    return key, value


def _show(done: OneCall, as_json: bool) -> None:
    from dataclasses import asdict

    result = done.result
    if as_json:
        data = {"failed": result.failed, "text": result.text, **asdict(result.artifact), "usage": asdict(done.usage)}
        echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    echo(result.text, err=result.failed)
    for source in result.artifact.sources:
        echo("source: " + " ".join(text for text in (source.address, source.title, source.place) if text), err=True)
    for name in result.artifact.files:
        echo(f"file: {name}", err=True)
