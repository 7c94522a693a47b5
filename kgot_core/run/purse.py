"""What the runs of a batch may spend together, over all processes that take part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from types import MappingProxyType

from kgot_core.contracts.options import Caps
from kgot_core.contracts.task import Usage
from kgot_core.run.spending import exceeded


class Purse:
    """Sums what runs have used, and tells whether they may go on. One run of its own has no limit here.

    Each process may spend an equal share of what was left when it last heard of the others, so that together they keep
    the caps whoever is quicker.

    Args:
        caps: The limits of all runs together; a deadline is none of them.
        before: What runs had used before, by any key.

    Attributes:
        ranks: How many processes share it.
    """

    def __init__(self, caps: Caps | None = None, before: Mapping[Hashable, Usage] | None = None) -> None:
        self.caps = caps or Caps()
        self.begin(before or {}, 1)
        self._running: list[tuple[Hashable, Callable[[], Usage]]] = []
        self._others = Usage()
        self._on_their_way = 0
        self._closed = ""

    def begin(
        self, before: Mapping[Hashable, Usage], ranks: int, ended: Mapping[Hashable, Usage] = MappingProxyType({})
    ) -> None:
        """Takes in what is known once the batch begins.

        Args:
            before: What runs had used before the batch began or went on.
            ranks: How many processes there are.
            ended: What runs have used that a process has ended since then which was lost, and whose place this one has.
        """
        self._before, self.ranks = dict(before), ranks
        self._ended = sum((_beyond(usage, self._before.get(key)) for key, usage in ended.items()), Usage())
        self._own_then = self._ended
        self._used_before = sum(before.values(), Usage())

    @property
    def added(self) -> Usage:
        """What the runs of this process have used beyond what they had before."""
        running = (_beyond(usage(), self._before.get(key)) for key, usage in list(self._running))
        return sum(running, self._ended)

    def hear(self, others: Usage) -> None:
        """Takes in what the other processes have added."""
        self._others, self._own_then = others, self.added

    @contextlib.contextmanager
    def run(self, key: Hashable, usage: Callable[[], Usage]) -> Iterator[None]:
        """Counts a run while the context is open, and what it has used from then on.

        Args:
            key: Its key in ``before``; runs that are not there may have the same one.
            usage: Gives what it has used so far.
        """
        running = (key, usage)
        self._running.append(running)
        try:
            yield
        finally:
            self._running.remove(running)
            self._ended += _beyond(usage(), self._before.get(key))

    @contextlib.contextmanager
    def request(self, prompt_tokens: int) -> Iterator[None]:
        """Counts a request that is on its way."""
        self._on_their_way += prompt_tokens
        try:
            yield
        finally:
            self._on_their_way -= prompt_tokens

    @property
    def closed(self) -> str:
        """The cap at which a request was refused; empty where none was. No further run should begin then."""
        return self._closed or self.reached()

    def refuse(self, prompt_tokens: int, share: float) -> str:
        """The same as :meth:`reached`, for a request that is not made then."""
        cause = self.reached(prompt_tokens, share)
        self._closed = self._closed or cause
        return cause

    def reached(self, prompt_tokens: int = 0, share: float | None = None) -> str:
        """Tells which cap a request would exceed; empty where it may be made.

        Args:
            prompt_tokens: Estimated tokens of the request's prompt.
            share: Share of the caps that may be used; all but the reserve by default.
        """
        if not self.caps:
            return ""
        total = self._used_before + self._others + self._own_then
        # Whatever this process spends since, each of the others may spend too.
        since = _beyond(self.added, self._own_then)
        total = sum((since for _ in range(self.ranks)), total)
        coming = (self._on_their_way + prompt_tokens) * self.ranks
        return exceeded(self.caps, total, coming, 1.0 - self.caps.reserve if share is None else share, "batch.")


def _beyond(usage: Usage, before: Usage | None) -> Usage:
    """Gives what was used since; a run that is still being read back has used no less than before."""
    if before is None:
        return usage
    return Usage(
        max(0, usage.requests - before.requests),
        max(0, usage.input_tokens - before.input_tokens),
        max(0, usage.output_tokens - before.output_tokens),
        max(0, usage.cached_tokens - before.cached_tokens),
        max(0.0, usage.cost - before.cost),
        max(0, usage.unpriced - before.unpriced),
    )
