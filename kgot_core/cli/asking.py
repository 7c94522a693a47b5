"""Options that every command has that asks a model for an answer, and the settings that they stand for."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options

if TYPE_CHECKING:
    from kgot_core.plugins import PluginRegistry
    from kgot_core.settings import Override, Settings

F = TypeVar("F", bound=Callable[..., Any])

# Each stands for a setting, and above ``--set``.
SETTINGS = {
    "backends": ("--backend", "backend"),
    "solvers": ("--solver", "solver"),
    "voter": ("--voter", "voter"),
    "model": ("--model", "models.graph.model"),
    "graph_name": ("--graph-name", "graph.name"),
    "answer_format": ("--format", "format"),
    "out": ("--out", "runs_dir"),
}


@dataclass(frozen=True)
class Asking:
    """What was given by the options of :func:`asking_options`.

    Attributes:
        values: What stands for settings, by the option's argument.
        schema: File of a JSON schema.
        as_json: Print the whole answer.
        quiet: Show no progress.
        options: ``--set`` and ``--plugin``.
    """

    values: dict[str, Any]
    schema: str | None
    as_json: bool
    quiet: bool
    options: SettingsOptions

    def settings(self, more: Sequence[Override] = ()) -> tuple[PluginRegistry, Settings]:
        """Loads plugins and settings.

        Args:
            more: What further options of the command say.

        Raises:
            UsageError: A setting is wrong.
            PluginError: A plugin of the user's own cannot be used.
        """
        from kgot_core.errors import UsageError
        from kgot_core.settings import Override

        named = [(*SETTINGS[name], value) for name, value in self.values.items()]
        own = [Override(key, value, option) for option, key, value in named if value not in (None, ())]
        registry, settings = open_settings(self.options, [*own, *more])
        if self.values["graph_name"] and not settings.core.graph.keep:
            raise UsageError("--graph-name names a graph that a store keeps", hint="add --keep-graph, or --stored")
        return registry, settings

    def read_schema(self) -> Any:
        """Reads the JSON schema; ``None`` where none is named.

        Raises:
            UsageError: It cannot be read.
        """
        from kgot_core.errors import UsageError

        if self.schema is None:
            return None
        try:
            schema = json.loads(Path(self.schema).read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"the schema {self.schema} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise UsageError(f"the schema {self.schema} is not JSON: {error}") from None
        if not isinstance(schema, dict):
            raise UsageError(f"the schema {self.schema} is not a JSON object")
        return schema


def asking_options(function: F) -> Callable[..., Any]:
    """Gives a command these options, ``--set`` and ``--plugin``; they arrive as one argument, ``asking``."""

    @click.option("--backend", "backends", metavar="NAME", multiple=True, help="Graph store.")
    @click.option("--solver", "solvers", metavar="NAME", multiple=True, help="How the graph gives the answer.")
    @click.option("--voter", metavar="NAME", help="How several samples become one choice.")
    @click.option("--model", metavar="SPEC", help="Model of all roles, as provider:name.")
    @click.option("--graph-name", metavar="NAME", help="Which of the graphs that the store keeps; an IRI for SPARQL.")
    @click.option("--format", "answer_format", metavar="plain|gaia", help="Prose, or the bare value.")
    @click.option("--schema", metavar="FILE", help="JSON schema of the answer's value.")
    @click.option("--out", metavar="DIR", help="Folder that gets a folder for the run; runs_dir by default.")
    @click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
    @click.option("--quiet", is_flag=True, help="Show no progress.")
    @settings_options
    @functools.wraps(function)
    def wrapped(
        *args: Any, schema: str | None, as_json: bool, quiet: bool, options: SettingsOptions, **given: Any
    ) -> Any:
        values = {name: given.pop(name) for name in SETTINGS}
        return function(*args, asking=Asking(values, schema, as_json, quiet, options), **given)

    return wrapped


def read_question(question: str | None, usage: str) -> str:
    """Gives the question, from standard input where it is left out or ``-``.

    Args:
        question: The argument.
        usage: How the command is called, for the error.

    Raises:
        UsageError: It is empty, or no text.
    """
    from kgot_core.errors import UsageError

    text = question if question is not None and question != "-" else _from_input()
    if not text.strip():
        raise UsageError("the question is empty", hint=f"{usage} or give it on standard input")
    return text.strip()


def _from_input() -> str:
    from kgot_core.errors import UsageError

    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        text = sys.stdin.read().removeprefix("\ufeff")
        text.encode()  # a lenient terminal setting lets any byte through, as half a character
        return text
    except UnicodeError:
        raise UsageError("the question on standard input is not text", hint="give it in UTF-8") from None
