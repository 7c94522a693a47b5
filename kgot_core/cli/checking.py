"""Runs the suites of a plugin by pytest, in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kgot_core.cli.options import SettingsOptions
from kgot_core.errors import KgotError
from kgot_core.plugins.known import extra_hint

# What is asked for travels in the environment: settings may hold secrets, which belong into no file.
_VARIABLE = "CHECKED_KGOT_PLUGIN"
_TESTS = f"""import json, os, pathlib
from kgot_core.testing.checking import test_classes as _classes
_asked = json.loads(os.environ[{_VARIABLE!r}])
globals().update(_classes(_asked["name"], pathlib.Path(_asked["folder"]), _asked["sets"], _asked["plugins"]))
"""


def run_suites(name: str, options: SettingsOptions) -> bool:
    """Runs the suite of each provider of a plugin; pytest's report goes to the terminal.

    Args:
        name: The plugin.
        options: Settings for it, and plugins to load besides.

    Returns:
        Whether all tests passed.

    Raises:
        KgotError: pytest is not installed.
    """
    if importlib.util.find_spec("pytest") is None:
        raise KgotError("the suites need pytest, which is not installed", hint=extra_hint("testing"))
    plugins = [str(Path(spec).resolve()) if Path(spec).is_file() else spec for spec in options.plugins]
    asked = {"name": name, "folder": str(Path.cwd()), "sets": options.sets, "plugins": plugins}
    env = {**os.environ, _VARIABLE: json.dumps(asked), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryDirectory(prefix="kgot-check-") as folder:
        (Path(folder) / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        tests = Path(folder) / "test_plugin.py"
        tests.write_text(_TESTS, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "--tb=short", "-p", "no:cacheprovider", str(tests)]
        return subprocess.run(command, cwd=folder, env=env, check=False).returncode == 0
