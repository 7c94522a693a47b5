"""The process that owns a pool: starts its servers, looks after them, replaces what is broken, takes all down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgot_core.errors import KgotError
from kgot_core.pool.making import Maker
from kgot_core.pool.server import RunningServer
from kgot_core.pool.state import KEEPER, LOGS, PoolInfo, Slot, slot_name, write_pool, write_slot
from kgot_core.pool.sweeping import take_down
from kgot_core.run.record import lease
from kgot_core.sandboxes.providers import DockerSettings

LOOK_SECONDS = 1.0
MISSES = 3
"""How often in a row a server may fail to answer before it is replaced."""
LONGEST_PAUSE = 60.0


class Keeper:
    """Keeps a pool until it is told to stop.

    Args:
        folder: The pool's folder.
        info: The pool.
        maker: Starts its servers; ``None`` where the backend needs none.
        password: Its password.
        check_seconds: From one question whether a server answers to the next.
        stop: Ends it.
        together: How many servers may be starting at once.
        say: Told of each change.
    """

    def __init__(
        self,
        folder: Path,
        info: PoolInfo,
        maker: Maker | None,
        password: str,
        check_seconds: float,
        stop: threading.Event,
        together: int,
        say: Callable[[str], Any],
    ) -> None:
        self._folder, self._info, self._maker, self._password = folder, info, maker, password
        self._check_seconds, self._stop, self._say = check_seconds, stop, say
        self._starting = threading.Semaphore(together)

    def keep(self) -> None:
        """Runs the pool to its end.

        Raises:
            UsageError: Another process keeps it.
            OSError: Its folder cannot be written.
        """
        hold = lease.take(self._folder, self._stop.wait, name=KEEPER, what="pool")
        try:
            (self._folder / LOGS).mkdir(exist_ok=True)
            for slot in self._names():
                write_slot(self._folder, Slot(slot))
            write_pool(self._folder, self._info, self._password)
            threads = [threading.Thread(target=self._mind, args=(slot,), name=slot) for slot in self._names()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            take_down(self._folder, self._info, self._maker.docker if self._maker else DockerSettings())
        finally:
            hold.release()

    def _names(self) -> list[str]:
        return [slot_name(number) for number in range(1, self._info.slots + 1)]

    def _mind(self, name: str) -> None:
        """Looks after one slot, on a thread of its own: one that hangs does not hold the others up."""
        slot = Slot(name)
        while not self._stop.is_set():
            server: RunningServer | None = None
            try:
                slot, server = self._started(slot)
                if server is None:
                    self._stop.wait()
                    return
                problem = self._watch(server, slot)
            except Exception as error:  # of a plugin too: a slot that does not start must not end the others
                problem = error.message if isinstance(error, KgotError) else f"{type(error).__name__}: {error}"
            finally:
                if server is not None and self._stop.is_set():
                    server.end()
            if self._stop.is_set():
                return
            failures = slot.failures + 1 if server is None else 0
            slot = replace(slot, state="broken", problem=problem, since=time.time(), failures=failures)
            self._told(slot)
            if server is not None:
                server.end()
            else:
                self._stop.wait(min(LONGEST_PAUSE, 2.0**failures))

    def _started(self, slot: Slot) -> tuple[Slot, RunningServer | None]:
        slot = replace(slot, state="starting", since=time.time(), generation=slot.generation + 1, server="")
        server, address = None, ""
        if self._maker is not None:
            with self._starting:
                if self._stop.is_set():
                    raise KgotError("the pool ends")
                write_slot(self._folder, slot)
                server, address = self._maker.made(slot.name, slot.generation, self._say)
        words, port = (server.words, server.port) if server is not None else ("", 0)
        slot = replace(slot, state="ready", address=address, port=port, server=words, problem="", failures=0)
        slot = replace(slot, since=time.time())
        self._told(slot)
        return slot, server

    def _watch(self, server: RunningServer, slot: Slot) -> str:
        """Waits until a server is broken, and tells why; ends early where the pool ends."""
        assert self._maker is not None
        asked, misses = time.monotonic(), 0
        while not self._stop.wait(min(LOOK_SECONDS, self._check_seconds)):
            if end := server.ended():
                return end
            if time.monotonic() - asked >= self._check_seconds:
                problem = self._maker.answers(server)
                asked, misses = time.monotonic(), misses + 1 if problem else 0
                if misses >= MISSES:
                    return f"it does not answer: {problem}"
        return ""

    def _told(self, slot: Slot) -> None:
        write_slot(self._folder, slot)
        where = f" at {slot.address}" if slot.address else ""
        said = f"{slot.name} is {slot.state}{where}" if slot.state == "ready" else f"{slot.name}: {slot.problem}"
        self._say(said)
