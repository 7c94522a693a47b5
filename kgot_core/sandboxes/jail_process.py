"""One jail that runs: started by a thread that stays, spoken to through two pipes, ended for good."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.jail import wire
from kgot_core.sandboxes.jail_command import Jail, command
from kgot_core.sandboxes.seccomp import jail_filter

_PART = 1 << 18
_START = "import sys; sys.path.insert(0, '/opt/kgot'); from jail.worker import main; sys.path.pop(0); main()"


class JailLost(Exception):
    """The worker has gone, or does not answer in time."""


class Woken(Exception):
    """Another thread asks the waiting one to look up."""


class JailProcess:
    """A started jail.

    Args:
        path: The bubblewrap program.
        jail: What the jail holds.
        tmpfs_bytes: Size of its one writable place, 0 for no limit.
        code: What its interpreter runs instead of the worker, for trying a jail.

    Raises:
        SandboxError: It cannot be started.
    """

    def __init__(self, path: str, jail: Jail, tmpfs_bytes: int, code: str = _START) -> None:
        self._started, self._ended = threading.Event(), threading.Event()
        self._refused = ""
        self._first = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._rules = os.pipe()
        self._told, self._told_end = os.pipe()
        # The kernel ties "die with parent" to the thread that started a process, so that thread has to stay.
        keeper = threading.Thread(
            target=self._keep, args=(path, jail, tmpfs_bytes, code), name="kgot-jail", daemon=True
        )
        keeper.start()
        self._started.wait()
        process = self._process
        if process is None or not process.stdin or not process.stdout or not process.stderr:
            os.close(self._told)
            raise SandboxError(f"the sandbox cannot be started: {self._refused}")
        self._inlet: IO[bytes] = process.stdin
        self._outlet: IO[bytes] = process.stdout
        self._complaints: IO[bytes] = process.stderr
        for pipe in (self._inlet.fileno(), self._outlet.fileno(), self._complaints.fileno(), self._told):
            os.set_blocking(pipe, False)

    def _keep(self, path: str, jail: Jail, tmpfs_bytes: int, code: str) -> None:
        rules, rules_end = self._rules
        told_end = self._told_end
        try:
            os.write(rules_end, jail_filter() or b"")
            os.close(rules_end)
            self._process = subprocess.Popen(
                [*command(path, jail, tmpfs_bytes, rules, told_end), "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=jail.environment,
                cwd="/",
                bufsize=0,
                pass_fds=(rules, told_end),
                # Ctrl-C reaches the whole group of the terminal; what is running in the jail is not its business.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._refused = str(error)
        finally:
            os.close(rules)
            os.close(told_end)
            self._started.set()
        if self._process is not None:
            self._process.wait()
            self._ended.set()

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
                    view = view[os.write(self._inlet.fileno(), view[:_PART]) :]
                except BlockingIOError:
                    _wait(self._inlet.fileno(), select.POLLOUT, deadline)
                except OSError as error:
                    raise JailLost(str(error)) from None

    def wait(self, deadline: float, wake: int) -> None:
        """Waits until the worker says something.

        Raises:
            JailLost: It did not in time.
            Woken: There is something to read from ``wake``.
        """
        _wait(self._outlet.fileno(), select.POLLIN, deadline, wake)

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
                part = os.read(self._outlet.fileno(), min(size, _PART))
            except BlockingIOError:
                _wait(self._outlet.fileno(), select.POLLIN, deadline)
                continue
            if not part:
                raise JailLost("the worker has ended")
            size -= len(part)
            yield part

    def complaint(self) -> str:
        """Gives what bubblewrap or the interpreter said when it could not start, as one line."""
        with contextlib.suppress(OSError):
            text = os.read(self._complaints.fileno(), 4096).decode(errors="replace").strip()
            return text.splitlines()[-1][:300] if text else ""
        return ""

    @property
    def running(self) -> bool:
        """Whether the jail has not ended; its pipe knows that before the thread that waits for it does."""
        if self._process is None or self._process.poll() is not None:
            return False
        poll = select.poll()
        poll.register(self._outlet.fileno(), 0)
        return not poll.poll(0)

    def code(self, seconds: float) -> int | None:
        """Gives the exit code, waiting for at most some seconds for it."""
        return self._process.returncode if self._ended.wait(seconds) and self._process else None

    def kill(self) -> None:
        """Ends every process of the jail; may be called from another thread."""
        if self._process is None or self._process.poll() is not None:
            return
        first = self._first_process()
        with contextlib.suppress(OSError):
            os.kill(first or self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Ends the jail and waits until nothing of it is left."""
        # Without its pipe the worker ends. It is the jail's first process, so the kernel ends all others before
        # bubblewrap, which waits for it, hears of that.
        self._inlet.close()
        if self.code(1.0) is None:
            self.kill()
        if self.code(2.0) is None and self._process is not None:
            self._process.kill()
            self.code(1.0)
        self._outlet.close()
        self._complaints.close()
        os.close(self._told)

    def _first_process(self) -> int:
        """Gives what bubblewrap told about the jail's first process, which stays in the pipe until somebody asks."""
        if not self._first:
            with contextlib.suppress(OSError):
                told = os.read(self._told, 4096).decode(errors="replace")
                found = re.search(r'"child-pid": (\d+)', told)
                self._first = int(found[1]) if found else 0
        return self._first


def _wait(pipe: int, event: int, deadline: float, wake: int = -1) -> None:
    poll = select.poll()
    poll.register(pipe, event)
    if wake >= 0:
        poll.register(wake, select.POLLIN)
    ready = dict(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
    if wake in ready:
        raise Woken
    if not ready:
        raise JailLost("the worker does not answer")
