"""``kgot doctor``: what works here, what is missing, how to get it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.output import echo
from kgot_core.errors import FAILED

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Settings


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        what: What it is.
        state: ``ok``, ``missing`` (a run needs it) or ``note`` (a run can do without it).
        message: What was found.
        hint: The next step.
    """

    what: str
    state: str
    message: str
    hint: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@settings_options
def doctor(as_json: bool, options: SettingsOptions) -> int:
    """Say what works here, what is missing and how to get it. Exit code 1 where a run could not start."""
    registry, settings = open_settings(options)
    findings = [*_plugins(registry), *_models(registry, settings), *_sandboxes(registry, settings)]
    for kind in ("backend", "tool", "scheduler"):
        findings += _kind(registry, settings, kind)
    findings.append(_runs(settings))
    if as_json:
        echo(json.dumps([finding._asdict() for finding in findings], ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            echo(f"{finding.state:<8} {finding.what}: {finding.message}")
            if finding.hint:
                echo(f"         {finding.hint}")
    return FAILED if any(finding.state == "missing" for finding in findings) else 0


def _plugins(registry: PluginRegistry) -> Iterator[Finding]:
    for record in registry.records:
        state = "ok" if record.state == "ok" else "note"
        hint = "" if state == "ok" else f"kgot plugins show {record.distribution}"
        yield Finding(f"plugin {record.distribution}", state, record.message or f"version {record.version}", hint)


def _models(registry: PluginRegistry, settings: Settings) -> Iterator[Finding]:
    from kgot_core.contracts.model import Role
    from kgot_core.errors import KgotError
    from kgot_core.models.providers import reachable
    from kgot_core.session.checks import problem_of_model

    seen: set[str] = set()
    for role in get_args(Role):
        try:
            spec = settings.model(role)
            if spec is None:
                if role == "graph":
                    hint = "kgot run --model openai:gpt-4o-mini, or set models.graph in kgot.toml"
                    yield Finding("model", "missing", "none is set", hint)
                continue
            name = f"{spec.provider}:{spec.name}"
            if name in seen:
                continue
            seen.add(name)
            provider: Any = registry.get("model", spec.provider)
            problem = problem_of_model(provider, spec, role) or asyncio.run(reachable(spec))
        except KgotError as error:
            if error.message not in seen:  # roles without a model of their own have the fault of graph
                seen.add(error.message)
                yield Finding(f"model of {role}", "missing", error.message, error.hint)
            continue
        if problem:
            yield Finding(f"model {name}", "missing", problem.message, problem.hint)
        else:
            yield Finding(f"model {name}", "ok", "ready")


def _sandboxes(registry: PluginRegistry, settings: Settings) -> Iterator[Finding]:
    from kgot_core.errors import KgotError
    from kgot_core.session.opening import open_sandbox

    yield from _kind(registry, settings, "sandbox")
    try:
        sandbox, _ = open_sandbox(registry, settings)
    except KgotError as error:
        yield Finding("sandbox", "missing", error.message, error.hint)
        return
    yield Finding("sandbox", "ok", f"{sandbox.name} is used ({sandbox.python} Python)")


def _kind(registry: PluginRegistry, settings: Settings, kind: Any) -> Iterator[Finding]:
    """Checks every provider of a kind; one that is not ready only matters to those who want it."""
    from kgot_core.errors import KgotError
    from kgot_core.session.checks import parts_of, problem_of, unreachable
    from kgot_core.settings import provider_settings

    providers = registry.all(kind)
    if not providers and kind == "backend":
        yield Finding("backend", "missing", "no graph store is installed", "pip install kgot-networkx")
    for _distribution, provider in providers:
        try:
            values = provider_settings(settings, provider)
            problem = problem_of(provider, values) or unreachable(provider, values, settings.core.graph.keep)
        except KgotError as error:
            yield Finding(f"{kind} {provider.name}", "missing", error.message, error.hint)
            continue
        if problem:
            yield Finding(f"{kind} {provider.name}", "note", problem.message, problem.hint)
        else:
            yield Finding(f"{kind} {provider.name}", "ok", "ready")
            for part in parts_of(provider, values):
                what = f"{kind} {provider.name} {part.name}".rstrip()
                if part.problem:
                    yield Finding(what, "note", part.problem, part.hint)
                else:
                    yield Finding(what, "ok", part.summary)


def _runs(settings: Settings) -> Finding:
    folder = Path(settings.core.runs_dir)
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if place.is_dir() and os.access(place, os.W_OK):
        return Finding("runs_dir", "ok", str(folder))
    return Finding("runs_dir", "missing", f"{folder} cannot be written", "set runs_dir, or --out")
