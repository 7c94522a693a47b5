from kgot_sqlite import kgot_graph_backends

from kgot_core.testing.backend_suite import BackendSuite


class TestSqlite(BackendSuite):
    provider = kgot_graph_backends()[0]
    keeps_graph = False
    endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    several_rows = "SELECT name FROM node"
