"""A click group whose commands are imported on use, listed under headings, with errors of one line."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.table import GROUPS, Row

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """The group of all commands.

    Args:
        rows: The commands by name.
    """

    def __init__(self, *args: Any, rows: Mapping[str, Row], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows = rows

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Lists the commands in the order of the table, heading by heading."""
        return [name for group in GROUPS for name, row in self.rows.items() if row.group == group]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command."""
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        module, _, attribute = row.target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is meant; one that does not exist is refused with a similar one."""
        name = args[0]
        if name not in self.rows and not name.startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(name, self.rows, n=1)
            ctx.fail(f"there is no command {name}" + (f": did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands under their headings, from the table alone."""
        width = max((len(name) for name in self.rows), default=0)
        for group in GROUPS:
            rows = [(name.ljust(width), row.help) for name, row in self.rows.items() if row.group == group]
            if rows:
                with formatter.section(group):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes the names of commands without importing them."""
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=self.rows[name].help)
            for name in self.list_commands(ctx)
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command line; as a program it ends with an exit code, and an error is one line.

        A command may return its exit code.
        """
        given: dict[str, Any] = {
            "prog_name": prog_name or self.name,
            "complete_var": complete_var,
            "windows_expand_args": windows_expand_args,
            **extra,
        }
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **given)
        try:
            code = super().main(args, standalone_mode=False, **given)
        except SystemExit:
            raise
        except BaseException as error:
            from kgot_core.cli.errors import report

            code = report(error)
        sys.exit(code if isinstance(code, int) else 0)
