"""``kgot run``: one question from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgot_core.cli.options import SettingsOptions, open_settings, settings_options
from kgot_core.cli.running import run_to_its_end

if TYPE_CHECKING:
    from kgot_core.settings import Override

T = TypeVar("T", int, float)


@click.command()
@click.argument("question", required=False)
@click.option("--file", "files", metavar="PATH", multiple=True, help="Attach a file; may be repeated.")
@click.option("--backend", "backends", metavar="NAME", multiple=True, help="Graph store.")
@click.option("--solver", "solvers", metavar="NAME", multiple=True, help="How the graph gives the answer.")
@click.option("--strategy", metavar="NAME", help="Who runs the whole task.")
@click.option("--voter", metavar="NAME", help="How several samples become one choice.")
@click.option("--abstain-below", metavar="SHARE", help="Say that it is not known where samples agree less, 0 to 1.")
@click.option("--model", metavar="SPEC", help="Model of all roles, as provider:name.")
@click.option("--tool-model", metavar="SPEC", help="Model of the role tool, as provider:name.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="Offer these tools only; may be repeated.")
@click.option("--without-tool", "without", metavar="NAME", multiple=True, help="Leave a tool out; may be repeated.")
@click.option("--allow-install", is_flag=True, help="Let scripts have any package of the index, as wheels.")
@click.option("--max-iterations", metavar="N", help="Enhance rounds at most.")
@click.option("--max-cost", metavar="DOLLARS", help="Solve from what is there once the requests have cost this.")
@click.option("--max-tokens", metavar="N", help="Solve from what is there once this many tokens are used.")
@click.option("--deadline", metavar="TIME", help="Solve from what is there after 90s, 15m, 1h.")
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
    3 no solution or not sure enough, 75 interrupted: kgot resume goes on with it.
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
    abstain_below: str | None,
    model: str | None,
    tool_model: str | None,
    tools: tuple[str, ...],
    without: tuple[str, ...],
    allow_install: bool,
    max_iterations: str | None,
    max_cost: str | None,
    max_tokens: str | None,
    deadline: str | None,
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
        "--abstain-below": ("votes.abstain_below", _number("--abstain-below", abstain_below, float, "a number")),
        "--model": ("models.graph.model", model),
        "--tool-model": ("models.tool.model", tool_model),
        "--tool": ("tools.enabled", tools),
        "--without-tool": ("tools.disabled", without),
        "--max-cost": ("caps.max_cost", _number("--max-cost", max_cost, float, "a number")),
        "--max-tokens": ("caps.max_tokens", _number("--max-tokens", max_tokens, int, "a whole number")),
        "--deadline": ("caps.deadline", _duration("--deadline", deadline)),
        "--max-iterations": ("loop.max_iterations", _number("--max-iterations", max_iterations, int, "a whole number")),
        "--allow-install": ("tools.run_python_code.allow_install", allow_install or None),
        "--format": ("format", answer_format),
        "--out": ("runs_dir", out),
    }
    return [Override(key, value, option) for option, (key, value) in named.items() if value not in (None, ())]


def _number(option: str, text: str | None, kind: Callable[[str], T], what: str) -> T | None:
    from kgot_core.errors import UsageError

    try:
        return None if text is None else kind(text)
    except ValueError:
        raise UsageError(f"{option} takes {what}, not {text!r}") from None


def _duration(option: str, text: str | None) -> float | None:
    """Reads seconds, or a number with s, m or h."""
    factor = {"s": 1, "m": 60, "h": 3600}.get((text or "")[-1:], 0)
    number = _number(option, text[:-1] if text and factor else text, float, "a time such as 90s, 15m or 1h")
    return None if number is None else number * (factor or 1)


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
