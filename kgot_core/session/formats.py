"""The formats of graphs: which one a name means, and its provider at work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from kgot_core.errors import KgotError, PluginError, UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.plugins.known import format_of
from kgot_core.providers import FOLDER, FormatProvider
from kgot_core.run.faults import said
from kgot_core.session.checks import ready_settings
from kgot_core.settings import Settings

T = TypeVar("T")


def find_format(registry: PluginRegistry, name: str, format: str = "") -> FormatProvider:
    """Finds the format of a file.

    Args:
        registry: The plugins.
        name: The file; its longest known ending decides.
        format: The format's name, which then decides alone.

    Raises:
        UsageError: No format, or more than one, has the ending.
        PluginError: The package that brings it is not installed.
    """
    if format:
        return cast(FormatProvider, registry.get("format", format))
    fitting, ending = _fitting(registry, name)
    ours, longer = format_of(name)
    if len(longer) > len(ending):
        return cast(FormatProvider, registry.get("format", ours))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = " and ".join(provider.name for provider in fitting)
        raise UsageError(f"{name}: the ending {ending} is that of {names}", hint="name the format with --from or --to")
    endings = sorted({f"{suffix} ({found.name})" for found in formats(registry) for suffix in found.suffixes})
    raise UsageError(f"{name}: the ending says no format; known are {', '.join(endings)}", hint="--from or --to NAME")


def formats(registry: PluginRegistry) -> list[FormatProvider]:
    """Lists the installed formats."""
    return [cast(FormatProvider, provider) for _, provider in registry.all("format")]


def _fitting(registry: PluginRegistry, name: str) -> tuple[list[FormatProvider], str]:
    """Gives the formats with the longest ending that fits."""
    shown = f"{name.rstrip('/')}/" if name.endswith("/") or Path(name).is_dir() else name.lower()
    found: dict[str, list[FormatProvider]] = {}
    for provider in formats(registry):
        for suffix in provider.suffixes:
            if shown.endswith(suffix) and (suffix == FOLDER or not shown.endswith(FOLDER)):
                found.setdefault(suffix, []).append(provider)
    ending = max(found, key=len, default="")
    return found.get(ending, []), ending


def has_ending(registry: PluginRegistry, name: str) -> bool:
    """Tells whether a name has an ending that some format has, installed or not."""
    return bool(_fitting(registry, name)[1] or format_of(name)[1])


def values_of(provider: FormatProvider, settings: Settings | None) -> Any:
    """Gives the settings of a format."""
    return provider.settings() if settings is None else ready_settings(settings, provider)


def attempt(provider: FormatProvider, name: str, what: str, function: Callable[[], T]) -> T:
    """Lets a provider work; what it raises becomes one line."""
    try:
        return function()
    except (KgotError, OSError) as error:
        if isinstance(error, KgotError) or what == "write":
            raise
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} is no {provider.name} file: it is not UTF-8 text") from None
    except Exception as error:  # whatever a plugin can raise
        raise PluginError(f"the format {provider.name} cannot {what} {name}: {said(error)}") from error
