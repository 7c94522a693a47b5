"""Embeds texts for a stage: journalled, counted; without a model by their characters."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from kgot_core.errors import CapReached, ModelError
from kgot_core.events import PARTS, ModelRetried, TextsEmbedded, request_hash
from kgot_core.models.likeness import likeness_vector
from kgot_core.models.tokens import estimate_tokens
from kgot_core.run.caps import Budget
from kgot_core.run.desks.model import CAPPED
from kgot_core.run.record.journal import Journal

if TYPE_CHECKING:
    from kgot_core.models.embedding import Embedded


class Embedder(Protocol):
    """What the run needs of an embedding model; see :class:`kgot_core.models.embedding.EmbeddingClient`."""

    async def embed(self, texts: Sequence[str], on_retry: Any = None) -> Embedded:
        """Embeds texts."""


class EmbeddingDesk:
    """The run's embedding model.

    Args:
        journal: The run's journal.
        client: The model; ``None`` in a replay, and where there is none.
        name: Its name, part of what is asked; empty where there is none.
        budget: What tools may spend on it.
    """

    def __init__(self, journal: Journal, client: Embedder | None, name: str, budget: Budget) -> None:
        self._journal = journal
        self._client = client
        self._budget = budget
        self._known: dict[str, array[float]] | None = None
        self.name = name

    async def embed(self, step: str, stage: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Gives a vector for each text.

        Raises:
            ModelError: The request failed for good.
        """
        if not self.name:
            return tuple(map(likeness_vector, texts))
        head = TextsEmbedded(stage=stage, part=PARTS.get(stage, ""), texts=tuple(texts))
        return (await self._asked(step, head, nullcontext())).vectors

    async def embed_for_tool(self, step: str, tool: str, texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Gives a vector for each text, each asked for once in a run; ``None`` without a model.

        Args:
            step: Place of the request; what is asked becomes part of it, since a run that goes on may ask for less.
            tool: The tool that asks.
            texts: The texts.

        Raises:
            CapReached: The run may not make the request.
            ModelError: The request failed for good.
        """
        if not self.name:
            return None
        if self._known is None:
            self._known = self._recorded()
        known, asked = self._known, [self._journal.plain(text) for text in texts]
        if missing := tuple(text for text in dict.fromkeys(asked) if text not in known):
            head = TextsEmbedded(stage="tool", part=PARTS["tool"], parent=tool, texts=missing)
            bound = self._budget.request(sum(map(estimate_tokens, missing)))
            event = await self._asked(f"{step}-{request_hash(list(missing))}", head, bound)
            known |= {text: array("f", vector) for text, vector in zip(missing, event.vectors, strict=True)}
        return tuple(known[text] for text in asked)

    def _recorded(self) -> dict[str, array[float]]:
        """Gives what this model gave for tools before the run was broken off."""
        found: dict[str, array[float]] = {}
        for _, event in self._journal.recorded.events(TextsEmbedded):
            if event.parent and event.request == request_hash({"model": self.name, "texts": list(event.texts)}):
                found |= {text: array("f", vector) for text, vector in zip(event.texts, event.vectors, strict=False)}
        return found

    async def _asked(self, step: str, head: TextsEmbedded, bound: AbstractAsyncContextManager[None]) -> TextsEmbedded:
        asked = {"model": self.name, "texts": list(head.texts)}
        event = await self._journal.call(TextsEmbedded, step, asked, lambda: self._make(step, head, bound))
        if event.error.startswith(f"{CAPPED}: "):
            raise CapReached(event.error.removeprefix(f"{CAPPED}: "))
        if event.error:
            raise ModelError(event.error)
        return event

    async def _make(self, step: str, head: TextsEmbedded, bound: AbstractAsyncContextManager[None]) -> TextsEmbedded:
        assert self._client is not None, "a replay makes no calls"

        def on_retry(attempt: int, wait: float, cause: str) -> None:
            event = ModelRetried(stage=head.stage, attempt=attempt, wait=round(wait, 3), cause=cause)
            self._journal.emit(f"{step}/attempt-{attempt}", event)

        try:
            async with bound:
                done = await self._client.embed(head.texts, on_retry)
        except CapReached as error:
            return replace(head, error=f"{CAPPED}: {error}")
        except ModelError as error:
            return replace(head, error=str(error))
        return replace(head, model=done.model, vectors=done.vectors, usage=asdict(done.usage))
