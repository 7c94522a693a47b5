"""How a settings dataclass says what may be set."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def setting(
    default: Any,
    help: str,
    *,
    secret: bool = False,
    trusted: bool = False,
    path: bool = False,
    matters: bool = True,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
) -> Any:
    """Makes a field of a settings dataclass.

    Args:
        default: Its default.
        help: What it is for, a sentence without a full stop.
        secret: It is never shown, and never written into a run.
        trusted: A ``kgot.toml`` may set it only in the user's own config folder, or once it is trusted.
        path: It is a path; a relative one starts at the folder of the file that sets it, else at the working folder.
        matters: A run that goes on is refused where it has changed, since the answer may depend on it.
        minimum: The least number allowed.
        maximum: The largest number allowed.
        above: A number that it must exceed.
    """
    limits = {"minimum": minimum, "maximum": maximum, "above": above}
    said = {"help": help, "secret": secret, "trusted": trusted, "path": path, "matters": matters, **limits}
    return field(default=default, repr=not secret, metadata=said)
