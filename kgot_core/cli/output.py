"""All output of the command line: what models, tools and pages wrote cannot steer the terminal."""

from __future__ import annotations

import click

from kgot_core.graph.visible import visible


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints a text, its control characters written out."""
    click.echo(visible(text), err=err, nl=nl)
