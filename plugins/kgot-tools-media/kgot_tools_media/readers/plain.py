"""Plain text, source code, and every other format that is text: protein structures, subtitles, settings, logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgot_tools_media.markdown import line_parts
from kgot_tools_media.parts import Fact, Options, Part
from kgot_tools_media.text import read_text


def read(path: Path, options: Options) -> Iterator[Part | Fact]:
    """Gives the lines."""
    decoded = read_text(path)
    yield Fact(f"{len(decoded.text.splitlines()):,} lines")
    yield decoded.fact
    yield from line_parts(decoded.text)
