"""Reads several documents in one child process; one that cannot be read costs only itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kgot_tools_media.child.read import run as read
from kgot_tools_media.parts import TOO_DEEP, CannotRead, plain


def run(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Gives for each file what reading it alone gives, between ``begin`` and ``done``.

    Args:
        job: ``paths``, and ``options`` (see :class:`kgot_tools_media.parts.Options`).
    """
    for path in job["paths"]:
        yield {"begin": path}
        try:
            yield from read({"path": path, "options": job["options"]})
        except CannotRead as error:
            yield {"failed": plain(error.message, path)}
        except RecursionError:
            yield {"failed": TOO_DEEP}
        except Exception as error:  # any library may raise anything on a damaged file
            yield {"failed": plain(f"is damaged and cannot be read: {type(error).__name__}: {error}", path)}
        yield {"done": path}
