"""The dialect as shown to the model, read from ``dialect.md``."""

from __future__ import annotations

from importlib.resources import files

from kgot_core.contracts.dialect import Dialect
from kgot_core.contracts.dialect_page import read_dialect_page
from kgot_core.contracts.sandbox import PythonKind


def dialect(python: PythonKind) -> Dialect:
    """Gives the dialect for a kind of sandbox."""
    page = read_dialect_page((files("kgot_networkx") / "dialect.md").read_text("utf-8"), "python")
    guide = page.guide
    if python == "subset":
        guide += "\n" + page.sections["Guide for the subset"]
    return Dialect(
        language="Python with networkx",
        fence="python",
        guide=guide,
        write_examples=page.write_examples,
        query_examples=page.query_examples,
        invalid_example=page.invalid_example,
    )
