"""Backends with one fault each in how they answer queries, with the test of the suite that is meant."""

from __future__ import annotations

import dataclasses
import runpy
from pathlib import Path

from kgot_core.testing.find_language import read_query
from kgot_core.testing.memory_backend import DIALECT, MemoryBackend

_backends = runpy.run_path(str(Path(__file__).with_name("backends.py")))


class WrongAnswer(MemoryBackend):
    meant = "test_query_examples_give_their_answers"
    dialect = dataclasses.replace(
        DIALECT,
        query_examples=(
            dataclasses.replace(DIALECT.query_examples[0], answer="1066"),
            DIALECT.query_examples[1],
        ),
    )


class RowsThatAreNotJson(MemoryBackend):
    meant = "test_query_examples_give_their_answers"

    def query(self, statement, call):
        return [{**row, "size": (1, 2)} for row in super().query(statement, call)]


class UnknownBasis(MemoryBackend):
    meant = "test_basis_names_nodes"
    dialect = dataclasses.replace(
        DIALECT,
        query_examples=(dataclasses.replace(DIALECT.query_examples[0], basis=("Loch",)), DIALECT.query_examples[1]),
    )


class QueriesWrite(MemoryBackend):
    meant = "test_query_cannot_change_the_graph"

    def query(self, statement, call):
        if "FIND" not in statement and "(Lake:" in statement:
            super().write(statement, call)
        return super().query(statement, call)


class NoRowLimit(MemoryBackend):
    meant = "test_rows_are_limited"

    def query(self, statement, call):
        return super().query(statement, dataclasses.replace(call, rows=1_000))


class EmptyRow(MemoryBackend):
    meant = "test_nothing_found_is_no_row"

    def query(self, statement, call):
        return super().query(statement, call) or [dict.fromkeys(read_query(statement).wanted)]


FAULTS = _backends["of_backends"](globals())
