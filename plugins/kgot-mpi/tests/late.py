"""A thread that comes to the counters of a window just as they are given back; prints what became of it."""

from __future__ import annotations

import sys
import threading
from typing import Any

from kgot_mpi.counters import Gone, WindowCounters
from kgot_mpi.started import MPI
from kgot_mpi.stealing import Add


class Door:
    """A lock before which the threads that are named late wait until it is opened for them."""

    def __init__(self) -> None:
        self.arrived, self.opened, self._lock = threading.Event(), threading.Event(), threading.Lock()

    def __enter__(self) -> None:
        if threading.current_thread().name == "late":
            self.arrived.set()
            self.opened.wait(60)
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


class Ranks:
    """This process alone."""

    comm = MPI.COMM_SELF

    def __init__(self) -> None:
        self.lock = Door()


def main() -> None:
    """Counts once in time and once too late."""
    ranks: Any = Ranks()
    counters = WindowCounters(ranks)
    said = [f"in time {counters.do(Add('taken', 0))}"]

    def count() -> None:
        try:
            said.append(f"too late {counters.do(Add('taken', 0))}")
        except Gone:
            said.append("gone")

    late = threading.Thread(target=count, name="late")
    late.start()
    assert ranks.lock.arrived.wait(60)
    counters.give_up()
    counters.close()
    ranks.lock.opened.set()
    late.join(60)
    sys.stdout.write(", ".join(said))


if __name__ == "__main__":
    main()
