"""Which rank this process is. Imports no Ray where it is none."""

from __future__ import annotations

import json
import os

from kgot_ray.lines import OwnLine, RayLine
from kgot_ray.scheduler import RayScheduler

# Not among the settings, which begin with KGOT_.
VARIABLE = "_KGOT_RAY_RANK"


def is_rank() -> bool:
    """Tells whether this process was started as a rank."""
    return VARIABLE in os.environ


def said_place(desk: str, rank: int, ranks: int) -> str:
    """Gives the value of the variable that tells a process its place."""
    return json.dumps({"desk": desk, "rank": rank, "ranks": ranks})


def open_rank() -> RayScheduler:
    """Opens the scheduler of this process: of a rank, or of the only one."""
    if not is_rank():
        return RayScheduler(OwnLine())
    import ray

    place = json.loads(os.environ[VARIABLE])
    return RayScheduler(RayLine(ray.get_actor(place["desk"])), place["rank"], place["ranks"])
