"""Numbers of things without a name of their own: ids of elements, and IRIs in the place of blank nodes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from kgot_rdf.names import GENID
from kgot_rdf.terms import Term

_GENID = re.compile(r"\d+")
_NUMBERED = re.compile(r"([ne])([0-9]{1,15})")
_GENID_START = f"<{GENID}"


class Numbering:
    """Gives numbers, none of them twice."""

    def __init__(self) -> None:
        self._counters = {"n": 0, "e": 0, "genid": 0}

    def state(self) -> dict[str, int]:
        """Gives what :meth:`go_back` needs."""
        return dict(self._counters)

    def go_back(self, state: dict[str, int]) -> None:
        """Goes back to an earlier state; what was given since is given again."""
        self._counters = dict(state)

    def pass_over(self, ids: Iterable[str]) -> None:
        """Never gives these ids: in a run that goes on none is given again, also where its element was removed."""
        for given in ids:
            if found := _NUMBERED.fullmatch(given):
                self._counters[found[1]] = max(self._counters[found[1]], int(found[2]))

    def see(self, term: Term) -> None:
        """Takes note of an IRI that is used, so that :meth:`new_resource` never gives it."""
        if term.startswith(_GENID_START) and (found := _GENID.fullmatch(term[len(_GENID_START) : -1])):
            self._counters["genid"] = max(self._counters["genid"], int(found[0]))

    def new_resource(self) -> Term:
        """Gives an IRI for a thing without one."""
        self._counters["genid"] += 1
        return f"<{GENID}{self._counters['genid']}>"

    def new_id(self, kind: str, taken: Container[str]) -> str:
        """Gives an id that no element has: ``n`` for a node, ``e`` for an edge."""
        while True:
            self._counters[kind] += 1
            if (new := f"{kind}{self._counters[kind]}") not in taken:
                return new
