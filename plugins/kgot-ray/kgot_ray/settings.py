"""Settings of the scheduler ``ray``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _setting(default: Any, help: str, **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, "matters": False, **marks})


@dataclass(frozen=True)
class RaySettings:
    """Where ranks run, and what is done when one of them is lost."""

    ranks: int = _setting(0, "Ranks to start as Ray tasks; 0: this process alone, without Ray")
    restarts: int = _setting(2, "How often Ray starts a rank anew that was lost")
    cpus: float = _setting(1.0, "Processors that Ray sets aside for a rank")
    room_seconds: float = _setting(600.0, "Seconds to wait for room in the cluster while no rank runs at all")
    address: str = _setting(
        "",
        "Address of the cluster: auto or HOST:PORT; where empty, the one that RAY_ADDRESS names, else a Ray of its own "
        "on this machine",
        trusted=True,
    )
    environment: tuple[str, ...] = _setting(
        (), "Variables that ranks on a cluster get from here, besides those of kgot itself", trusted=True
    )
