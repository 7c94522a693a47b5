"""Unpacks a body piece by piece, and never more of it than is allowed: a small body may unpack to gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from kgot_core.errors import KgotError

ACCEPTED = "gzip, deflate"


class Unpacker:
    """Takes a body in pieces and gives it unpacked.

    Args:
        encoding: ``Content-Encoding`` as the server says.
        most: Bytes that are given at most.

    Raises:
        KgotError: The encoding was not asked for.
    """

    def __init__(self, encoding: str, most: int) -> None:
        names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
        if len(names) > 1 or not set(names) <= {"gzip", "x-gzip", "deflate"}:
            raise KgotError(f"the server packs the page in a way that was not asked for ({encoding[:40]!r})")
        self._raw = names == ["deflate"]
        self._zip = zlib.decompressobj(47) if names else None  # 47: gzip or zlib, found by itself
        self.left = most
        self.cut = False

    def take(self, piece: bytes) -> Iterator[bytes]:
        """Gives what a piece unpacks to.

        Raises:
            KgotError: The body is damaged.
        """
        if self._zip is None:
            yield from self._within(piece)
            return
        while piece and not self.cut:
            try:
                out = self._zip.decompress(piece, self.left + 1)
            except zlib.error:
                if not self._raw:
                    raise KgotError("the page arrived damaged: it cannot be unpacked") from None
                # Some servers send deflate without its wrapping.
                self._zip, self._raw = zlib.decompressobj(-zlib.MAX_WBITS), False
                continue
            self._raw = False
            piece = self._zip.unconsumed_tail
            yield from self._within(out)

    def _within(self, out: bytes) -> Iterator[bytes]:
        if len(out) > self.left:
            self.cut = True
        kept = out[: self.left]
        self.left -= len(kept)
        if kept:
            yield kept
