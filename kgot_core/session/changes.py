"""What has changed since a run began, by name: only what may change its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgot_core.events import RunStarted
from kgot_core.plugins import PluginRegistry
from kgot_core.settings.resumed import changed_settings


def changes(then: RunStarted, now: RunStarted, registry: PluginRegistry) -> tuple[str, ...]:
    """Names what has changed since a run began and may change its answer.

    Args:
        then: How it began.
        now: How it would begin now, in the form of a record.
        registry: Whose providers say which of their settings matter.
    """
    found = ["the question"] if then.question != now.question else []
    files = {str(item["name"]): item for item in now.files}
    for item in then.files:
        same = files.get(str(item["name"]), {})
        if (item["sha256"], item["bytes"]) != (same.get("sha256"), same.get("bytes")):
            found.append(f"the attachment {item['name']}")
    if then.prompts != now.prompts:
        found.append("the prompts")
    found += _pairs("the model of {}", _table(then, "models"), _table(now, "models"))
    for key, what in (
        ("backend", "the backend"),
        ("schema", "the answer's schema"),
        ("graph_schema", "the graph's schema"),
    ):
        if then.plan.get(key) != now.plan.get(key):
            short = f" ({then.plan[key]} then, {now.plan[key]} now)" if key == "backend" else ""
            found.append(f"{what}{short}")
    sandboxes = _table(then, "sandbox"), _table(now, "sandbox")
    if sandboxes[0] != sandboxes[1]:
        found.append(f"the sandbox ({sandboxes[0].get('name')} then, {sandboxes[1].get('name')} now)")
    taking_part: Any = then.plan.get("packages", ())
    found += _pairs("the package {}", {name: then.versions.get(name) for name in taking_part}, now.versions)
    before: Any = then.plan["settings"]
    after: Any = now.plan["settings"]
    return (*found, *changed_settings(before, after, registry))


def _pairs(what: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        f"{what.format(name)} ({value} then, {now.get(name, 'none')} now)"
        for name, value in then.items()
        if value != now.get(name)
    ]


def _table(start: RunStarted, name: str) -> Mapping[str, Any]:
    table: Any = start.plan[name]
    return dict(table)
