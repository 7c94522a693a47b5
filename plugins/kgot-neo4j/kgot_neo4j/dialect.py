"""The dialect as shown to the model, read from ``dialect.md``."""

from __future__ import annotations

import re
from importlib.resources import files

from kgot_core.contracts.dialect import Dialect, QueryExample

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```cypher\n(?P<code>.*?)\n```$", re.MULTILINE | re.DOTALL)
_QUERY = re.compile(
    r"^(?P<question>\S[^\n]*)\n\n```cypher\n(?P<code>.*?)\n```\n\n"
    r"Answer: (?P<answer>[^\n]+)\nBasis: (?P<basis>[^\n]+)$",
    re.MULTILINE | re.DOTALL,
)


def dialect() -> Dialect:
    """Gives the dialect."""
    parts = _HEADING.split((files("kgot_neo4j") / "dialect.md").read_text("utf-8"))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return Dialect(
        language="Cypher (Neo4j 5)",
        fence="cypher",
        guide=sections["Guide"].strip(),
        write_examples=tuple(_blocks(sections["Write"])),
        query_examples=tuple(
            QueryExample(found["question"], found["code"], found["answer"], tuple(found["basis"].split(" | ")))
            for found in _QUERY.finditer(sections["Query"])
        ),
        invalid_example=_blocks(sections["Invalid"])[0],
    )


def _blocks(section: str) -> list[str]:
    return [found["code"] for found in _FENCED.finditer(section)]
