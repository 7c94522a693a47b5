"""The command line. Each command is imported when it is called, so that ``kgot --help`` loads next to nothing."""

import click

from kgot_core.cli.group import LazyGroup
from kgot_core.cli.output import echo
from kgot_core.cli.table import COMMANDS


def _version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from kgot_core.plugins.discovery import core_version

        echo(f"kgot {core_version() or 'from a source tree that is not installed'}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    name="kgot",
    rows=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A setting's origin is told by: kgot config show. A trace of any error: KGOT_DEBUG=1.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
def main() -> None:
    """Answers hard questions with a knowledge graph of the task, built step by step by a language model."""
