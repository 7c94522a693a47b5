"""Brings one plugin into a plugin manager: imported, registered, asked for its providers; or nothing of it stays."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Collection
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pluggy

from kgot_core.hookspecs import PROJECT
from kgot_core.plugins import collect as collect_module
from kgot_core.plugins.collect import BadPlugin, check_hooks, collect
from kgot_core.plugins.discovery import Found, unmet
from kgot_core.plugins.record import PluginRecord, canonical, one_line


def load_found(
    manager: pluggy.PluginManager, found: Found, version: str, disabled: Collection[str] = ()
) -> PluginRecord:
    """Loads a plugin that was found by its entry point.

    Args:
        manager: Where to register it.
        found: The plugin.
        version: The core's version, empty where unknown.
        disabled: Names of packages or entry points that shall not be loaded.
    """
    record = PluginRecord(found.name, found.distribution, found.version, found.value)
    if {canonical(found.distribution), canonical(found.name)} & {canonical(name) for name in disabled}:
        return replace(record, state="disabled", message="by the setting plugins.disabled")
    if trouble := unmet(found, version):
        return replace(record, state="incompatible", message=trouble)
    entry = metadata.EntryPoint(found.name, found.value, PROJECT)
    return load_object(manager, record, entry.load)


def load_object(manager: pluggy.PluginManager, record: PluginRecord, bring: Callable[[], object]) -> PluginRecord:
    """Imports, registers and asks one plugin. Whatever goes wrong is in the record; then nothing stays registered.

    Args:
        manager: Where to register it.
        record: What is known of it so far.
        bring: Imports it.
    """
    name = f"{record.distribution}:{record.name}:{record.module}"
    registered = False
    try:
        plugin = bring()
        if other := manager.get_name(plugin):
            raise BadPlugin(f"its module {record.module} is the one that {other.partition(':')[0]} brings")
        hooks = check_hooks(manager, plugin)
        manager.register(plugin, name)
        registered = True
        return replace(record, hooks=hooks, providers=collect(manager, name, hooks))
    except BadPlugin as error:
        broken = replace(record, state="broken", message=str(error))
    except (Exception, SystemExit) as error:
        # A plugin that calls sys.exit must not end the program.
        broken = replace(record, state="broken", message=one_line(error), traceback=_trace(error))
    if registered:
        manager.unregister(name=name)
    return broken


def import_extra(spec: str) -> object:
    """Imports a module by its name, or a Python file by its path.

    Args:
        spec: A module's name, or the path of a file that ends in ``.py``.

    Raises:
        FileNotFoundError: There is no such file.
        Exception: Whatever its import raises.
    """
    if not is_file(spec):
        return importlib.import_module(spec)
    path = Path(spec).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    # Two files of one name in different folders must not meet in sys.modules; dataclasses need the entry there.
    name = f"kgot_plugin_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def is_file(spec: str) -> bool:
    """Tells whether a plugin given by its user is a file, not a module's name."""
    return spec.endswith(".py") or "/" in spec or "\\" in spec


def _trace(error: BaseException) -> str:
    # The frames of the loader say nothing to the plugin's author.
    loader = (__file__, importlib.__file__, metadata.__file__, collect_module.__file__)
    report = traceback.TracebackException.from_exception(error)
    frames = [f for f in report.stack if f.filename not in loader and not f.filename.startswith("<frozen")]
    report.stack = traceback.StackSummary.from_list(frames)
    return "".join(report.format())
