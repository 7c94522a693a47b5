"""Every command, one line each: where it is, what it does, and where it stands in ``kgot --help``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Row(NamedTuple):
    """One command.

    Attributes:
        target: ``module:attribute`` of the click command, imported when the command is called.
        help: What it does, one line.
        group: Heading under which it stands.
    """

    target: str
    help: str
    group: str


GROUPS = ("Ask", "Go on", "Look", "Set up", "Learn")

COMMANDS: Mapping[str, Row] = MappingProxyType(
    {
        "run": Row("kgot_core.cli.run:run", "Answer one question", "Ask"),
        "batch": Row("kgot_core.cli.batch:batch", "Answer every task of a file", "Ask"),
        "resume": Row("kgot_core.cli.resume:resume", "Go on with a run or a batch that was broken off", "Go on"),
        "replay": Row("kgot_core.cli.runs:replay", "Run a recorded run again, without a model", "Go on"),
        "runs": Row("kgot_core.cli.runs:runs", "List the runs", "Look"),
        "status": Row("kgot_core.cli.status:status", "Tell how a batch is, while it runs or afterwards", "Look"),
        "show": Row("kgot_core.cli.runs:show", "Show a run: its course, its graph, its answer", "Look"),
        "graph": Row("kgot_core.cli.graph:graph", "Analyze, export, convert and ask graphs", "Look"),
        "doctor": Row("kgot_core.cli.doctor:doctor", "Say what works here and what is missing", "Set up"),
        "config": Row("kgot_core.cli.config:config", "Show settings and where they come from; trust a file", "Set up"),
        "plugins": Row("kgot_core.cli.plugins:plugins", "List plugins, and show what one offers", "Set up"),
        "tools": Row("kgot_core.cli.tools:tools", "List tools, and call one by hand", "Set up"),
        "sandbox": Row("kgot_core.cli.sandbox:sandbox", "Build the image of a sandbox; try sandboxes out", "Set up"),
        "cache": Row("kgot_core.cli.cache:cache", "List and clear what tools keep between runs", "Set up"),
        "pool": Row("kgot_core.cli.pool:pool", "Start, show and stop pools of graph servers for batches", "Set up"),
        "completion": Row("kgot_core.cli.completion:completion", "Print the script of shell completion", "Set up"),
        "demo": Row("kgot_core.cli.demo:demo", "Run a real task offline, with recorded model replies", "Learn"),
    }
)
