"""JSON: laid out over lines, so that it can be read in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kgot_tools_media.markdown import line_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.text import read_text

_LONG = 400


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the text, laid out anew where its lines are long."""
    decoded = read_text(path)
    text = decoded.text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield Note(f"it is not valid JSON ({error}); it is shown as it stands")
    else:
        yield Fact(_described(value))
        if max(map(len, text.splitlines()), default=0) > _LONG:
            text = json.dumps(value, ensure_ascii=False, indent=1)
    yield decoded.fact
    yield from line_parts(text)


def _described(value: object) -> str:
    if isinstance(value, list):
        return f"a list of {len(value):,} items"
    if isinstance(value, dict):
        return "an object with the keys " + ", ".join(list(value)[:20]) + (", ..." if len(value) > 20 else "")
    return "a single value"
