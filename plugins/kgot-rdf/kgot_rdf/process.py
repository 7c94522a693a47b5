"""The host's side of the child process: starts it, asks it, and ends it at the time limit."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kgot_rdf
from kgot_core.errors import QueryError, Refused, StoreUnavailable
from kgot_rdf.wire import receive, send

START_SECONDS = 30.0
_PASSED_ON = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_CANCELLED = "the statement was cancelled; nothing was changed"


class Lost(Exception):
    """The process has gone by itself."""


class ChildProcess:
    """A worker, started when it is needed.

    Args:
        options: What it is started with, see :class:`kgot_rdf.worker.Worker`.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._cancelled = False
        self._lost = False

    @property
    def running(self) -> bool:
        """Whether the process can be asked; one that was killed may still be on its way out."""
        return self._process is not None and not self._lost and self._process.poll() is None

    def start(self) -> None:
        """Starts the process.

        Raises:
            Refused: What it is started with cannot be used; the message says why.
            QueryError: It was cancelled meanwhile.
            StoreUnavailable: It cannot be started.
        """
        self.end()
        self._cancelled = self._lost = False
        package = str(Path(kgot_rdf.__file__).resolve().parents[1])
        # The child gets what it needs to find its modules, and none of the secrets that the environment may hold.
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([package, *filter(None, sys.path)]))
        env["PYTHONUTF8"] = "1"
        command = [sys.executable, "-P", "-m", "kgot_rdf.worker"]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._process, self._replies = process, replies
        if self._cancelled:
            self._kill()  # cancelled while there was no process that could be ended
        threading.Thread(target=_read, args=(process, replies), daemon=True, name="kgot-rdf").start()
        try:
            reply = self._ask(self._options, START_SECONDS)
        except (Lost, QueryError) as error:
            self.end()
            if self._cancelled:
                raise QueryError(_CANCELLED) from None
            raise StoreUnavailable(f"the store's own process did not start: {error}") from None
        if "failure" in reply:
            self.end()
            cause = " ".join(str(reply["failure"]).split())
            raise Refused((cause.partition(": ")[2] or cause)[:300])

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """Sends a request and waits for its reply.

        Raises:
            QueryError: The time was up, or the call was cancelled; the process was ended.
            Lost: The process has gone by itself.
        """
        return self._ask(request, seconds)

    def cancel(self) -> None:
        """Ends the process, and with it a running request; called from another thread."""
        self._cancelled = True
        self._kill()

    def end(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue

    def _kill(self) -> None:
        self._lost = True
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()

    def _ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        process = self._process
        if process is None or process.stdin is None:
            raise Lost("it is not running")
        try:
            send(process.stdin, request)
            reply = self._replies.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            self._kill()
            raise QueryError(f"the statement took longer than {seconds:.3g} seconds; nothing was changed") from None
        except OSError:
            reply = None
        if reply is None:
            self._lost = True
            if self._cancelled:
                raise QueryError(_CANCELLED)
            raise Lost("it ended by itself")
        return reply


def _read(process: subprocess.Popen[bytes], replies: queue.SimpleQueue[Any]) -> None:
    assert process.stdout is not None
    while True:
        try:
            replies.put(receive(process.stdout))
        except (EOFError, OSError, ValueError):
            replies.put(None)
            return
