"""``python -m kgot_core``: the command line."""

from kgot_core.cli import main

main(prog_name="kgot")
