"""The registry of one process or run: every plugin with its state, and every provider by kind and name."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path

from kgot_core.errors import PluginError
from kgot_core.plugins.collect import manager
from kgot_core.plugins.discovery import Found, core_version, discover
from kgot_core.plugins.known import install_hint, is_ours, known_names, package_of
from kgot_core.plugins.loading import import_extra, is_file, load_found, load_object
from kgot_core.plugins.record import CORE, PluginRecord, canonical
from kgot_core.providers import BackendProvider, Provider, ProviderKind

BUILTIN = "kgot_core.builtin"


class PluginRegistry:
    """Plugins and their providers. Several registries in one process do not know of each other.

    Args:
        version: The core's version, against which requirements are checked; by default the installed one.
    """

    def __init__(self, version: str | None = None) -> None:
        self._version = core_version() if version is None else version
        self._manager = manager()
        self._records: dict[tuple[str, str, str], PluginRecord] = {}

    @property
    def records(self) -> tuple[PluginRecord, ...]:
        """Every plugin, whatever its state: the core's own first, then in the order of loading."""
        return tuple(self._records.values())

    @property
    def failures(self) -> tuple[PluginRecord, ...]:
        """Plugins that were wanted and cannot be used."""
        return tuple(record for record in self.records if record.failed)

    @staticmethod
    def discover() -> list[Found]:
        """Lists the installed plugins by metadata only; nothing is imported."""
        return discover()

    def load(self, disabled: Collection[str] = ()) -> None:
        """Loads the core's own providers and every installed plugin. One that fails stops nothing else.

        Args:
            disabled: Packages or entry points not to load (setting ``plugins.disabled``).
        """
        for found in (Found("builtin", BUILTIN, CORE, self._version), *self.discover()):
            key = (found.distribution, found.name, found.value)
            if key not in self._records:
                banned = () if found.distribution == CORE else disabled
                self._records[key] = load_found(self._manager, found, self._version, banned)

    def load_extra(self, spec: str) -> PluginRecord:
        """Loads a module or a file of the user's own, without packaging.

        Args:
            spec: A module's name, or the path of a file ``FILE.py``.

        Raises:
            PluginError: It cannot be loaded; the message has the cause, which is chained where it was an exception.
        """
        file = is_file(spec)
        module = str(Path(spec).resolve()) if file else spec
        name = Path(spec).stem if file else spec
        known = self._records.get((name, "extra", module))
        if known is not None:
            return known
        causes: list[BaseException] = []

        def bring() -> object:
            try:
                return import_extra(spec)
            except BaseException as error:
                causes.append(error)
                raise

        record = load_object(self._manager, PluginRecord("extra", name, "", module), bring)
        if record.state != "ok":
            raise PluginError(
                f"the plugin {spec} cannot be used: {record.message}", hint=_extra_hint(spec, causes)
            ) from (causes[0] if causes else None)
        self._records[name, "extra", module] = record
        return record

    def all(self, kind: ProviderKind) -> list[tuple[str, Provider]]:
        """Lists every provider of a kind with the package that brings it, in the order of loading."""
        return [
            (record.distribution, provider)
            for record in self.records
            for provider in record.providers
            if provider.kind == kind
        ]

    def get(self, kind: ProviderKind, name: str) -> Provider:
        """Finds a provider by its configured name.

        Args:
            kind: Kind of provider.
            name: Its name, or ``package:name`` where two packages use one name.

        Raises:
            PluginError: There is none, or more than one; the message names what there is.
        """
        package, _, bare = name.rpartition(":")
        matches = [
            (distribution, provider)
            for distribution, provider in self.all(kind)
            if provider.name == bare and canonical(package) in ("", canonical(distribution))
        ]
        if len(matches) == 1:
            return matches[0][1]
        if matches:
            packages = [distribution for distribution, _ in matches]
            raise PluginError(
                f"the {kind} {name} is offered by {' and '.join(packages)}",
                hint="choose with " + " or ".join(f"{distribution}:{bare}" for distribution in packages),
            )
        raise self._missing(kind, name)

    def default_backend(self) -> BackendProvider:
        """Gives the backend to use where none is named: the only one installed, else networkx.

        Raises:
            PluginError: There is none, or several without networkx; the message says how to get it.
        """
        offered = self.all("backend")
        found = offered[0][1] if len(offered) == 1 else self.get("backend", "networkx")
        assert isinstance(found, BackendProvider)
        return found

    def find(self, name: str) -> list[PluginRecord]:
        """Finds plugins by the name of a package, entry point, module or provider (also ``package:name``)."""
        by_name = [record for record in self.records if record.answers_to(name)]
        package, _, bare = name.rpartition(":")
        return by_name or [
            record
            for record in self.records
            if canonical(package) in ("", canonical(record.distribution))
            and any(provider.name == bare for provider in record.providers)
        ]

    def clashes(self) -> list[tuple[ProviderKind, str, list[str]]]:
        """Lists each kind and name that several packages offer, with the packages."""
        packages: dict[tuple[ProviderKind, str], list[str]] = {}
        for record in self.records:
            for provider in record.providers:
                packages.setdefault((provider.kind, provider.name), []).append(record.distribution)
        return [(*found, offered) for found, offered in packages.items() if len(offered) > 1]

    def _missing(self, kind: ProviderKind, name: str) -> PluginError:
        package, _, bare = name.rpartition(":")
        brings = package or package_of(kind, bare) or (name if is_ours(name) else "")
        for record in self.records:
            if record.state != "ok" and (record.answers_to(name) or (brings and record.answers_to(brings))):
                return PluginError(
                    f"the {kind} {name} cannot be used: {record.line}", hint=f"kgot plugins show {record.distribution}"
                )
        offered = self.all(kind)
        listed = ", ".join(f"{provider.name} ({distribution})" for distribution, provider in offered) or "none"
        message = f"there is no {kind} {name}; installed: {listed}"
        if brings and not any(record.answers_to(brings) for record in self.records):
            if is_ours(brings):
                return PluginError(f"{message}; {bare} comes with {brings}", hint=install_hint(brings))
            return PluginError(f"{message}; the package {brings} is not installed", hint="kgot plugins list")
        names = [provider.name for _, provider in offered]
        near = difflib.get_close_matches(bare, [*names, *known_names(kind)], n=1)
        if not near:
            return PluginError(message)
        if near[0] in names:
            return PluginError(message, hint=f"did you mean {near[0]}?")
        brings = package_of(kind, near[0])
        return PluginError(message, hint=f"did you mean {near[0]}? It comes with {brings}: {install_hint(brings)}")


def _extra_hint(spec: str, causes: list[BaseException]) -> str:
    missing = isinstance(causes[0], ModuleNotFoundError) and causes[0].name == spec if causes else False
    return f"if it is a file, give its path: {spec}.py" if missing else ""
