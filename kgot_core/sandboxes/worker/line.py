"""The line to a jail's worker: frames over two files that do not block, whatever stands behind them."""

from __future__ import annotations

import json
import select
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from kgot_core.sandboxes.jail import wire

START = "import sys; sys.path.insert(0, '/opt/kgot'); from jail.worker import main; sys.path.pop(0); main()"
"""What the interpreter in a jail runs."""
FLAGS = ("-s", "-S", "-P", "-B")
"""Options of the interpreter in a jail: no folder of modules but those that it is told of, and no compiled files."""
_PART = 1 << 18


class JailLost(Exception):
    """The worker has gone, or does not answer in time."""


class Woken(Exception):
    """Another thread asks the waiting one to look up."""


class JailLine(ABC):
    """A started jail with its worker."""

    @property
    @abstractmethod
    def inlet(self) -> int:
        """Number of the open file that takes what the worker reads."""

    @property
    @abstractmethod
    def outlet(self) -> int:
        """Number of the open file that gives what the worker writes."""

    @abstractmethod
    def write_some(self, data: memoryview) -> int:
        """Takes some bytes.

        Raises:
            BlockingIOError: None, for now.
            OSError: The worker has gone.
        """

    @abstractmethod
    def read_some(self, size: int) -> bytes:
        """Gives some bytes, at most ``size``; none where the worker has ended.

        Raises:
            BlockingIOError: There are none, for now.
        """

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether a worker that has no job is still there."""

    @abstractmethod
    def complaint(self) -> str:
        """Gives what a jail said that could not start, as one line."""

    @abstractmethod
    def kill(self) -> None:
        """Ends every process of the jail; may be called from another thread."""

    @abstractmethod
    def end(self) -> None:
        """Ends the jail and waits until nothing of it is left."""

    def send(self, header: dict[str, Any], blobs: Iterable[bytes] = (), *, seconds: float = 30.0) -> None:
        """Sends a frame.

        Raises:
            JailLost: The worker has gone or does not read.
        """
        deadline = time.monotonic() + seconds
        for blob in chain((wire.pack(header),), blobs):
            view = memoryview(blob)
            while view:
                try:
                    view = view[self.write_some(view[:_PART]) :]
                except BlockingIOError:
                    _wait(self.inlet, select.POLLOUT, deadline)
                except OSError as error:
                    raise JailLost(str(error)) from None

    def wait(self, deadline: float, wake: int) -> None:
        """Waits until the worker says something.

        Raises:
            JailLost: It did not in time.
            Woken: There is something to read from ``wake``.
        """
        _wait(self.outlet, select.POLLIN, deadline, wake)

    def receive(self, deadline: float) -> dict[str, Any]:
        """Gives a frame's header.

        Raises:
            JailLost: None came in time.
        """
        (length,) = wire.LENGTH.unpack(self.read(wire.LENGTH.size, deadline))
        if length > wire.MAX_HEADER:
            raise JailLost("the worker's answer is too long")
        try:
            header = json.loads(self.read(length, deadline))
        except (ValueError, RecursionError):
            raise JailLost("the worker's answer cannot be read") from None
        if not isinstance(header, dict):
            raise JailLost("the worker's answer cannot be read")
        return header

    def read(self, size: int, deadline: float) -> bytes:
        """Gives exactly ``size`` bytes.

        Raises:
            JailLost: They did not come in time.
        """
        return b"".join(self.parts(size, deadline))

    def parts(self, size: int, deadline: float) -> Iterator[bytes]:
        """Gives exactly ``size`` bytes, in parts.

        Raises:
            JailLost: They did not come in time.
        """
        while size > 0:
            try:
                part = self.read_some(min(size, _PART))
            except BlockingIOError:
                _wait(self.outlet, select.POLLIN, deadline)
                continue
            except OSError as error:
                raise JailLost(str(error)) from None
            if not part:
                raise JailLost("the worker has ended")
            size -= len(part)
            yield part


def _wait(file: int, event: int, deadline: float, wake: int = -1) -> None:
    poll = select.poll()
    poll.register(file, event)
    if wake >= 0:
        poll.register(wake, select.POLLIN)
    ready = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
    if wake in ready:
        raise Woken
    if not ready:
        raise JailLost("the worker does not answer")
