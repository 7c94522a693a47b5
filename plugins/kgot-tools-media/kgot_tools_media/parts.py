"""What a document is read into: small parts in order, each with the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

LONGEST_CAUSE = 300
TOO_DEEP = "holds elements within elements, deeper than can be read"


@dataclass(frozen=True)
class Part:
    """A piece of a document.

    Attributes:
        text: Markdown.
        section: Where it stands by name: a sheet, a chapter, a heading; empty where nothing has a name.
        unit: What is counted in it: ``page``, ``slide``, ``row``, ``line``, ...; empty where nothing is.
        first: Number of the first unit in it, from 1; 0 where nothing is counted.
        last: Number of the last.
        head: What is said once above parts that follow each other and share it: a table's first row, a title.
        tail: What is said below them: remarks on a table's cells.
    """

    text: str
    section: str = ""
    unit: str = ""
    first: int = 0
    last: int = 0
    head: str = ""
    tail: str = ""

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return ", ".join(filter(None, [self.section, numbers(self.unit, self.first, self.last)]))

    def follows(self, other: Part) -> bool:
        """Tells whether this part goes on where the other ends, under the same head."""
        return (self.section, self.unit, self.head) == (other.section, other.unit, other.head)

    def joined(self, other: Part) -> Part:
        """Gives both in one, the other behind this one."""
        tail = "\n".join(filter(None, [self.tail, other.tail]))
        return replace(self, text=f"{self.text}\n{other.text}", last=other.last, tail=tail)

    def whole(self) -> str:
        """Gives the text with its head and tail."""
        text = "\n".join(filter(None, [self.head, self.text]))
        return f"{text}\n\n{self.tail}\n" if self.tail else text


@dataclass(frozen=True)
class Passage:
    """A piece of a document.

    Attributes:
        address: How its file is named.
        place: Where it stands in it.
        text: Markdown.
    """

    address: str
    place: str
    text: str


@dataclass(frozen=True)
class Fact:
    """Something about the whole document for its first line: ``12 pages``, ``encoding cp1252``."""

    text: str


@dataclass(frozen=True)
class Note:
    """Something that the reader of the document has to know: what was left out, or is not what it seems."""

    text: str


class CannotRead(Exception):
    """A file cannot be read.

    Args:
        message: Why, in one line that follows the file's name.
        hint: The way out, empty where there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def plain(text: str, path: str) -> str:
    """Writes what a library says of a file on one line, without the folder in which the file lies.

    Args:
        text: Its words.
        path: The file.
    """
    return " ".join(text.replace(path, Path(path).name).split())[:LONGEST_CAUSE]


@dataclass(frozen=True)
class Options:
    """How a document is read.

    Attributes:
        password: Password of a protected file, empty where there is none.
        ocr: Read scanned pages by character recognition where it is installed.
    """

    password: str = ""
    ocr: bool = True


def numbers(unit: str, first: int, last: int) -> str:
    """Names one unit or several: ``page 3``, ``rows 2 to 51``."""
    if not unit or not first:
        return ""
    return f"{unit} {first}" if first == last else f"{unit}s {first} to {last}"


def size(text: str) -> int:
    """Estimates the tokens of a text: about four bytes each, in any script."""
    return len(text.encode("utf-8", "replace")) // 4 + 1
