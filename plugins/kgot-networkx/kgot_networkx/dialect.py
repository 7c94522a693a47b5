"""The dialect as shown to the model, read from ``dialect.md``."""

from __future__ import annotations

import re
from importlib.resources import files

from kgot_core.contracts.dialect import Dialect, QueryExample
from kgot_core.contracts.sandbox import PythonKind

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```python\n(?P<code>.*?)\n```$", re.MULTILINE | re.DOTALL)
_QUERY = re.compile(
    r"^(?P<question>\S[^\n]*)\n\n```python\n(?P<code>.*?)\n```\n\n"
    r"Answer: (?P<answer>[^\n]+)\nBasis: (?P<basis>[^\n]+)$",
    re.MULTILINE | re.DOTALL,
)


def dialect(python: PythonKind) -> Dialect:
    """Gives the dialect for a kind of sandbox."""
    parts = _HEADING.split((files("kgot_networkx") / "dialect.md").read_text("utf-8"))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    guide = sections["Guide"].strip()
    if python == "subset":
        guide += "\n" + sections["Guide for the subset"].strip()
    return Dialect(
        language="Python with networkx",
        fence="python",
        guide=guide,
        write_examples=tuple(_blocks(sections["Write"])),
        query_examples=tuple(
            QueryExample(found["question"], found["code"], found["answer"], tuple(found["basis"].split(" | ")))
            for found in _QUERY.finditer(sections["Query"])
        ),
        invalid_example=_blocks(sections["Invalid"])[0],
    )


def _blocks(section: str) -> list[str]:
    return [found["code"] for found in _FENCED.finditer(section)]
