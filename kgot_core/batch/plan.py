"""What a batch is begun with: its tasks, its folder, and how each task is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgot_core.batch.folder import read_batch
from kgot_core.contracts.task import JsonSchema
from kgot_core.errors import UsageError
from kgot_core.plugins import PluginRegistry
from kgot_core.run.record.journal import Journal
from kgot_core.session.recorded import plan_settings
from kgot_core.session.redaction import redactor
from kgot_core.settings import Settings
from kgot_core.settings.resumed import changed_settings


@dataclass(frozen=True)
class BatchPlan:
    """What a batch is begun or gone on with.

    Attributes:
        folder: Its folder, absolute.
        tasks_file: The task file, absolute.
        registry: The plugins.
        settings: The settings of every run, and of the batch.
        schema: JSON schema of the answers' value.
        graph: File or run with the graph that every run starts from.
        force: Tasks go on although something has changed since they began.
    """

    folder: Path
    tasks_file: Path
    registry: PluginRegistry
    settings: Settings
    schema: JsonSchema | None = None
    graph: str | None = None
    force: bool = False

    def to_json(self) -> dict[str, Any]:
        """Gives the plan as it is written down, without secrets."""
        plan = {"settings": self.settings.to_json(), "schema": self.schema, "graph": self.graph}
        plain = Journal("", redact=redactor(self.settings, ())).plain(plan)
        # As it will be read again, so that a seal fits.
        return dict(json.loads(json.dumps(plain)))

    def refuse_changed(self, recorded: Mapping[str, Any]) -> None:
        """Refuses to go on with a batch that was begun with other settings.

        Raises:
            UsageError: Something that may change answers is another than when the batch began.
        """
        now = self.to_json()
        changed = changed_settings(recorded["settings"], now["settings"], self.registry)
        for role in ("graph", "tool", "judge", "vision", "summary", "embedding"):
            models = [_model(plan["settings"], role) for plan in (recorded, now)]
            if models[0] != models[1]:
                changed.append(f"the model of {role} ({models[0] or 'none'} then, {models[1] or 'none'} now)")
        changed += [f"the {name}" for name in ("schema", "graph") if recorded.get(name) != now[name]]
        if changed and not self.force:
            raise UsageError(
                f"since the batch in {self.folder} began, this has changed: {'; '.join(changed)}",
                hint="kgot resume goes on with it as it began; name a new folder with --out for another one",
            )


def recorded_plan(
    folder: Path,
    env: Mapping[str, str],
    overrides: tuple[str, ...],
    here: Path,
    plugins: tuple[str, ...] = (),
    force: bool = False,
) -> BatchPlan:
    """Gives the plan of a batch that goes on.

    Args:
        folder: The batch's folder.
        env: The environment; keys are read from there anew.
        overrides: What is set now, as ``KEY=VALUE``.
        here: The working folder.
        plugins: Modules or files to load besides.
        force: Tasks go on although something has changed.

    Raises:
        UsageError: There is no batch that can be read, or a setting is wrong.
        PluginError: A plugin cannot be loaded.
    """
    batch = read_batch(folder)
    try:
        plan, seal, tasks_file = dict(batch["plan"]), str(batch["seal"]), Path(batch["tasks_file"])
        registry, settings = plan_settings(plan, seal, env, overrides, here, plugins)
        return BatchPlan(folder, tasks_file, registry, settings, plan["schema"], plan["graph"], force)
    except (LookupError, TypeError) as error:
        raise UsageError(f"the batch in {folder} cannot be read: {error} is missing") from None


def _model(settings: Mapping[str, Any], role: str) -> Any:
    values = settings["values"]
    return values.get(f"models.{role}.model") or (values.get("models.graph.model") if role != "embedding" else None)
