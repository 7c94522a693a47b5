"""The settings of pools, ``pool.*``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgot_core.settings.fields import setting


@dataclass(frozen=True)
class PoolSettings:
    """``pool.*``: servers of which each run leases one. Servers that are there are listed, ``pool.<backend>``."""

    name: str = setting(
        "", "the pool of which runs lease a slot: its name on this machine, or its folder", trusted=True, matters=False
    )
    slots: int = setting(4, "slots of a pool that is started", matters=False, minimum=1)
    servers: Literal["auto", "container", "sarus", "process"] = setting(
        "auto",
        "how a pool starts its servers: in containers of Docker or of Sarus, or as processes; auto: in containers "
        "where a Docker engine answers, else as processes",
        trusted=True,
        matters=False,
    )
    start_seconds: float = setting(180.0, "seconds that a server may take to start", matters=False, above=0)
    check_seconds: float = setting(10.0, "seconds from one look at a server to the next", matters=False, above=0)
    patience: float = setting(
        300.0, "seconds for which a run waits while no slot works and none is in use", matters=False, minimum=0
    )
