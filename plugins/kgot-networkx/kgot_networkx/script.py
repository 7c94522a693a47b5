"""Makes a model's script ready: found faults are told at once, usual slips are mended without moving a line."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass

from kgot_core.errors import QueryError
from kgot_networkx.parsing import parse
from kgot_networkx.plain import PlainStep, plain_steps

LAST = "kg_last"
# Ways to change a dictionary or a list that pass its own methods by.
_UNUSUAL = re.compile(r"\bheapq\b|\b(?:dict|list)\.[a-z_]")
_LONGEST = 1_000
_GRAPHS = frozenset(f"{kind}Graph" for kind in ("", "Di", "Multi", "MultiDi"))


@dataclass(frozen=True)
class Script:
    """A script ready to run.

    Attributes:
        code: The script; each statement stands on the line on which the model wrote it.
        unusual: It may change a dictionary in ways that leave no mark there.
        elsewhere: A graph of its own that it begins at the top level, empty where there is none.
        steps: All that it does, where that can be told by reading it; none where it has to be run.
    """

    code: str
    unusual: bool = False
    elsewhere: str = ""
    steps: tuple[PlainStep, ...] = ()


@dataclass(frozen=True)
class _Edit:
    """Puts other text in the place of a statement; positions count bytes, as in ``ast``."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def prepare(text: str, *, limit: int, query: bool, subset: bool) -> Script:
    """Reads a script and mends it.

    ``G = nx.DiGraph()`` and its kind at the top level is left out: models begin so, and it would drop the graph.

    Args:
        text: The block of the model.
        limit: Longest script, in characters.
        query: The value of the last expression is kept, for a script that sets no ``result``.
        subset: The sandbox has neither ``import networkx`` nor ``del``.

    Raises:
        QueryError: The script is too long or no Python; with the position.
    """
    if len(text) > limit:
        raise QueryError(f"the script has {len(text):,} characters, more than the {limit:,} that are run")
    refuse_deep(text)
    try:
        tree = parse(text)
    except SyntaxError as error:
        raise QueryError(f"SyntaxError: {error.msg}", error.lineno or 0, error.offset or 0) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise QueryError(f"the script is no Python that can be read: {error or 'nested too deeply'}") from None
    begun = {statement: name for statement in tree.body if (name := _new_graph(statement))}
    edits = [_edit(statement, "pass") for statement, name in begun.items() if name == "G"]
    if subset:
        edits += [edit for node in ast.walk(tree) for edit in _for_subset(node)]
    code = _apply(text, edits + (_keep_last(tree) if query else []))
    if query and (name := _assigned(tree)):
        code += f"\n{LAST} = {name}"
    own = next((name for name in begun.values() if name != "G"), "")
    steps = () if query else plain_steps([statement for statement in tree.body if begun.get(statement) != "G"])
    return Script(code, unusual=bool(_UNUSUAL.search(text)), elsewhere=own, steps=steps)


def refuse_deep(text: str) -> None:
    """Refuses an expression so long that Python's own parser might overflow its stack; it runs on the host.

    Raises:
        QueryError: There is one; with its line.
    """
    if len(text) < 2 * _LONGEST:
        return
    open_runs = [0]
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                open_runs = [0]
            elif token.string in ("(", "[", "{"):
                open_runs.append(0)
            elif token.string in (")", "]", "}") and len(open_runs) > 1:
                open_runs.pop()
            elif token.string == ",":
                open_runs[-1] = 0
            open_runs[-1] += 1
            if sum(open_runs) > _LONGEST:
                raise QueryError("one expression of the script is too long", token.start[0])
    except (tokenize.TokenError, SyntaxError):
        # The parser gives the better message.
        return


def _edit(node: ast.stmt | ast.expr, text: str) -> _Edit:
    return _Edit(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, text)


def _new_graph(statement: ast.stmt) -> str:
    """Gives the name to which a new empty graph is assigned, if that is what a statement does."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[], keywords=[])):
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            return name if called in _GRAPHS else ""
    return ""


def _for_subset(node: ast.AST) -> list[_Edit]:
    match node:
        case ast.Import(names=names) if any(name.name == "networkx" for name in names):
            kept = [ast.unparse(name) for name in names if name.name != "networkx"]
            return [_edit(node, f"import {', '.join(kept)}" if kept else "pass")]
        case ast.Delete(targets=targets):
            removals = [_removal(target) for target in targets]
            return [_edit(node, "; ".join(removals))] if all(removals) else []
    return []


def _removal(target: ast.expr) -> str:
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
        return ""
    return f"{ast.unparse(target.value)}.pop({ast.unparse(target.slice)})"


def _keep_last(tree: ast.Module) -> list[_Edit]:
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return []
    begin = _Edit(last.lineno, last.col_offset, last.lineno, last.col_offset, f"{LAST} = (")
    end_line, end_column = last.end_lineno or 0, last.end_col_offset or 0
    return [begin, _Edit(end_line, end_column, end_line, end_column, ")")]


def _assigned(tree: ast.Module) -> str:
    match tree.body[-1:]:
        case [ast.Assign(targets=[ast.Name(id=name)])] if name not in ("result", "G"):
            return name
    return ""


def _apply(text: str, edits: list[_Edit]) -> str:
    if not edits:
        return text
    lines = [line.encode() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        first, last = edit.line - 1, edit.end_line - 1
        lost = last - first
        before, after = lines[first][: edit.column], lines[last][edit.end_column :]
        # The lines that a statement took up stay, so that those below keep their numbers.
        lines[first : last + 1] = [before + edit.text.encode() + b" \\" * bool(lost), *[b" \\"] * (lost - 1)]
        if lost:
            lines.insert(last, after or b" ")
        else:
            lines[first] += after
    return b"\n".join(lines).decode()
