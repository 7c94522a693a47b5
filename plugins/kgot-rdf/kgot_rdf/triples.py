"""Sets of triples with the look-ups that the mapping needs, and changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kgot_rdf.terms import Term, Triple, is_literal

_NOTHING: Mapping[tuple[Term, Term], None] = {}


@dataclass(frozen=True)
class Delta:
    """Triples that go and triples that come; removing is done first."""

    added: tuple[Triple, ...] = ()
    removed: tuple[Triple, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    def back(self) -> Delta:
        """Gives the delta that undoes this one."""
        return Delta(self.removed, self.added)


class Triples:
    """A set of triples, in the order in which they came."""

    def __init__(self) -> None:
        self._all: dict[Triple, None] = {}
        self._out: dict[Term, dict[tuple[Term, Term], None]] = {}
        self._in: dict[Term, dict[tuple[Term, Term], None]] = {}

    def __contains__(self, triple: Triple) -> bool:
        return triple in self._all

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def of(self, subject: Term) -> Mapping[tuple[Term, Term], None]:
        """Gives predicates and objects of a subject."""
        return self._out.get(subject, _NOTHING)

    def to(self, term: Term) -> Mapping[tuple[Term, Term], None]:
        """Gives subjects and predicates that lead to an IRI."""
        return self._in.get(term, _NOTHING)

    def subjects(self) -> Iterable[Term]:
        """Gives all subjects."""
        return self._out

    def net(self, delta: Delta) -> Delta:
        """Leaves out of a delta what changes nothing."""
        added = dict.fromkeys(delta.added)
        removed = (triple for triple in dict.fromkeys(delta.removed) if triple in self._all and triple not in added)
        return Delta(tuple(triple for triple in added if triple not in self._all), tuple(removed))

    def fold(self, delta: Delta) -> None:
        """Takes a delta in."""
        for triple in delta.removed:
            self._remove(triple)
        for triple in delta.added:
            self._add(triple)

    def _add(self, triple: Triple) -> None:
        if triple in self._all:
            return
        subject, predicate, obj = triple
        self._all[triple] = None
        self._out.setdefault(subject, {})[predicate, obj] = None
        if not is_literal(obj):
            self._in.setdefault(obj, {})[subject, predicate] = None

    def _remove(self, triple: Triple) -> None:
        if triple not in self._all:
            return
        subject, predicate, obj = triple
        del self._all[triple]
        _drop(self._out, subject, (predicate, obj))
        if not is_literal(obj):
            _drop(self._in, obj, (subject, predicate))


def then(first: Delta, second: Delta) -> Delta:
    """Puts two deltas together that follow each other."""
    added, removed = dict.fromkeys(first.added), dict.fromkeys(first.removed)
    for triple in second.removed:
        added.pop(triple, None)
        removed[triple] = None
    for triple in second.added:
        removed.pop(triple, None)
        added[triple] = None
    return Delta(tuple(added), tuple(removed))


def _drop(index: dict[Term, dict[tuple[Term, Term], None]], key: Term, entry: tuple[Term, Term]) -> None:
    inner = index[key]
    del inner[entry]
    if not inner:
        del index[key]
