"""Starts ranks as ``kgot batch --ranks`` does: settings, the first command line and the next are arguments, as JSON."""

from __future__ import annotations

import json
import sys

from kgot_mpi.launch import launch_ranks
from kgot_mpi.settings import MpiSettings

if __name__ == "__main__":
    settings, first, again = map(json.loads, sys.argv[1:])
    sys.exit(launch_ranks(MpiSettings(**settings), first, again))
