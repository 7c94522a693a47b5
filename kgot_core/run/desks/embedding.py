"""Embeds texts for a stage: journalled, counted; without a model by their characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

from kgot_core.errors import ModelError
from kgot_core.events import PARTS, ModelRetried, TextsEmbedded
from kgot_core.models.likeness import likeness_vector
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
    """

    def __init__(self, journal: Journal, client: Embedder | None, name: str) -> None:
        self._journal = journal
        self._client = client
        self._name = name

    async def embed(self, step: str, stage: str, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Gives a vector for each text.

        Raises:
            ModelError: The request failed for good.
        """
        if not self._name:
            return tuple(map(likeness_vector, texts))
        asked = {"model": self._name, "texts": list(texts)}
        event = await self._journal.call(TextsEmbedded, step, asked, lambda: self._make(step, stage, texts))
        if event.error:
            raise ModelError(event.error)
        return event.vectors

    async def _make(self, step: str, stage: str, texts: Sequence[str]) -> TextsEmbedded:
        assert self._client is not None, "a replay makes no calls"
        head = TextsEmbedded(stage=stage, part=PARTS.get(stage, ""), texts=tuple(texts))

        def on_retry(attempt: int, wait: float, cause: str) -> None:
            event = ModelRetried(stage=stage, attempt=attempt, wait=round(wait, 3), cause=cause)
            self._journal.emit(f"{step}/attempt-{attempt}", event)

        try:
            done = await self._client.embed(texts, on_retry)
        except ModelError as error:
            return replace(head, error=str(error))
        return replace(head, model=done.model, vectors=done.vectors, usage=asdict(done.usage))
