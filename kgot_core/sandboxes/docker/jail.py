"""A jail that is a container: made, attached to and started through the engine, spoken to over one connection."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import TYPE_CHECKING, Any

from kgot_core.sandboxes.docker.engine import told
from kgot_core.sandboxes.worker.line import JailLine

if TYPE_CHECKING:
    from docker import DockerClient

_HEAD, _STDOUT, _STDERR = 8, 1, 2
_KEPT = 4096
_END_SECONDS = 5


class DockerJail(JailLine):
    """A started container.

    When the connection ends, the engine closes the worker's input; the worker then ends, and the container with it: so
    nothing stays of a kgot that was killed.

    Args:
        client: The engine's client.
        image: The image's identity.
        command: What runs in it.
        options: Further fields of the container, as :meth:`docker.APIClient.create_container` takes them.

    Raises:
        SandboxError: It cannot be started.
    """

    def __init__(self, client: DockerClient, image: str, command: list[str], options: dict[str, Any]) -> None:
        self._api = client.api
        self._closed = False
        with told("the container cannot be started"):
            self._id = str(self._api.create_container(image, command, stdin_open=True, **options)["Id"])
            try:
                params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
                # Attached before it starts, so that no word of it is missed.
                self._response: Any = self._api.attach_socket(self._id, params=params)
                self._socket: socket.socket = getattr(self._response, "_sock", self._response)
                self._socket.setblocking(False)
                self._api.start(self._id)
            except BaseException:
                self._remove()
                raise
        self._head = b""
        self._left = self._kind = 0
        self._complaints = b""

    @property
    def inlet(self) -> int:
        """See :class:`JailLine`."""
        return self._socket.fileno()

    @property
    def outlet(self) -> int:
        """See :class:`JailLine`."""
        return self._socket.fileno()

    def write_some(self, data: memoryview) -> int:
        """See :class:`JailLine`."""
        return self._socket.send(data)

    def read_some(self, size: int) -> bytes:
        """Gives bytes of standard output; the engine puts a head of eight bytes before each piece, with its kind."""
        while True:
            while not self._left:
                part = self._socket.recv(_HEAD - len(self._head))
                if not part:
                    return b""
                self._head += part
                if len(self._head) == _HEAD:
                    self._kind, self._left = self._head[0], int.from_bytes(self._head[4:], "big")
                    self._head = b""
            part = self._socket.recv(min(self._left, size))
            self._left -= len(part)
            if self._kind == _STDOUT or not part:
                return part
            self._complaints = (self._complaints + part)[-_KEPT:]

    @property
    def running(self) -> bool:
        """Whether the worker is there and says nothing unasked."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return not poll.poll(0)

    def complaint(self) -> str:
        """See :class:`JailLine`."""
        with contextlib.suppress(OSError):
            while self.read_some(_KEPT):
                pass
        text = self._complaints.decode(errors="replace").strip()
        return text.splitlines()[-1][:300] if text else ""

    def kill(self) -> None:
        """See :class:`JailLine`."""
        with contextlib.suppress(Exception):
            self._api.kill(self._id)

    def end(self) -> None:
        """See :class:`JailLine`."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            self._drain(time.monotonic() + _END_SECONDS)
        # The engine removes a container whose worker has ended; who did so too at that time would get in its way.
        if not self._gone():
            self._remove()
        self._socket.close()
        self._response.close()

    def _drain(self, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            if not self._socket.recv(1 << 16):
                return

    def _remove(self) -> None:
        """Removes the container, running or not, and waits until it has gone; it may have gone already."""
        with contextlib.suppress(Exception):
            self._api.remove_container(self._id, force=True, v=True)
        self._gone()

    def _gone(self) -> bool:
        """Waits until the container has been removed; tells whether it was."""
        from docker.errors import NotFound

        try:
            self._api.wait(self._id, timeout=_END_SECONDS, condition="removed")
        except NotFound:
            return True
        except Exception:
            return False
        return True
