"""Tells the model what went wrong in its script, in its terms."""

from __future__ import annotations

import re

from kgot_core.contracts.sandbox import CodeResult, PythonKind
from kgot_core.errors import QueryError

_MOST = 1_200
_SUBSET_NX = (
    "here nx has only shortest_path, shortest_path_length, has_path, all_simple_paths, ancestors, descendants,"
    " connected_components, weakly_connected_components and degree_centrality"
)
_PLACE = re.compile(r"line \d+(, in [^:]+)?: ")


def failed(result: CodeResult, python: PythonKind) -> QueryError | None:
    """Gives the error of a script that did not end well, ``None`` where it did."""
    if result.limit:
        return QueryError(f"{_last_line(result.error) or _limit(result)}; nothing was changed", result.line)
    if not result.error and not result.exit_code:
        return None
    text = result.error or f"SystemExit: the script ended itself with code {result.exit_code}"
    lines = text.strip().splitlines()
    places = [line for line in lines[:-1] if _PLACE.match(line)]
    kind = "\n".join(lines[len(places) :])
    if not result.line:
        # Our own refusals come from behind the script and need no kind.
        kind = kind.removeprefix("ValueError: ")
    if len(places) == 1:
        places = [_PLACE.sub("", places[0])]
    if len(kind) > _MOST:
        kind = f"{kind[: _MOST // 2]} […] {kind[-_MOST // 2 :]}"
    where = f" (in: {'; '.join(places)})" if places else ""
    hint = _hint(kind, python)
    return QueryError(f"{kind}{where}{'; ' if hint else ''}{hint}", result.line)


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:_MOST] if lines else ""


def _limit(result: CodeResult) -> str:
    return f"the script passed its limit of {result.limit}"


def _hint(text: str, python: PythonKind) -> str:
    last = _last_line(text)
    if re.match(r"KeyError: -?\d+$", last):
        return 'node names are text, as shown in the state: "5", not 5'
    if python == "subset" and ("KgNetworkx" in last or "networkx" in last):
        return _SUBSET_NX
    if "numpy" in last and last.startswith("ModuleNotFoundError"):
        return "numpy is not installed; use another measure, such as nx.degree_centrality(G)"
    if "NetworkXNotImplemented" in last and "multigraph" in last:
        return "give it nx.Graph(G) or nx.DiGraph(G) instead of G"
    return ""
