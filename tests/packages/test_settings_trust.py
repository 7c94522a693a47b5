"""What a settings file that came with a folder may set of our plugins: limits and tastes, nothing else."""

from __future__ import annotations

import pytest

from kgot_core.plugins import PluginRegistry
from kgot_core.settings.build import is_guarded
from kgot_core.settings.keys import keys_of
from kgot_core.settings.schema import SECTIONS

LIMITS = {"memory_mb", "seconds", "load_seconds", "statement_chars"}
FREE = {
    "backends.neo4j": {"concurrency", "pool_size", "query_seconds", "start_seconds", "heap_mb", "cache_mb"},
    "backends.networkx": {"memory_mb", "output_chars", "load_seconds"},
    "backends.rdf": {"namespace", "inference", *LIMITS},
    "backends.rdf-remote": {"namespace", "inference", "connect_seconds", *LIMITS},
    "tools.inspect_file": {"tokens", "question_tokens", "question_parts", *LIMITS},
    "tools.extract_archive": {"total_mb", "ratio", "depth", "shown_tokens", *LIMITS},
    "tools.inspect_image": {"use_model", "ocr", "side", "frames", *LIMITS},
    "tools.search_files": {"tokens", "embedded", *LIMITS},
    "tools.transcribe_audio": {"language", "remote_model", "tokens", *LIMITS},
    "tools.web": {
        "language",
        "results",
        "megabytes",
        "cache_hours",
        "browser",
        "browser_seconds",
        "tokens",
        "question_tokens",
        "question_parts",
        "steps",
        "replan",
        "viewport",
        *LIMITS,
    },
    "schedulers.mpi": {"ranks", "restarts", "survive", "transport"},
    "schedulers.ray": {"cpus", "ranks", "restarts", "room_seconds"},
    "voters.adaptive": {"confidence"},
    "voters.judge": {"both_orders"},
    "formats.turtle": {"namespace"},
    "formats.ntriples": {"namespace"},
    "formats.jsonld": {"namespace"},
}
"""A setting that is not listed needs a trusted file: it names a place, an account, what may be deleted or left there,
what is run, what others see of the user or bear from them (``tools.web.robots``), or a guard that would be opened.
Whoever adds one that does none of that adds it here."""


@pytest.fixture(scope="module")
def registry() -> PluginRegistry:
    made = PluginRegistry()
    made.load()
    return made


def test_a_foreign_file_sets_limits_and_tastes_only(registry: PluginRegistry) -> None:
    free = {
        f"{section}.{provider.settings_table}.{key.path[-1]}"
        for kind, section in SECTIONS.items()
        for _, provider in registry.all(kind)
        for key in keys_of(provider.settings, (section, provider.settings_table))
        if not is_guarded(key, key.path, key.default)
    }
    assert free - {f"{name}.{key}" for name, keys in FREE.items() for key in keys} == set()
