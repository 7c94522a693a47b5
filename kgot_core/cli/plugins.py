"""``kgot plugins``: what is installed, in which state, and what one offers; writes a new one, checks one."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgot_core.cli.new import KINDS, make_package
from kgot_core.cli.options import SettingsOptions, open_registry, open_settings, read_sources, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.tables import echo_columns
from kgot_core.errors import FAILED

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRecord, PluginRegistry
    from kgot_core.providers import Provider
    from kgot_core.settings.keys import Key


@click.group()
def plugins() -> None:
    """List plugins, show what one offers, write a new one, check one."""


@plugins.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a plugin cannot be used.")
@settings_options
def list_plugins(as_json: bool, strict: bool, options: SettingsOptions) -> int:
    """List every plugin with its state and what it offers."""
    registry, settings = open_registry(read_sources(options), options)
    if as_json:
        echo(json.dumps([_record_json(record) for record in registry.records], indent=2, ensure_ascii=False))
    else:
        rows = [[record.distribution, record.version, record.state, _offers(record)] for record in registry.records]
        echo_columns([["PLUGIN", "VERSION", "STATE", "OFFERS"], *rows])
    for kind, name, packages in registry.clashes():
        choice = " or ".join(f"{package}:{name}" for package in packages)
        echo(f"kgot: the {kind} {name} is offered by {' and '.join(packages)}; choose with {choice}", err=True)
    return FAILED if registry.failures and (strict or settings.strict) else 0


@plugins.command(name="show")
@click.argument("name")
@settings_options
def show_plugin(name: str, options: SettingsOptions) -> None:
    """Show one plugin: settings with types and defaults, hooks, and the trace of a broken one.

    NAME is a package, a module, or something that it offers.
    """
    registry, _ = open_registry(read_sources(options), options)
    for number, record in enumerate(_wanted(registry, name)):
        if number:
            echo()
        _show(record)


@plugins.command(name="new")
@click.argument("name")
@click.option("--kind", required=True, metavar="|".join(KINDS), type=click.Choice(KINDS), help="What it offers.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Where its folder is made.")
def new_plugin(name: str, kind: str, folder: Path) -> None:
    """Write a small complete package that passes the suite of its kind.

    NAME is the name of the package, as in kgot-orchard; it is written into a new folder of that name.
    """
    target = make_package(name, kind, folder)
    echo(f"{target} is written. Next: pip install -e '{target}[test]', then kgot plugins check {name}")


@plugins.command(name="check")
@click.argument("name")
@settings_options
def check_plugin(name: str, options: SettingsOptions) -> int:
    """Run the suite that fits each thing that a plugin offers. A failing test says what to check.

    NAME is a package, a module, or something that it offers.
    """
    from kgot_core.cli.checking import run_suites
    from kgot_core.errors import PluginError
    from kgot_core.settings import provider_settings

    registry, settings = open_settings(options)
    for record in _wanted(registry, name):
        if record.state != "ok":
            raise PluginError(record.line, hint=f"kgot plugins show {name}")
        for provider in record.providers:
            provider_settings(settings, provider)
    return 0 if run_suites(name, options) else FAILED


def _wanted(registry: PluginRegistry, name: str) -> list[PluginRecord]:
    import difflib

    from kgot_core.errors import PluginError
    from kgot_core.plugins.known import install_hint, is_ours, package_for

    if found := registry.find(name):
        return found
    package = name if is_ours(name) else package_for(name)
    if package:
        raise PluginError(f"{package}, which brings {name}, is not installed", hint=install_hint(package))
    names = [record.distribution for record in registry.records]
    names += [provider.name for record in registry.records for provider in record.providers]
    near = difflib.get_close_matches(name, names, n=1)
    raise PluginError(f"there is no plugin {name}", hint=f"did you mean {near[0]}?" if near else "kgot plugins list")


def _show(record: PluginRecord) -> None:
    echo(" ".join(part for part in (record.distribution, record.version, record.state) if part))
    rows = [("module", record.module), ("hooks", ", ".join(record.hooks)), ("cause", record.message)]
    echo_columns([row for row in rows if row[1]], "  ")
    for provider in record.providers:
        echo(f"\n{provider.kind} {provider.name}: {provider.summary}")
        if settings := _settings(provider):
            echo_columns(settings, "  ")
    if record.traceback:
        echo(f"\n{record.traceback.rstrip()}")


def _settings(provider: Provider) -> list[list[str]]:
    from kgot_core.settings.keys import keys_of
    from kgot_core.settings.schema import SECTIONS
    from kgot_core.settings.values import type_text

    found = keys_of(provider.settings, (SECTIONS[provider.kind], provider.settings_table))
    rows = [[key.name, _default(key), type_text(key.type), key.help] for key in found]
    return [["SETTING", "DEFAULT", "TYPE", "HELP"], *rows] if rows else []


def _default(key: Key) -> str:
    if key.secret:
        return "(secret)"
    return json.dumps(key.default, ensure_ascii=False, default=str)


def _offers(record: PluginRecord) -> str:
    if record.state != "ok":
        return record.message
    by_kind = groupby(sorted(record.providers, key=lambda provider: provider.kind), key=lambda provider: provider.kind)
    return "; ".join(f"{kind} {', '.join(provider.name for provider in found)}" for kind, found in by_kind)


def _record_json(record: PluginRecord) -> dict[str, object]:
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "module": record.module,
        "state": record.state,
        "message": record.message,
        "hooks": list(record.hooks),
        "providers": [
            {"kind": provider.kind, "name": provider.name, "summary": provider.summary} for provider in record.providers
        ],
    }
