"""Vectors of texts on disk, shared by all runs: what was embedded once is not paid for again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path

_TEMPORARY = ".part"
_NUMBER = array("f").itemsize
_DIGEST = hashlib.sha256().digest_size


class VectorCache:
    """Keeps the vectors of a document's passages, one file for each model and content.

    A write is a new file that takes the place of the old one in one step, so that several runs can share the folder.

    Args:
        folder: Where; made when first used.
        model: The model's name.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        self._model = model

    def get(self, texts: Sequence[str], length: int) -> list[array[float]] | None:
        """Gives the vectors of texts, where all of them are kept and each has ``length`` numbers."""
        try:
            kept = self._path(texts).read_bytes()
        except OSError:
            return None
        digest, numbers = kept[:_DIGEST], kept[_DIGEST:]
        if len(numbers) != len(texts) * length * _NUMBER or hashlib.sha256(numbers).digest() != digest:
            return None  # another model of this name, or damage
        size = length * _NUMBER
        return [array("f", numbers[start : start + size]) for start in range(0, len(numbers), size)]

    def put(self, texts: Sequence[str], vectors: Sequence[array[float]]) -> None:
        """Keeps the vectors of texts; a disk that is full or closed costs nothing but the entry."""
        path = self._path(texts)
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_TEMPORARY}")
        numbers = b"".join(vector.tobytes() for vector in vectors)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.write_bytes(hashlib.sha256(numbers).digest() + numbers)
            part.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()

    def _path(self, texts: Sequence[str]) -> Path:
        # Machines that share the folder may order the bytes of a number differently.
        asked = json.dumps([self._model, sys.byteorder, list(texts)])
        name = hashlib.sha256(asked.encode()).hexdigest()
        return self._folder / name[:2] / name[2:]
