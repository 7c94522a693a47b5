"""Asks one embedding model: retries, usage and cost."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgot_core.contracts.model import ModelSpec
from kgot_core.contracts.task import Usage
from kgot_core.errors import ContextOverflow, ModelError
from kgot_core.models.convert import Counted
from kgot_core.models.faults import Facts, read_error
from kgot_core.models.introspection import address_of, close_model, name_of, secrets_of
from kgot_core.models.judgement import Fault, Place, judge
from kgot_core.models.pace import Pace
from kgot_core.models.pricing import Pricer
from kgot_core.models.redact import Redactor
from kgot_core.models.retry import Failed, OnRetry, RetryPolicy, persist
from kgot_core.models.settings import read_settings
from kgot_core.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

# As many digits as the models themselves are sure of; more would only make the records long.
DIGITS = 7


@dataclass(frozen=True)
class Embedded:
    """What an embedding model gave.

    Attributes:
        vectors: One for each text, all of one length.
        usage: One request; its tokens are estimated, since LangChain passes none on.
        model: The model, as its provider names it.
    """

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage
    model: str


class EmbeddingClient:
    """One embedding model, shared by all runs of a session.

    Args:
        model: A LangChain embedding model, opened by a provider or passed in by the user's code.
        spec: How it was named, with its settings; ``None`` for an object passed in.
        policy: Attempts of one request, and the pauses between them.
        owned: The model was opened for this client, which closes it.
        share: Gives the share of the settings' requests and tokens a minute that is this process's.
    """

    def __init__(
        self,
        model: Embeddings,
        spec: ModelSpec | None = None,
        *,
        policy: RetryPolicy | None = None,
        owned: bool = False,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        settings = read_settings(spec, strict=False)
        self._pace = Pace(settings.requests_per_minute, settings.tokens_per_minute, share)
        self._model = model
        self._owned = owned
        self._policy = policy or RetryPolicy()
        self._name = f"{spec.provider}:{spec.name}" if spec else name_of(model)
        address = address_of(model)
        self._place = Place(self._name, spec.provider if spec else "", address, settings.timeout)
        ours = any(base.__name__ == "OpenAIEmbeddings" for base in type(model).__mro__)
        self._pricer = Pricer(settings, address=address if ours else "")
        self._redactor = Redactor(secrets_of(model) | {settings.api_key})

    def __repr__(self) -> str:
        return f"EmbeddingClient({self._name})"

    @property
    def priced(self) -> bool:
        """What a request costs is known, by settings or by the price list."""
        return not self._pricer.usage(Counted(1, 0), name_of(self._model)).unpriced

    async def embed(self, texts: Sequence[str], on_retry: OnRetry | None = None) -> Embedded:
        """Embeds texts.

        Args:
            texts: The texts, none of them empty.
            on_retry: Called before each pause between attempts.

        Raises:
            ContextOverflow: A text is too long for the model.
            ModelError: The request failed for good.
        """

        tokens = sum(map(estimate_tokens, texts))

        async def attempt() -> tuple[tuple[float, ...], ...]:
            await self._pace.enter(tokens)
            return await self._attempt(list(texts))

        try:
            vectors = await persist(attempt, self._policy, self._quiet(on_retry))
        except Failed as failed:
            kind = ContextOverflow if failed.fault.outcome == "overflow" else ModelError
            raise kind(self._redactor.line(failed.fault.cause), hint=failed.fault.hint) from None
        counted = Counted(tokens, 0)
        return Embedded(vectors, self._pricer.usage(counted, name_of(self._model)), name_of(self._model))

    async def aclose(self) -> None:
        """Closes what was opened for this client. Idempotent."""
        if self._owned:
            self._owned = False
            await close_model(self._model)

    async def _attempt(self, texts: list[str]) -> tuple[tuple[float, ...], ...]:
        answer = await self._send(texts)
        if isinstance(answer, Facts):
            raise Failed(judge(answer, self._place, self._policy.now()))
        vectors = _vectors(answer)
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors} - {0}) != 1 or not all(vectors):
            raise Failed(Fault("retry", f"{self._place.server} sent no vector of numbers for each text"))
        return vectors

    async def _send(self, texts: list[str]) -> Any:
        # The failure is handed back as facts: raised here, the client's exception would stay chained, with its key.
        try:
            async with asyncio.timeout(self._place.timeout or None):
                return await self._model.aembed_documents(texts)
        except Exception as error:
            return read_error(error)

    def _quiet(self, on_retry: OnRetry | None) -> OnRetry | None:
        if on_retry is None:
            return None
        return lambda attempt, seconds, cause: on_retry(attempt, seconds, self._redactor.line(cause))


def _vectors(answer: Any) -> tuple[tuple[float, ...], ...]:
    """Reads vectors as plain numbers; none where one of them is no finite number."""
    try:
        vectors = tuple(tuple(round(float(number), DIGITS) for number in vector) for vector in answer)
    except (TypeError, ValueError):
        return ()
    return vectors if all(math.isfinite(number) for vector in vectors for number in vector) else ()
