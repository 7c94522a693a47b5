"""Options of a run's own settings, which a batch of runs has too, and what they stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from kgot_core.settings import Override

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", int, float)
_NAMES = (
    "keep_graph",
    "strategy",
    "abstain_below",
    "tool_model",
    "tools",
    "without",
    "allow_install",
    "max_iterations",
    "max_cost",
    "max_tokens",
    "deadline",
    "folders",
    "allowed",
)


def run_options(function: F) -> Callable[..., Any]:
    """Gives a command these options; what they set arrives as one argument, ``overrides``, and ``graph`` beside it.

    ``overrides`` is a function, so that showing help imports no settings. What it gives stands above ``--set``.
    """

    @click.option("--graph", metavar="FILE|RUN", help="Start from the graph in a file, or at the end of a run.")
    @click.option("--keep-graph", is_flag=True, help="Go on with the graph that the store holds, and leave it there.")
    @click.option("--folder", "folders", metavar="DIR", multiple=True, help="Let tools search and read a folder.")
    @click.option("--allow-path", "allowed", metavar="PATH", multiple=True, help="Let tools read a file or folder.")
    @click.option("--strategy", metavar="NAME", help="Who runs the whole task.")
    @click.option("--abstain-below", metavar="SHARE", help="Say that it is not known where samples agree less, 0 to 1.")
    @click.option("--tool-model", metavar="SPEC", help="Model of the role tool, as provider:name.")
    @click.option("--tool", "tools", metavar="NAME", multiple=True, help="Offer these tools only; may be repeated.")
    @click.option("--without-tool", "without", metavar="NAME", multiple=True, help="Leave a tool out; may be repeated.")
    @click.option("--allow-install", is_flag=True, help="Let scripts have any package of the index, as wheels.")
    @click.option("--max-iterations", metavar="N", help="Enhance rounds at most.")
    @click.option("--max-cost", metavar="DOLLARS", help="Solve from what is there once the requests have cost this.")
    @click.option("--max-tokens", metavar="N", help="Solve from what is there once this many tokens are used.")
    @click.option("--deadline", metavar="TIME", help="Solve from what is there after 90s, 15m, 1h.")
    @functools.wraps(function)
    def wrapped(*args: Any, graph: str | None, **given: Any) -> Any:
        own = {name: given.pop(name) for name in _NAMES}
        return function(*args, graph=graph, overrides=lambda: _overrides(**own), **given)

    return wrapped


def _overrides(
    keep_graph: bool,
    strategy: str | None,
    abstain_below: str | None,
    tool_model: str | None,
    tools: tuple[str, ...],
    without: tuple[str, ...],
    allow_install: bool,
    max_iterations: str | None,
    max_cost: str | None,
    max_tokens: str | None,
    deadline: str | None,
    folders: tuple[str, ...],
    allowed: tuple[str, ...],
) -> list[Override]:
    """Gives the command's own options as settings; each option that was given stands above ``--set``."""
    from kgot_core.settings import Override

    named: dict[str, tuple[str, Any]] = {
        "--keep-graph": ("graph.keep", keep_graph or None),
        "--strategy": ("strategy", strategy),
        "--abstain-below": ("votes.abstain_below", number("--abstain-below", abstain_below, float, "a number")),
        "--tool-model": ("models.tool.model", tool_model),
        "--tool": ("tools.enabled", tools),
        "--without-tool": ("tools.disabled", without),
        "--max-cost": ("caps.max_cost", number("--max-cost", max_cost, float, "a number")),
        "--max-tokens": ("caps.max_tokens", number("--max-tokens", max_tokens, int, "a whole number")),
        "--deadline": ("caps.deadline", duration("--deadline", deadline)),
        "--max-iterations": ("loop.max_iterations", number("--max-iterations", max_iterations, int, "a whole number")),
        "--allow-install": ("tools.run_python_code.allow_install", allow_install or None),
        "--folder": ("files.folders", folders),
        "--allow-path": ("files.allow", allowed),
    }
    return [Override(key, value, option) for option, (key, value) in named.items() if value not in (None, ())]


def number(option: str, text: str | None, kind: Callable[[str], T], what: str) -> T | None:
    """Reads the number of an option.

    Raises:
        UsageError: It is none.
    """
    from kgot_core.errors import UsageError

    try:
        return None if text is None else kind(text)
    except ValueError:
        raise UsageError(f"{option} takes {what}, not {text!r}") from None


def duration(option: str, text: str | None) -> float | None:
    """Reads seconds, or a number with s, m or h."""
    factor = {"s": 1, "m": 60, "h": 3600}.get((text or "")[-1:], 0)
    found = number(option, text[:-1] if text and factor else text, float, "a time such as 90s, 15m or 1h")
    return None if found is None else found * (factor or 1)
