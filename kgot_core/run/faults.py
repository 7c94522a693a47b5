"""What an exception says; those of plugins may say anything, or fail to."""

from __future__ import annotations

from kgot_core.errors import KgotError


def said(error: BaseException, *, lines: bool = False) -> str:
    """Gives what an error of anybody's code says: our own errors in their words, others with their kind.

    Args:
        error: The error.
        lines: Keep its lines; otherwise they become one.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        text = str(error).strip() if lines else " ".join(str(error).split())
    except Exception:  # its own words are out of reach; its kind is not
        text = ""
    if isinstance(error, KgotError) and text:
        return text
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind
