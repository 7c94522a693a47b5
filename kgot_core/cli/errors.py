"""Errors on the command line: one line that says what went wrong, one with the next step, and an exit code."""

from __future__ import annotations

import os
import traceback

import click

from kgot_core.cli.output import echo
from kgot_core.errors import FAILED, INTERRUPTED, WRONG_USAGE, KgotError, PluginError, UsageError


def report(error: BaseException) -> int:
    """Writes an error to stderr.

    Args:
        error: What ended the command. Its trace is written only where ``KGOT_DEBUG`` is set.

    Returns:
        The exit code: 2 wrong usage, 75 interrupted, 1 everything else.
    """
    if os.environ.get("KGOT_DEBUG", "0") not in ("", "0"):
        echo("".join(traceback.format_exception(error)), err=True, nl=False)
    if isinstance(error, click.UsageError) and error.ctx and error.format_message() == error.ctx.get_help():
        echo(error.format_message(), err=True)  # a group without a command
        return error.exit_code
    message, hint, code = _said(error)
    echo(f"kgot: {' '.join(message.split())}", err=True)
    if hint:
        echo(f"      {' '.join(hint.split())}", err=True)
    return code


def exit_code(error: KgotError) -> int:
    """Gives the exit code of an error."""
    return WRONG_USAGE if isinstance(error, UsageError | PluginError) else FAILED


def _said(error: BaseException) -> tuple[str, str, int]:
    if isinstance(error, KeyboardInterrupt | EOFError | click.Abort):
        return "interrupted", "", INTERRUPTED
    if isinstance(error, KgotError):
        return error.message, error.hint, exit_code(error)
    if isinstance(error, click.UsageError):
        hint = f"{error.ctx.command_path} --help" if error.ctx else ""
        return error.format_message(), hint, error.exit_code
    if isinstance(error, click.ClickException):
        return error.format_message(), "", error.exit_code
    if isinstance(error, OSError):
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror or error}{place}", "", FAILED
    return f"internal error: {type(error).__name__}: {error}", "set KGOT_DEBUG=1 to see where", FAILED
