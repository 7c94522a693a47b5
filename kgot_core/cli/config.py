"""``kgot config``: each setting and where it comes from, and which files are trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo
from kgot_core.cli.tables import echo_columns


@click.group()
def config() -> None:
    """Show settings and where they come from; trust a file."""


@config.command(name="show")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@settings_options
def show_config(as_json: bool, options: SettingsOptions) -> None:
    """Show each setting, its value and where it comes from. Secrets are masked."""
    _, settings = open_settings(options)
    items = settings.items()
    if as_json:
        found = [{"key": i.key, "value": i.value, "origin": i.origin, "secret": i.secret} for i in items]
        echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    echo_columns([[item.key, json.dumps(item.value, ensure_ascii=False), item.origin] for item in items])


@config.command(name="trust")
@click.argument("path", required=False, type=click.Path(path_type=Path))
def trust_config(path: Path | None) -> None:
    """Trust a settings file as it is now; once it changes, it must be trusted again.

    PATH is a kgot.toml or its folder, by default the nearest one from here upwards. Only a trusted file may set
    addresses, keys, commands, plugins, sandboxes and whatever else reaches or opens something.
    """
    from kgot_core.errors import UsageError
    from kgot_core.settings.build import guarded_keys
    from kgot_core.settings.files import FILE_NAME, find_file, read_file
    from kgot_core.settings.keys import Catalogue
    from kgot_core.settings.layers import file_layer
    from kgot_core.settings.names import key_text
    from kgot_core.settings.start import config_folder
    from kgot_core.settings.trust import TrustStore

    here = Path.cwd() if path is None else path
    file = find_file(here) if path is None else (here / FILE_NAME if here.is_dir() else here)
    if file is None:
        raise UsageError(f"there is no {FILE_NAME} in {here} or above it")
    found, store = read_file(file.resolve()), TrustStore(config_folder(os.environ))
    keys = guarded_keys(file_layer(found, store), Catalogue(), os.environ)
    store.trust(found)
    echo(f"{found.path} is trusted until it changes")
    for key, origin in keys:
        echo(f"  line {origin.line}: {key_text(key)}")
    if not keys:
        echo("  it sets nothing that needed it")
