"""The dialect as shown to the model, read from ``dialect.md``."""

from __future__ import annotations

from importlib.resources import files

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.dialect_page import read_dialect_page


def dialect() -> Dialect:
    """Gives the dialect."""
    page = read_dialect_page((files("kgot_neo4j") / "dialect.md").read_text("utf-8"), "cypher")
    return Dialect(
        language="Cypher (Neo4j 5)",
        fence="cypher",
        guide=page.guide,
        write_examples=page.write_examples,
        query_examples=page.query_examples,
        invalid_example=page.invalid_example,
    )
