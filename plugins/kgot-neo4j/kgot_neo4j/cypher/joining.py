"""Makes the statements of one block ready to be run one after another: those that share variables become one."""

from __future__ import annotations

from dataclasses import dataclass

from kgot_neo4j.cypher.binding import bind, names_used
from kgot_neo4j.cypher.clauses import read_clauses, split_statements
from kgot_neo4j.cypher.tokens import Token, tokenize


@dataclass
class Statement:
    """One statement of a block.

    Attributes:
        text: Its text, to be run.
        number: Its place in the block, from 1; the first one's where several were joined.
        joined: It was joined from several.
    """

    text: str
    number: int
    joined: bool = False


def statements_of(text: str) -> list[Statement]:
    """Splits a block and joins what shares variables.

    A statement that uses a variable which only an earlier one of the block binds would make an empty node of it.

    Raises:
        NotClosed: A string, name or comment has no end.
    """
    split = split_statements(tokenize(text))
    pieces = [text[part[0].start : part[-1].end] for part in split]
    if len(pieces) < 2:
        return [Statement(piece, number) for number, piece in enumerate(pieces, 1)]
    group_of: list[int] = []
    owner: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        tokens = tokenize(piece)
        binding = bind(tokens)
        # What it names bare is its own only in the sense that it would be made empty.
        own = binding.bound - set(binding.empty)
        needed = names_used(tokens, owner.keys() - own)
        groups = sorted({group_of[owner[name]] for name in needed})
        group_of.append(groups[0] if groups else number)
        if len(groups) > 1:
            group_of = [groups[0] if group in groups else group for group in group_of]
        owner |= dict.fromkeys(own, number)
    return [_joined(pieces, [at for at, of in enumerate(group_of) if of == group]) for group in dict.fromkeys(group_of)]


def _joined(pieces: list[str], members: list[int]) -> Statement:
    if len(members) == 1:
        return Statement(pieces[members[0]], members[0] + 1)
    texts = [_without_return(pieces[member]) for member in members[:-1]] + [pieces[members[-1]]]
    return Statement("\n".join(text for text in texts if text), members[0] + 1, joined=True)


def _without_return(text: str) -> str:
    """Leaves a closing RETURN out, which may only stand at the end of all."""
    tokens: list[Token] = tokenize(text)
    for clause in read_clauses(tokens):
        if clause.word in ("RETURN", "FINISH"):
            return text[: tokens[clause.first].start].rstrip()
    return text
