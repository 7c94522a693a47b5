"""Settings of the backend ``networkx``."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class NetworkxSettings:
    """Limits of the scripts that read and write the graph; their time comes with each call."""

    memory_mb: int = field(default=512, metadata={"help": "Memory that one script may use, in MiB"})
    output_chars: int = field(default=20_000, metadata={"help": "Printed characters that are kept of one script"})
    script_chars: int = field(default=100_000, metadata={"help": "Longest script that is run, in characters"})
    load_seconds: float = field(
        default=60.0,
        metadata={"help": "How long filling the sandbox with a given graph may take, in seconds", "matters": False},
    )
