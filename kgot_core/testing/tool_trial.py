"""The suite of tools whose provider brings what they are tried with, for ``kgot plugins check``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.model import ToolSpec
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.contracts.tools import ToolResult
from kgot_core.contracts.trial import Trial
from kgot_core.run.parts import ToolEntry
from kgot_core.testing.runs import Setting
from kgot_core.testing.tool_suite import ToolSuite, specs_of


class TriedToolSuite(ToolSuite):
    """What every tool does, tried as its provider says (``ToolProvider.trial``)."""

    @pytest.fixture
    def trial(self, current_settings: Any, tmp_path: Path) -> Iterator[Trial]:
        """Gives what the tools are tried with."""
        assert self.provider.trial is not None, "this suite is for a provider with a trial"
        with self.provider.trial(current_settings, tmp_path) as trial:
            yield trial

    @pytest.fixture
    def setting(self, trial: Trial, sandbox: Sandbox, tmp_path: Path) -> Setting:
        """Gives the run in which the tools are called."""
        self._untried = trial.untried
        entry = ToolEntry(self.provider, trial.settings)
        script = lambda asked: trial.reply  # noqa: E731 - a script is a function of the request
        setting = Setting(script, files=trial.files, tools=[entry], sandbox=sandbox, folder=tmp_path / "run")
        names = {spec.name for spec in specs_of(setting)}
        bad_calls = {name: arguments for name, arguments in trial.bad_calls.items() if name in names}
        # Beside those of the class, which are those of a plugin's own tests.
        vars(self).update(calls=trial.calls, bad_calls=bad_calls)
        return setting

    def called(self, setting: Setting, spec: ToolSpec, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Calls a tool in a run, as the trial says unless arguments are given."""
        if arguments is None and (why := self._untried.get(spec.name)):
            pytest.skip(f"{spec.name} was not called: {why}")
        return super().called(setting, spec, arguments)
