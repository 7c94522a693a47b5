"""Unpacks an archive in the child process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgot_tools_media.kinds import recognise
from kgot_tools_media.unpacking.writing import Room, unpack


def run(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Gives what became of each member.

    Args:
        job: ``path``, ``folder``, ``password`` and ``room`` (see :class:`kgot_tools_media.unpacking.writing.Room`).
    """
    path = Path(job["path"])
    found = recognise(path)
    yield {"kind": found.kind.title}
    if found.note:
        yield {"note": found.note}
    for written in unpack(path, found.kind, Path(job["folder"]), job["password"], Room(**job["room"])):
        yield {"member": asdict(written)}
