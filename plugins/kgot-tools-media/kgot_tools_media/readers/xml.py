"""XML: as it stands, laid out over lines where it has none. Entities are not followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from kgot_tools_media.markdown import line_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.text import decode

_LONG = 400
_DECLARED = re.compile(rb"""^<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)""")


def parser() -> etree.XMLParser:
    """Makes a parser that follows no entity and opens nothing."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the text."""
    data = path.read_bytes()
    declared = _DECLARED.match(data[:200])
    decoded = decode(data, declared.group(1).decode() if declared else "")
    text = decoded.text
    try:
        root = etree.fromstring(data, parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        yield Note(f"it is not valid XML ({error}); it is shown as it stands")
    else:
        yield Fact(f"root element {etree.QName(root).localname}")
        if max(map(len, text.splitlines()), default=0) > _LONG:
            etree.indent(root)
            text = etree.tostring(root, encoding="unicode")
    yield decoded.fact
    yield from line_parts(text)
