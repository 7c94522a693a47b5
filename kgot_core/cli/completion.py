"""``kgot completion``: the script that makes a shell complete commands and options."""

from __future__ import annotations

import os
from pathlib import Path

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", required=False, type=click.Choice(SHELLS))
def completion(shell: str | None) -> None:
    """Print the script of shell completion, for SHELL or the one in use.

    \b
    bash:  eval "$(kgot completion bash)"      in ~/.bashrc
    zsh:   eval "$(kgot completion zsh)"       in ~/.zshrc
    fish:  kgot completion fish | source       in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from kgot_core.cli import main
    from kgot_core.errors import UsageError

    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise UsageError("name a shell", hint=" or ".join(f"kgot completion {known}" for known in SHELLS))
    made = get_completion_class(name)
    assert made is not None
    click.echo(made(main, {}, "kgot", "_KGOT_COMPLETE").source())
