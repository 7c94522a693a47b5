"""``kgot run``: one question from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.running import run_to_its_end

if TYPE_CHECKING:
    from kgot_core.settings import Override


@click.command()
@click.argument("question", required=False)
@click.option("--file", "files", metavar="PATH", multiple=True, help="Attach a file; may be repeated.")
@click.option("--backend", "backends", metavar="NAME", multiple=True, help="Graph store.")
@click.option("--solver", "solvers", metavar="NAME", multiple=True, help="How the graph gives the answer.")
@click.option("--strategy", metavar="NAME", help="Who runs the whole task.")
@click.option("--voter", metavar="NAME", help="How several samples become one choice.")
@click.option("--model", metavar="SPEC", help="Model of all roles, as provider:name.")
@click.option("--tool-model", metavar="SPEC", help="Model of the role tool, as provider:name.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="Offer these tools only; may be repeated.")
@click.option("--without-tool", "without", metavar="NAME", multiple=True, help="Leave a tool out; may be repeated.")
@click.option("--max-iterations", metavar="N", help="Enhance rounds at most.")
@click.option("--format", "answer_format", metavar="plain|gaia", help="Prose, or the bare value.")
@click.option("--schema", metavar="FILE", help="JSON schema of the answer's value.")
@click.option("--out", metavar="DIR", help="Folder that gets a folder for the run; runs_dir by default.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@settings_options
def run(
    question: str | None, files: tuple[str, ...], schema: str | None, as_json: bool, quiet: bool, **given: Any
) -> int:
    """Answer QUESTION with a knowledge graph of the task; without QUESTION it is read from standard input.

    The answer goes to standard output, progress to standard error. Exit code: 0 answered, 1 failed, 2 wrong usage,
    3 no solution, 75 interrupted: kgot resume goes on with it.
    """
    from kgot_core.contracts.task import Task
    from kgot_core.errors import UsageError
    from kgot_core.session.session import Session

    options: SettingsOptions = given.pop("options")
    registry, settings = open_settings(options, _overrides(**given))
    text = question if question is not None and question != "-" else _from_input()
    if not text.strip():
        raise UsageError("the question is empty", hint='kgot run "..." or give it on standard input')
    session = Session(registry, settings, runs=Path(settings.core.runs_dir), schema=_schema(schema))
    task = Task(text.strip(), tuple(Path(path) for path in files))
    return run_to_its_end(
        session, lambda sinks: session.solve(task, sinks=sinks), session.folder_of, as_json=as_json, quiet=quiet
    )


def _overrides(
    backends: tuple[str, ...],
    solvers: tuple[str, ...],
    strategy: str | None,
    voter: str | None,
    model: str | None,
    tool_model: str | None,
    tools: tuple[str, ...],
    without: tuple[str, ...],
    max_iterations: str | None,
    answer_format: str | None,
    out: str | None,
) -> list[Override]:
    """Gives the options as settings; each option that was given stands above ``--set``."""
    from kgot_core.settings import Override

    named: dict[str, tuple[str, Any]] = {
        "--backend": ("backend", backends),
        "--solver": ("solver", solvers),
        "--strategy": ("strategy", strategy),
        "--voter": ("voter", voter),
        "--model": ("models.graph.model", model),
        "--tool-model": ("models.tool.model", tool_model),
        "--tool": ("tools.enabled", tools),
        "--without-tool": ("tools.disabled", without),
        "--max-iterations": ("loop.max_iterations", _whole_number("--max-iterations", max_iterations)),
        "--format": ("format", answer_format),
        "--out": ("runs_dir", out),
    }
    return [Override(key, value, option) for option, (key, value) in named.items() if value not in (None, ())]


def _whole_number(option: str, text: str | None) -> int | None:
    from kgot_core.errors import UsageError

    try:
        return None if text is None else int(text)
    except ValueError:
        raise UsageError(f"{option} takes a whole number, not {text!r}") from None


def _schema(path: str | None) -> Any:
    from kgot_core.errors import UsageError

    if path is None:
        return None
    try:
        schema = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the schema {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"the schema {path} is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError(f"the schema {path} is not a JSON object")
    return schema


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
