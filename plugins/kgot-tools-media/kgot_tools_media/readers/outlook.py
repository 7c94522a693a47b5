"""Messages saved by Outlook (.msg)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import olefile

from kgot_tools_media.markdown import markdown_parts
from kgot_tools_media.parts import Fact, Note, Options, Part
from kgot_tools_media.readers.html import to_markdown
from kgot_tools_media.text import decode

_HEADS = (("From", "0C1A"), ("Sender's address", "5D01"), ("To", "0E04"), ("Cc", "0E03"), ("Subject", "0037"))
_ATTACHMENT = re.compile(r"^__attach_version1\.0_#(\w+)$")


def read(path: Path, options: Options) -> Iterator[Part | Fact | Note]:
    """Gives the message."""
    with olefile.OleFileIO(path) as store:
        heads = [f"{name}: {text}" for name, number in _HEADS if (text := _text(store, "", number))]
        sent = re.search(r"(?m)^Date: (.+)$", _text(store, "", "007D"))
        heads += [f"Date: {sent.group(1).strip()}"] if sent else []
        yield Part("  \n".join(heads) + "\n")
        body = _text(store, "", "1000") or to_markdown(_text(store, "", "1013"))
        yield from markdown_parts(body)
        folders = sorted({entry[0] for entry in store.listdir() if _ATTACHMENT.match(entry[0])})
        names = [_text(store, folder, "3707") or _text(store, folder, "3704") or folder for folder in folders]
    if names:
        yield Fact(f"{len(names)} attachments")
        yield Note("attached: " + ", ".join(names) + "; their content is not read, ask for the files themselves")


def _text(store: olefile.OleFileIO, folder: str, number: str) -> str:
    """Gives a property: in UTF-16, in an encoding of eight bits, or as bytes."""
    for kind in ("001F", "001E", "0102"):
        name = f"{folder}/__substg1.0_{number}{kind}".lstrip("/")
        if store.exists(name):
            data = store.openstream(name).read()
            return data.decode("utf-16-le", "replace") if kind == "001F" else decode(data).text
    return ""
