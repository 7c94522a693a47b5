"""All output of the command line: what models, tools and pages wrote cannot steer the terminal."""

from __future__ import annotations

import sys

import click

from kgot_core.graph.visible import visible


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints a text, its control characters written out."""
    click.echo(visible(text), err=err, nl=nl)


def echo_data(data: str) -> None:
    """Prints the text of a file: to a terminal like any other text, elsewhere byte by byte as it is."""
    if sys.stdout.isatty():
        echo(data, nl=False)
    else:
        click.echo(data.encode(), nl=False)
