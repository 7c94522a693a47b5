"""MPI itself. Importing this starts it, so it is imported only by what a batch needs."""

from __future__ import annotations

import mpi4py

# Finalize waits for all ranks, also for one that was lost or is stuck. The scheduler calls it where all are there.
mpi4py.rc.finalize = False

from mpi4py import MPI  # noqa: E402

__all__ = ["MPI"]
