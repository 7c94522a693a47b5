"""Plugins: found by their metadata, loaded one by one, reported whatever happens to them.

A plugin is a light module with functions marked by :data:`kgot_core.hookspecs.hookimpl`, named by an entry point of
the group ``kgot``. The registry is an object that is passed on; nothing here is kept in a module.
"""

from kgot_core.plugins.record import PluginRecord, State
from kgot_core.plugins.registry import PluginRegistry

__all__ = ["PluginRecord", "PluginRegistry", "State"]
