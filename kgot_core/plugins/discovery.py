"""Finds plugins by the metadata of installed packages alone, and reads what version of the core they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from kgot_core.hookspecs import PROJECT
from kgot_core.plugins.record import CORE, canonical

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet


@dataclass(frozen=True)
class Found:
    """An entry point of the group ``kgot``; nothing of it was imported yet.

    Attributes:
        name: Name of the entry point.
        value: What it names: a module, or ``module:object``.
        distribution: Name of the package.
        version: Its version.
        requires: Its requirements, as written.
    """

    name: str
    value: str
    distribution: str
    version: str
    requires: tuple[str, ...] = ()


def discover() -> list[Found]:
    """Lists the entry points of all installed packages, sorted by package and name.

    A package that is visible twice on the import path counts once, as the first one found.
    """
    seen: set[str] = set()
    found: list[Found] = []
    for distribution in metadata.distributions():
        entries = _entries(distribution)
        name = str(distribution.metadata["Name"] or "unnamed") if entries else ""
        if not entries or canonical(name) in seen:
            continue
        seen.add(canonical(name))
        version, requires = str(distribution.metadata["Version"] or ""), tuple(distribution.requires or ())
        found.extend(Found(entry.name, entry.value, name, version, requires) for entry in entries)
    return sorted(found, key=lambda item: (canonical(item.distribution), item.name, item.value))


def core_version() -> str:
    """Gives the version of the installed core; empty where it runs from a source tree that is not installed."""
    try:
        return metadata.version(CORE)
    except metadata.PackageNotFoundError:
        return ""


def unmet(found: Found, version: str) -> str:
    """Checks what a plugin asks of the core's version.

    Args:
        found: The plugin.
        version: The core's version; empty skips the check.

    Returns:
        Why the plugin does not fit this core, on one line; empty where it does.
    """
    for line in found.requires if version else ():
        if not canonical(line).startswith(CORE):
            continue
        try:
            wanted = _wanted(line)
            fits = wanted is None or wanted.contains(version, prereleases=True)
        except ValueError as error:
            return f"its requirement {line!r} cannot be read: {error}"
        if not fits:
            return f"it needs {CORE}{wanted}, and this is {CORE} {version}"
    return ""


def _wanted(line: str) -> SpecifierSet | None:
    from packaging.requirements import Requirement

    requirement = Requirement(line)
    if canonical(requirement.name) != CORE:
        return None
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    return requirement.specifier if applies else None


def _entries(distribution: metadata.Distribution) -> list[metadata.EntryPoint]:
    # The text is looked at first: most packages name no plugin, and a damaged file of one of those must not matter.
    text = distribution.read_text("entry_points.txt") or ""
    if PROJECT not in text:
        return []
    return [entry for entry in distribution.entry_points if entry.group == PROJECT]
