"""What a Ray task does to be a rank: it runs the batch's command in its own process."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kgot_ray.place import VARIABLE, said_place


class Forwarded(io.RawIOBase):
    """Hands what is written on to the desk, for the launcher to show.

    Args:
        desk: The actor.
        rank: Who writes.
        stream: ``stdout`` or ``stderr``.
    """

    def __init__(self, desk: Any, rank: int, stream: str) -> None:
        self._desk, self._rank, self._stream = desk, rank, stream
        self._last: Any = None

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def write(self, data: Any) -> int:
        """Hands on some whole lines."""
        text = bytes(data).decode("utf-8", "replace")
        self._last = self._desk.say.remote(self._rank, self._stream, text)
        return len(data)

    def arrived(self) -> None:
        """Waits until all of it is at the desk."""
        import ray

        if self._last is not None:
            ray.get(self._last)


def run_rank(
    desk_name: str, rank: int, ranks: int, command: Sequence[str], folder: str, environment: Mapping[str, str]
) -> int:
    """Runs a command as a rank of a batch; the whole of a Ray task, whose process ends with it.

    Args:
        desk_name: Name of the desk's actor.
        rank: Which rank it is.
        ranks: How many there are.
        command: ``python -m MODULE …``: of another Python where the node has another one.
        folder: Where the command was given.
        environment: Variables that it needs.

    Returns:
        The exit code.
    """
    import ray

    os.environ.update(environment)
    os.environ[VARIABLE] = said_place(desk_name, rank, ranks)
    os.chdir(folder)
    desk = ray.get_actor(desk_name)
    streams = {name: Forwarded(desk, rank, name) for name in ("stdout", "stderr")}
    texts = [io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", line_buffering=True) for raw in streams.values()]
    with contextlib.redirect_stdout(texts[0]), contextlib.redirect_stderr(texts[1]):
        code = _run_module(command[2], command[3:])
        for text in texts:
            text.flush()
    for raw in streams.values():
        raw.arrived()
    return code


def _run_module(module: str, arguments: Sequence[str]) -> int:
    before = sys.argv
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        sys.argv = before
    return 0
