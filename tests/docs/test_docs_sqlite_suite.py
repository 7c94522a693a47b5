"""The backend in one file passes the suite that every backend must pass."""

from __future__ import annotations

import runpy
from pathlib import Path

from kgot_core.testing.backend_suite import BackendSuite

_EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples/sqlite_backend.py"))


class TestSqliteBackend(BackendSuite):
    (provider,) = _EXAMPLE["kgot_graph_backends"]()
    keeps_graph = False
    endless = "WITH RECURSIVE r (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) AS n FROM r"
