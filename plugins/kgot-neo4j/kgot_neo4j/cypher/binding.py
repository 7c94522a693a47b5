"""Which variables a statement binds, and where it uses one that it does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgot_neo4j.cypher.clauses import Clause, read_clauses
from kgot_neo4j.cypher.patterns import Part, Unreadable, read_paths
from kgot_neo4j.cypher.tokens import Token

_ENDS = frozenset({"WHERE", "ORDER", "SKIP", "LIMIT", "OFFSET"})


@dataclass
class Binding:
    """What a statement does with variables.

    Attributes:
        scope: Variables that are bound at its end.
        bound: Variables that are bound anywhere in it.
        empty: Variables by which a CREATE or MERGE would make an empty node; ``()`` for one without a variable.
        before: Variables bound before each top-level clause, by the index of the clause's first token.
    """

    scope: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    empty: dict[str, None] = field(default_factory=dict)
    before: dict[int, frozenset[str]] = field(default_factory=dict)


def bind(tokens: Sequence[Token], clauses: Sequence[Clause] | None = None) -> Binding:
    """Follows the variables of a statement."""
    binding = Binding()
    _Walk(tokens, binding).clauses(read_clauses(tokens) if clauses is None else clauses, binding.scope)
    return binding


def names_used(tokens: Sequence[Token], known: Iterable[str]) -> set[str]:
    """Gives the known variables that a statement mentions where a variable can stand."""
    wanted = set(known)
    used: set[str] = set()
    for place, token in enumerate(tokens):
        if token.kind not in ("word", "name") or token.value not in wanted:
            continue
        before = tokens[place - 1] if place else None
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if before is not None and before.text in (".", ":", "|", "&", "!"):
            continue
        if after == ":" and (before is None or before.text == "{" or (before.text == "," and _in_map(tokens, place))):
            continue
        used.add(token.value)
    return used


def _in_map(tokens: Sequence[Token], place: int) -> bool:
    depth = 0
    for token in reversed(tokens[:place]):
        if token.text in (")", "]", "}"):
            depth += 1
        elif token.text in ("(", "[", "{"):
            if not depth:
                return token.text == "{"
            depth -= 1
    return False


class _Walk:
    def __init__(self, tokens: Sequence[Token], binding: Binding) -> None:
        self._tokens = tokens
        self._binding = binding

    def clauses(self, clauses: Sequence[Clause], scope: set[str], top: bool = True) -> None:
        for clause in clauses:
            if top:
                self._binding.before[clause.first] = frozenset(scope)
            if clause.word == "FOREACH":
                self._foreach(clause, scope)
                continue
            for block in clause.blocks:
                inner = set(scope)
                self.clauses(block, inner, top=False)
                if clause.word == "CALL":
                    self._bind(scope, inner)
            self._clause(clause, scope)

    def _clause(self, clause: Clause, scope: set[str]) -> None:
        if clause.word in ("MATCH", "OPTIONAL MATCH"):
            self._bind(scope, self._named(clause))
        elif clause.word in ("CREATE", "MERGE"):
            self._pattern(clause, scope)
        elif clause.word == "WITH":
            kept = self._items(clause)
            if "*" not in kept:
                scope.clear()
            self._bind(scope, kept - {"*"})
        elif clause.word in ("UNWIND", "CALL", "LOAD"):
            self._bind(scope, self._aliases(clause))
        elif clause.word == "UNION":
            scope.clear()

    def _bind(self, scope: set[str], names: Iterable[str]) -> None:
        scope.update(names)
        self._binding.bound.update(names)

    def _foreach(self, clause: Clause, scope: set[str]) -> None:
        inner = set(scope)
        if clause.body + 1 < clause.last:
            inner.add(self._tokens[clause.body + 1].value)
        for block in clause.blocks:
            self.clauses(block, inner, top=False)

    def _named(self, clause: Clause) -> set[str]:
        """Every name after an opening bracket or before ``=``: enough for a MATCH, which makes nothing."""
        found: set[str] = set()
        for place in range(clause.body, clause.last):
            token = self._tokens[place]
            if token.kind not in ("word", "name"):
                continue
            before = self._tokens[place - 1].text
            after = self._tokens[place + 1].text if place + 1 < clause.last else ""
            if before in ("(", "[") or (after == "=" and place + 2 < clause.last):
                found.add(token.value)
        return found

    def _pattern(self, clause: Clause, scope: set[str]) -> None:
        try:
            paths = read_paths(self._tokens, clause)
        except Unreadable:
            self._bind(scope, self._named(clause))
            return
        made: set[str] = set()
        for path in paths:
            made |= {path.variable} - {""}
            # A node may be described after it was named: CREATE (a)-[:T]->(b), (b:Place {...}) binds nothing new.
            for part in path.parts:
                if part.variable and not part.bare:
                    made.add(part.variable)
        for path in paths:
            for node in path.nodes:
                if node.bare and not self._known(node, clause, scope | made, single=len(path.parts) == 1):
                    self._binding.empty[node.variable or "()"] = None
        for path in paths:
            made |= {part.variable for part in path.parts} - {""}
        self._bind(scope, made)

    def _known(self, node: Part, clause: Clause, scope: set[str], *, single: bool) -> bool:
        if node.variable in scope:
            return True
        # CREATE (n) SET n.name = ... describes the node in the next clause.
        return bool(node.variable) and clause.word == "CREATE" and self._set_later(node.variable, clause.last)

    def _set_later(self, variable: str, place: int) -> bool:
        for index in range(place, len(self._tokens) - 2):
            word = self._tokens[index].upper
            if (word == "SET" or self._tokens[index].text == ",") and self._tokens[index + 1].value == variable:
                return self._tokens[index + 2].text in (".", ":", "=", "+=")
            if word in ("MATCH", "WITH", "RETURN"):
                return False
        return False

    def _items(self, clause: Clause) -> set[str]:
        items: set[str] = set()
        depth = 0
        first = clause.body
        if first < clause.last and self._tokens[first].upper == "DISTINCT":
            first += 1
        last = self._tokens[first : clause.last]
        parts: list[list[Token]] = [[]]
        for token in last:
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            if not depth and token.upper in _ENDS:
                break
            if not depth and token.text == ",":
                parts.append([])
            else:
                parts[-1].append(token)
        for part in parts:
            if len(part) == 1:
                items.add(part[0].value)
            elif len(part) > 2 and part[-2].upper == "AS":
                items.add(part[-1].value)
        return items

    def _aliases(self, clause: Clause) -> set[str]:
        """Names after AS and YIELD."""
        found: set[str] = set()
        yielding = False
        for place in range(clause.body, clause.last):
            token = self._tokens[place]
            if token.upper == "YIELD":
                yielding = True
            elif token.kind in ("word", "name") and (self._tokens[place - 1].upper == "AS" or yielding):
                if token.upper in _ENDS:
                    break
                found.add(token.value)
        return found
