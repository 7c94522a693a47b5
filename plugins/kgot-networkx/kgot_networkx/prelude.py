"""Puts the modules of ``jail`` together into the source that a sandbox runs first."""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files

from kgot_core.contracts.sandbox import Prelude
from kgot_networkx.parsing import parse

SHARED = ("values", "report", "rows")
FULL = (*SHARED, "watched", "full")
SUBSET = (*SHARED, *(f"subset{part}" for part in ("_adjacency", "_views", "_edges", "_graph", "")), "algorithms")

_FULL = """\
import sys as _sys
import types as _types
_module = _types.ModuleType("kgot_graph")
_sys.modules["kgot_graph"] = _module
exec(compile({source!r}, "kgot_graph", "exec"), _module.__dict__)
_kgot = _module.Workbench()
nx = _module.nx

"""

_SUBSET = """\
{source}
def len(value):
    return value.size() if isinstance(value, KG_SIZED) else kg_len(value)
"""


def full_prelude() -> Prelude:
    """Gives the prelude of a sandbox with full Python; scripts see ``G``, ``nx`` and ``_kgot``."""
    return Prelude(code=_FULL.format(source=assemble(FULL)), modules=("networkx",))


def subset_prelude() -> Prelude:
    """Gives the prelude of a sandbox with a Python subset; ``G`` is made from each job's inputs."""
    return Prelude(code=_SUBSET.format(source=assemble(SUBSET)))


@cache
def assemble(names: tuple[str, ...]) -> str:
    """Joins modules into one source without their imports of one another."""
    folder = files("kgot_networkx.jail")
    future = "from __future__ import annotations\n"
    parts = [without_imports((folder / f"{name}.py").read_text("utf-8")) for name in names]
    return future + "\n".join(parts)


def without_imports(source: str) -> str:
    """Leaves out a module's imports from this package and from the future."""
    lines = source.splitlines()
    for statement in parse(source).body:
        module = statement.module if isinstance(statement, ast.ImportFrom) else None
        if module is not None and module.startswith(("kgot_networkx", "__future__")):
            for number in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
                lines[number] = ""
    return "\n".join(lines) + "\n"
