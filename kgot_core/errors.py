"""The few kinds of error that kgot raises. Each carries its cause and, where there is one, the next step."""

from __future__ import annotations

FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 75
"""Exit codes: a failure, a wrong command or setting, and an end from which the same command goes on."""


class KgotError(Exception):
    """Any failure that kgot explains to its user in one line.

    Args:
        message: What went wrong, in one line.
        hint: The next step for the user; empty where there is none.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(KgotError):
    """What the user asked for cannot be done as asked: a setting, a name, a file (exit code 2)."""


class PluginError(KgotError):
    """A plugin is missing, broken or offers something that does not keep its contract."""


class ModelError(KgotError):
    """A model request failed for good: after its retries, or at once where a retry cannot help."""


class ContextOverflow(ModelError):
    """The request does not fit into the model's context window."""


class TransientToolError(KgotError):
    """A tool failed in a way that may pass (paper, B.1): the call is retried."""


class StoreError(KgotError):
    """Any failure of a graph store."""


class StoreUnavailable(StoreError):
    """The graph store cannot be reached or has gone; the call may be retried."""


class Refused(StoreError):
    """The graph store may not be used as asked, by settings or by another run's lease."""


class SandboxError(KgotError):
    """The sandbox itself failed (not the code in it), or cannot run here."""


class QueryError(StoreError):
    """A statement's own fault; goes back to the model, cut to position and cause.

    Args:
        message: The store's message.
        line: 1-based line in the statement, 0 where unknown.
        column: 1-based column in the statement, 0 where unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if not self.line:
            return self.message
        place = f"line {self.line}" + (f", column {self.column}" if self.column else "")
        return f"{place}: {self.message}"


class Unreadable(KgotError):
    """A model's reply could not be understood.

    Args:
        message: What the reader expected and where it stopped; goes back to the model.
        truncated: The reply was cut off by a token limit.
    """

    def __init__(self, message: str, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.truncated = truncated


class CapReached(KgotError):
    """A limit that the user set for the run (time, tokens, cost) was reached."""


class ReplayDiverged(KgotError):
    """A run that is repeated from its journal, or goes on from it, asks for something else than the journal holds."""
