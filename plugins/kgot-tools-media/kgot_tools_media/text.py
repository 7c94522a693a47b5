"""From bytes to text: which encoding a file is in."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path

from kgot_tools_media.parts import CannotRead, Fact

MOST_BYTES = 64 << 20
FEW = 24
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Decoded:
    """A text with the encoding that it was in."""

    text: str
    encoding: str

    @property
    def fact(self) -> Fact:
        """What is said about it."""
        return Fact(f"encoding {self.encoding}")


def read_text(path: Path) -> Decoded:
    """Reads a whole file as text.

    Raises:
        CannotRead: It is too long to be read at once.
    """
    if path.stat().st_size > MOST_BYTES:
        raise CannotRead(f"is longer than {MOST_BYTES >> 20} MiB", "read what is wanted of it with run_python_code")
    return decode(path.read_bytes())


def decode(data: bytes, declared: str = "") -> Decoded:
    """Decodes a text: by its mark, as UTF-16 or UTF-8, as it declares, else by the likeliest encoding of all of it.

    Args:
        data: The bytes.
        declared: Encoding that the text itself names.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Decoded(data.decode(name, "replace"), name)
    for name in filter(None, (_wide(data), "utf-8", declared)):
        try:
            return Decoded(data.decode(name), name)
        except (UnicodeDecodeError, LookupError):
            continue
    return _guess(data)


def _wide(data: bytes) -> str:
    head = data[:2_000]
    if head[1::2].count(0) > len(head) * 0.35:
        return "utf-16-le"
    return "utf-16-be" if head[0::2].count(0) > len(head) * 0.35 else ""


def _guess(data: bytes) -> Decoded:
    # A few letters tell nothing about an encoding; the most common one is the best guess then.
    if sum(byte > 127 for byte in data) >= FEW:
        from charset_normalizer import from_bytes

        # Lines of plain ASCII say nothing either, and would only take time.
        telling = b"\n".join(line for line in data.split(b"\n") if not line.isascii())[: 1 << 19]
        best = from_bytes(telling).best()
        if best is not None:
            try:
                return Decoded(data.decode(best.encoding), best.encoding)
            except UnicodeDecodeError:
                pass
    try:
        return Decoded(data.decode("cp1252"), "cp1252")
    except UnicodeDecodeError:
        return Decoded(data.decode("latin-1"), "latin-1")
