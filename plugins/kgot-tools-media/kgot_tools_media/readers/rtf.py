"""RTF: its text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from striprtf.striprtf import rtf_to_text

from kgot_tools_media.markdown import line_parts
from kgot_tools_media.parts import Options, Part


def read(path: Path, options: Options) -> Iterator[Part]:
    """Gives the text; cells of tables are divided by bars."""
    convert: Any = rtf_to_text  # the library has no types
    text = path.read_bytes().decode("latin-1")
    for part in line_parts(convert(text, errors="replace")):
        yield Part(part.text)
