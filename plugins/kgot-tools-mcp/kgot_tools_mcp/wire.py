"""What is known of a connection besides its messages: how it is doing, for errors that say what happened."""

from __future__ import annotations

from dataclasses import dataclass, field

_KEPT = 4_000
_SHOWN = 300


@dataclass
class Wire:
    """The state of one connection.

    Attributes:
        most: Bytes that one message may have.
        fault: What the server did that ended the connection; empty where it did nothing wrong.
        ended: Nothing comes from it any more.
        pid: Its program's process, which leads a group of its own.
        exit_code: With which its program ended.
        status: The last status of an HTTP answer that was an error, with its phrase.
        garbage: The last thing it wrote where a message should be.
        told: The end of what it wrote on its standard error.
    """

    most: int
    fault: str = ""
    ended: bool = False
    pid: int | None = None
    exit_code: int | None = None
    status: str = ""
    garbage: str = ""
    told: bytearray = field(default_factory=bytearray)

    def hear(self, chunk: bytes) -> None:
        """Takes in what came on standard error; only the end is kept."""
        self.told += chunk
        del self.told[:-_KEPT]

    @property
    def last_words(self) -> str:
        """The last line of standard error that says something."""
        lines = [line.strip() for line in self.told.decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")[:_SHOWN]

    @property
    def flood(self) -> str:
        """What is said of a message that is too large."""
        return f"it sent more than {self.most >> 20:,} MiB at once"
