"""Whether one-sided access works while its target is busy with something else than MPI."""

from __future__ import annotations

import time
from array import array

from kgot_mpi.started import MPI

AWAY = 0.1
"""Seconds for which half of the ranks do not enter MPI."""


def progresses_passively(comm: MPI.Intracomm) -> bool:
    """Tries it out; all ranks call it together, it takes a quarter of a second.

    Half of the ranks sleep while the others add to a counter of two of them: one that is next to them, thus most often
    on the same node, and one that is far away.

    Args:
        comm: The ranks.

    Returns:
        Whether no rank had to wait; the same on all ranks.
    """
    window = MPI.Win.Allocate(8, 8, comm=comm)
    window.Lock_all(MPI.MODE_NOCHECK)
    one, before = array("q", [1]), array("q", [0])
    slow = False
    far = comm.size // 2 | 1
    for turn in (0, 1):
        comm.Barrier()
        if comm.rank % 2 == turn:
            time.sleep(AWAY)
            continue
        began = time.monotonic()
        for target in {(comm.rank + 1) % comm.size, (comm.rank + far) % comm.size}:
            window.Fetch_and_op([one, MPI.INT64_T], [before, MPI.INT64_T], target, 0, MPI.SUM)
            window.Flush(target)
        slow = slow or time.monotonic() - began > AWAY / 2
    anywhere_slow = comm.allreduce(slow, MPI.LOR)
    window.Unlock_all()
    window.Free()
    return not anywhere_slow
