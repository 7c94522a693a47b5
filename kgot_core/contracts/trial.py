"""What a provider of tools brings so that ``kgot plugins check`` can try them where its users have installed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Trial:
    """What tools are tried with; several providers may share one, for calls of tools that one has not do not count.

    Attributes:
        settings: Settings of the provider, such as those of the user with the address of a server of the trial's own.
        files: The task's attachments.
        calls: Arguments of a call that works, by the name of the tool; the example of its description otherwise.
        bad_calls: Arguments of a call that must fail, by the name of the tool.
        reply: What the model answers when a tool asks it.
        untried: Why a tool is not called, by its name: it needs what cannot be brought along.
    """

    settings: Any
    files: Sequence[Path] = ()
    calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bad_calls: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reply: str = "42"
    untried: Mapping[str, str] = field(default_factory=dict)
