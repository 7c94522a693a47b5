"""Settings of the scheduler ``mpi``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


def _setting(default: Any, help: str, **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, "matters": False, **marks})


@dataclass(frozen=True)
class MpiSettings:
    """How ranks are started, and how they reach each other."""

    ranks: int = _setting(0, "Ranks to start with mpiexec; 0: as many as there are, so started by mpiexec or srun")
    restarts: int = _setting(2, "How often ranks that kgot started are started anew after one was lost")
    launcher: str = _setting(
        "", "mpiexec of the MPI library; where empty, the one beside this Python or on the path", trusted=True
    )
    options: str = _setting(
        "",
        "Options for the launcher, as on a command line: hosts, mapping; instead of those for one host",
        trusted=True,
    )
    survive: bool = _setting(True, "Go on when a rank is lost, where the MPI library can (Open MPI 5)")
    transport: Literal["auto", "one-sided", "messages"] = _setting(
        "auto", "How a task is claimed from another rank; auto tries out what works while the other is busy"
    )
