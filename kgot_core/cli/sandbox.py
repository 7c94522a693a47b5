"""``kgot sandbox``: builds the image that some sandboxes need, and tries sandboxes out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo
from kgot_core.errors import FAILED

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.providers import SandboxProvider
    from kgot_core.settings import Settings


@click.group()
def sandbox() -> None:
    """Build the image of the sandboxes docker and sarus; try sandboxes out."""


@sandbox.command()
@click.option(
    "--from-host", is_flag=True, help="Make it from the Python that runs here; needs no registry. Linux only."
)
@click.option("--base", metavar="IMAGE", help="Base image, with Python 3.11 or later and pip.  [python:3.X-slim]")
@click.option(
    "--package", "packages", metavar="NAME", multiple=True, help="Put in these packages instead of the usual."
)
@click.option("--archive", type=click.Path(path_type=Path, dir_okay=False), help="Save it to a file, for sarus load.")
@settings_options
def build(
    from_host: bool, base: str | None, packages: tuple[str, ...], archive: Path | None, options: SettingsOptions
) -> None:
    """Build the image that sandboxes.docker.image names, on the engine of sandboxes.docker.host."""
    from kgot_core.errors import UsageError
    from kgot_core.sandboxes.docker.engine import connect, image_facts
    from kgot_core.sandboxes.image.build import build_from_host, build_image, save_archive
    from kgot_core.sandboxes.image.recipe import PACKAGES

    if from_host and base:
        raise UsageError("--from-host takes no --base: it is made from the Python that runs here")
    registry, settings = open_settings(options)
    values = _values(registry, settings, "docker")
    client, wanted = connect(values), packages or PACKAGES
    if from_host:
        found = build_from_host(client, values.image, wanted)
        if missing := sorted(set(wanted) - set(found)):
            hint = "pip install 'kgot-core[science]' brings the usual ones"
            echo(f"not installed here and so not in the image: {', '.join(missing)} ({hint})", err=True)
    else:
        base = base or f"python:3.{sys.version_info.minor}-slim"
        build_image(client, values.image, wanted, base, lambda line: echo(line, err=True))
    _, facts = image_facts(client, values.image)
    named = ", ".join(f"{name} {version}" for name, version in facts.packages.items()) or "no packages"
    echo(f"built {values.image}: Python {facts.python}, {named}")
    if archive:
        save_archive(client, values.image, archive)
        echo(f"saved to {archive}; on the cluster: sarus load {archive.name} kgot-sandbox")


@sandbox.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Try every sandbox that is installed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@settings_options
def check(names: tuple[str, ...], every: bool, as_json: bool, options: SettingsOptions) -> int:
    """Try a sandbox: a small job, then harmless attempts that it has to deny. Exit code 1 where one fails.

    Without a NAME it is the one that a run would take.
    """
    registry, settings = open_settings(options)
    found = [_tried(registry, settings, name) for name in names or _chosen(registry, settings, every)]
    if as_json:
        echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        for one in found:
            _show(one)
    return 0 if found and all(one["works"] for one in found) else FAILED


def _chosen(registry: PluginRegistry, settings: Settings, every: bool) -> Sequence[str]:
    from kgot_core.session.opening import open_sandbox

    if every:
        providers: list[Any] = [provider for _, provider in registry.all("sandbox")]
        return [one.name for one in sorted(providers, key=lambda one: (one.rank is None, one.rank or 0, one.name))]
    sandbox, _ = open_sandbox(registry, settings)
    return [sandbox.name]


def _values(registry: PluginRegistry, settings: Settings, name: str) -> Any:
    from kgot_core.settings import provider_settings

    return provider_settings(settings, registry.get("sandbox", name))


def _tried(registry: PluginRegistry, settings: Settings, name: str) -> dict[str, Any]:
    from kgot_core.errors import KgotError
    from kgot_core.session.checks import problem_of

    provider: Any = registry.get("sandbox", name)
    values = _values(registry, settings, name)
    one: dict[str, Any] = {"name": name, "works": False, "message": "", "hint": "", "about": "", "tried": []}
    if problem := problem_of(provider, values):
        return {**one, "message": problem.message, "hint": problem.hint}
    try:
        one["tried"] = list(_findings(provider, values, one))
    except KgotError as error:
        return {**one, "message": error.message, "hint": error.hint}
    one["works"] = not any(found["fault"] for found in one["tried"])
    return one


def _findings(provider: SandboxProvider, values: Any, one: dict[str, Any]) -> Iterator[dict[str, str]]:
    from dataclasses import asdict

    from kgot_core.sandboxes.probes import try_out

    opened = provider.open(values)
    one["about"] = opened.about
    yield from map(asdict, try_out(opened))


def _show(one: dict[str, Any]) -> None:
    state = "works" if one["works"] else "does not work" if one["tried"] else f"is not ready: {one['message']}"
    echo(f"{one['name']} {state}")
    for text in (one["hint"], one["about"]):
        if text:
            echo(f"  {text}")
    for found in one["tried"]:
        mark = "FAULT" if found["fault"] else "ok"
        echo(f"  {mark:<6} {found['what']}" + (f": {text}" if (text := found["fault"] or found["detail"]) else ""))
