"""Notebooks: cells in their order, code with what it printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgot_tools_media.parts import CannotRead, Fact, Options, Part
from kgot_tools_media.text import read_text

_SHOWN = ("text/markdown", "text/plain", "text/html")


def read(path: Path, options: Options) -> Iterator[Part | Fact]:
    """Gives the cells."""
    try:
        notebook = json.loads(read_text(path).text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise CannotRead(f"is no notebook that can be read: {error!r}") from None
    told = notebook.get("metadata", {}).get("kernelspec", {}).get("language") or "python"
    yield Fact(f"{len(cells)} cells")
    for number, cell in enumerate(cells, 1):
        yield Part(_shown(cell, told) + "\n", "", "cell", number, number)


def _shown(cell: Mapping[str, Any], language: str) -> str:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") != "code":
        return source
    outputs = [_output(output) for output in cell.get("outputs", [])]
    shown = [f"```{language}\n{source}\n```", *(f"Output:\n```\n{text}\n```" for text in outputs if text)]
    return "\n".join(shown)


def _output(output: Mapping[str, Any]) -> str:
    if "text" in output:
        return _joined(output["text"]).rstrip()
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data", {})
    text = next((_joined(data[kind]) for kind in _SHOWN if kind in data), "")
    pictures = [kind for kind in data if kind.startswith("image/")]
    return text + (f"\n[image: {', '.join(pictures)}]" if pictures else "")


def _joined(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
