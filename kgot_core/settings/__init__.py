"""Settings: where they are read from, which keys exist, and which files are trusted.

Lowest first: defaults, ``kgot.toml`` in the user's config folder, the nearest ``kgot.toml`` from the working folder
upwards, environment, ``--set KEY=VALUE``.

A variable's name is mechanical: ``KGOT_``, then the key in capitals with ``__`` for each dot, so that
``KGOT_BACKENDS__NEO4J__URI`` is ``backends.neo4j.uri``. A variable cannot hold ``-``, so in the name of a provider
``-`` and ``_`` are the same, in files too: ``KGOT_BACKENDS__RDF_REMOTE__URL`` is for ``rdf-remote``. Keys are lower
case; one that is not can only be set in a file or by ``--set``. Text is read as the setting's type: ``true``, ``7``,
a list as JSON or between commas, a table as TOML. A secret may be in a file that ``<key>_file`` or ``..._FILE`` names.

A ``kgot.toml`` outside the user's config folder may not set what reaches or opens something (addresses, keys,
commands, plugins, sandboxes, paths of prompts, ...) until ``kgot config trust`` has stored the hash of its content.
"""

from kgot_core.settings.layers import Override, Sources
from kgot_core.settings.provider import provider_settings
from kgot_core.settings.settings import Item, Settings
from kgot_core.settings.typed import plugin_settings

__all__ = ["Item", "Override", "Settings", "Sources", "plugin_settings", "provider_settings"]
