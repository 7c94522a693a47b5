"""Settings of the servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_CALL = 3_600.0
LONGEST_START = 110.0
"""A run waits two minutes for its tools to be made."""


def _setting(default: Any, help: str, **marks: Any) -> Any:
    # What names a server, or reaches one, may only be set where the user trusts it.
    return field(default=default, metadata={"help": help, "trusted": True, **marks})


def _secrets(help: str) -> Any:
    marks = {"help": help, "trusted": True, "secret": True, "matters": False}
    return field(default_factory=dict, repr=False, metadata=marks)


@dataclass(frozen=True)
class ServerSettings:
    """``tools.mcp.servers.<name>.*``: a server, which has either ``command`` or ``url``."""

    command: str = _setting(
        "", "Program that is the server, spoken to over its standard input and output", matters=False
    )
    args: tuple[str, ...] = _setting((), "Arguments of the program", matters=False)
    env: Mapping[str, str] = _secrets("Variables that the program gets beside a minimal environment")
    folder: str = _setting(
        "", "Folder in which the program runs, the working folder where empty", path=True, matters=False
    )
    url: str = _setting("", "Address of a server that speaks streamable HTTP", matters=False)
    headers: Mapping[str, str] = _secrets("Headers of each request to that address")
    plain_http: bool = _setting(False, "Allow an address without TLS on another machine than this one")
    include: tuple[str, ...] = _setting((), "Tools that are offered, all where empty; names, or patterns such as get_*")
    exclude: tuple[str, ...] = _setting((), "Tools that are not offered; names, or patterns")
    seconds: float = _setting(120.0, "How long one call may take, in seconds, at most 3600", above=0, matters=False)
    start_seconds: float = _setting(
        30.0,
        "How long starting the server and listing its tools may take, in seconds, at most 110",
        above=0,
        matters=False,
    )
    message_mb: int = _setting(16, "Size of one message of the server, in MiB", minimum=1, matters=False)
    disabled: bool = _setting(False, "Leave the server out")


@dataclass(frozen=True)
class McpSettings:
    """``tools.mcp.*``."""

    file: str = _setting(
        "", 'JSON file of servers as other programs have it, {"mcpServers": {...}}', path=True, matters=False
    )
    servers: Mapping[str, ServerSettings] = field(default_factory=dict, metadata={"trusted": True})
