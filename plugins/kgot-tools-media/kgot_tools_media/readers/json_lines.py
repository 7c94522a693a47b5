"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kgot_tools_media.markdown import line_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.text import read_text


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the lines, and says which of them are no JSON."""
    decoded = read_text(path)
    lines = decoded.text.splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.strip() and not _is_json(line)]
    yield Fact(
        f"{sum(bool(line.strip()) for line in lines):,} lines with JSON" if not wrong else f"{len(lines):,} lines"
    )
    yield decoded.fact
    if wrong:
        yield Note("these lines are not valid JSON: " + ", ".join(map(str, wrong[:10])) + (", ..." * (len(wrong) > 10)))
    yield from line_parts(decoded.text)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
