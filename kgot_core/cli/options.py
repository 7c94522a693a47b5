"""Options that every command with settings has, and what is made of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgot_core.cli.output import echo

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Override, Settings, Sources
    from kgot_core.settings.schema import PluginSettings

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class SettingsOptions:
    """What was given by ``--set`` and ``--plugin``."""

    sets: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()


def settings_options(function: F) -> Callable[..., Any]:
    """Gives a command the options ``--set`` and ``--plugin``; they arrive as one argument, ``options``."""

    @click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
    @click.option(
        "--plugin",
        "own",
        metavar="MODULE|FILE.py",
        multiple=True,
        help="Load a plugin of your own without packaging; may be repeated.",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, sets: tuple[str, ...], own: tuple[str, ...], **kwargs: Any) -> Any:
        return function(*args, options=SettingsOptions(sets, own), **kwargs)

    return wrapped


def read_sources(options: SettingsOptions, overrides: Iterable[Override] = ()) -> Sources:
    """Reads all layers of settings for the working folder and the environment of this process.

    Args:
        options: Of :func:`settings_options`.
        overrides: What other options of the command say; it stands above ``--set``.

    Raises:
        UsageError: Something cannot be read.
    """
    from kgot_core.settings.layers import Sources
    from kgot_core.settings.start import config_folder

    return Sources.read(Path.cwd(), os.environ, (*options.sets, *overrides), config_folder(os.environ))


def open_registry(sources: Sources, options: SettingsOptions) -> tuple[PluginRegistry, PluginSettings]:
    """Loads the plugins. One that cannot be used is one line on stderr, and stops nothing.

    Raises:
        PluginError: A plugin of the user's own, by ``--plugin`` or ``plugins.load``, cannot be used.
        UsageError: A setting ``plugins.*`` is wrong.
    """
    from kgot_core.settings.start import load_plugins

    registry, settings = load_plugins(sources, options.plugins)
    for record in registry.failures:
        echo(f"kgot: {record.line} (kgot plugins show {record.distribution})", err=True)
    return registry, settings


def open_settings(options: SettingsOptions, overrides: Iterable[Override] = ()) -> tuple[PluginRegistry, Settings]:
    """Loads plugins and settings.

    Args:
        options: Of :func:`settings_options`.
        overrides: What other options of the command say; it stands above ``--set``.

    Raises:
        UsageError: A setting is wrong.
        PluginError: A plugin of the user's own cannot be used, or any where ``plugins.strict`` is set.
    """
    from kgot_core.settings import Settings
    from kgot_core.settings.start import refuse_failures

    sources = read_sources(options, overrides)
    registry, plugins = open_registry(sources, options)
    refuse_failures(registry, plugins)
    return registry, Settings.build(sources, registry)
