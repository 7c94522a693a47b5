"""Settings of the built-in tools."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PythonCodeSettings:
    """Settings of ``run_python_code``."""

    allow: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Packages that may be installed for a script, as names or with versions; wheels alone",
            "trusted": True,
        },
    )
    allow_install: bool = field(
        default=False,
        metadata={"help": "Any package of the index may be installed for a script; wheels alone", "trusted": True},
    )
