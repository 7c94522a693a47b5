"""A jail behind a program: started by a thread that stays, spoken to through two pipes, ended for good."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO

from kgot_core.errors import SandboxError
from kgot_core.sandboxes.worker.line import JailLine


class JailProcess(JailLine):
    """A started jail.

    Args:
        command: The program that makes the jail, with all its arguments.
        environment: Its environment.
        pass_fds: Open files that it needs, closed here once it has started or could not.

    Raises:
        SandboxError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], pass_fds: Sequence[int] = ()) -> None:
        self._started, self._ended = threading.Event(), threading.Event()
        self._refused = ""
        self._process: subprocess.Popen[bytes] | None = None
        # The kernel ties "die with parent" to the thread that started a process, so that thread has to stay.
        keeper = threading.Thread(
            target=self._keep, args=(command, environment, pass_fds), name="kgot-jail", daemon=True
        )
        keeper.start()
        self._started.wait()
        process = self._process
        if process is None or not process.stdin or not process.stdout or not process.stderr:
            raise SandboxError(f"the sandbox cannot be started: {self._refused}")
        self._inlet: IO[bytes] = process.stdin
        self._outlet: IO[bytes] = process.stdout
        self._complaints: IO[bytes] = process.stderr
        for pipe in (self._inlet, self._outlet, self._complaints):
            os.set_blocking(pipe.fileno(), False)

    def _keep(self, command: Sequence[str], environment: Mapping[str, str], pass_fds: Sequence[int]) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                bufsize=0,
                pass_fds=pass_fds,
                # Ctrl-C reaches the whole group of the terminal; what is running in the jail is not its business.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._refused = str(error)
        finally:
            for file in pass_fds:
                os.close(file)
            self._started.set()
        if self._process is not None:
            self._process.wait()
            self._ended.set()

    @property
    def inlet(self) -> int:
        """See :class:`JailLine`."""
        return self._inlet.fileno()

    @property
    def outlet(self) -> int:
        """See :class:`JailLine`."""
        return self._outlet.fileno()

    def write_some(self, data: memoryview) -> int:
        """See :class:`JailLine`."""
        return os.write(self.inlet, data)

    def read_some(self, size: int) -> bytes:
        """See :class:`JailLine`."""
        return os.read(self.outlet, size)

    @property
    def running(self) -> bool:
        """Whether the jail has not ended; its pipe knows that before the thread that waits for it does."""
        if self._process is None or self._process.poll() is not None:
            return False
        poll = select.poll()
        poll.register(self.outlet, 0)
        return not poll.poll(0)

    def complaint(self) -> str:
        """Gives what the program or the interpreter said when it could not start, as one line."""
        self.code(0.5)
        with contextlib.suppress(OSError):
            text = os.read(self._complaints.fileno(), 4096).decode(errors="replace").strip()
            return text.splitlines()[-1][:300] if text else ""
        return ""

    def code(self, seconds: float) -> int | None:
        """Gives the exit code, waiting for at most some seconds for it."""
        return self._process.returncode if self._ended.wait(seconds) and self._process else None

    def first_process(self) -> int:
        """Gives the number of the process whose end ends the jail, 0 where it is the program itself."""
        return 0

    def kill(self) -> None:
        """See :class:`JailLine`."""
        if self._process is None or self._process.poll() is not None:
            return
        first = self.first_process()
        with contextlib.suppress(OSError):
            os.kill(first or self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """See :class:`JailLine`."""
        # Without its pipe the worker ends. It is the jail's first process, so the kernel ends all others before
        # the program, which waits for it, hears of that.
        self._inlet.close()
        if self.code(1.0) is None:
            self.kill()
        if self.code(2.0) is None and self._process is not None:
            self._process.kill()
            self.code(1.0)
        self._outlet.close()
        self._complaints.close()
