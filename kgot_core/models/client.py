"""Asks one chat model: several samples, retries, what it does not offer, usage and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kgot_core.contracts.model import Completion, ModelSpec, Reply, Request
from kgot_core.graph.values import JsonValue
from kgot_core.models.calling import Caller
from kgot_core.models.capabilities import Feature
from kgot_core.models.convert import Counted
from kgot_core.models.dials import Dials, family_of, first_findings, is_official
from kgot_core.models.introspection import (
    address_of,
    close_model,
    name_of,
    provider_of,
    secrets_of,
    without_own_retries,
)
from kgot_core.models.judgement import Place
from kgot_core.models.pace import Pace
from kgot_core.models.pricing import Pricer
from kgot_core.models.redact import Redactor
from kgot_core.models.retry import OnRetry, RetryPolicy
from kgot_core.models.sampling import Sampler, Tally
from kgot_core.models.settings import read_settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class ModelClient:
    """One chat model, shared by all runs of a session.

    What the model is found not to offer is remembered here and done another way from then on.

    Args:
        model: A LangChain chat model, opened by a provider or passed in by the user's code.
        spec: How it was named, with its settings; ``None`` for an object passed in.
        attempts: Attempts of one request (``max_llm_attempts``).
        policy: Pauses between them.
        owned: The model was opened for this client, which closes it.
        tools_prompt: Text that describes tools to a model without tool calling; the core's own where empty.
        share: Gives the share of the settings' requests and tokens a minute that is this process's.
    """

    def __init__(
        self,
        model: BaseChatModel,
        spec: ModelSpec | None = None,
        *,
        attempts: int | None = None,
        policy: RetryPolicy | None = None,
        owned: bool = False,
        tools_prompt: str = "",
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        settings = read_settings(spec, strict=False)
        policy = policy or RetryPolicy()
        if attempts is not None:
            policy = replace(policy, attempts=attempts)
        family, address = family_of(model), address_of(model)
        num_ctx = getattr(model, "num_ctx", None) if family == "ollama" else None
        self._model = model
        self._owned = owned
        self._name = f"{spec.provider}:{spec.name}" if spec else name_of(model)
        self._context_tokens: int | None = settings.context_tokens or num_ctx
        self._findings = first_findings(model, address)
        self._at_first = self._findings.to_json()
        self._redactor = Redactor(secrets_of(model) | {settings.api_key})
        dials = Dials(
            without_own_retries(model), self._findings, settings.temperature, settings.max_tokens, tools_prompt
        )
        place = Place(self._name, spec.provider if spec else "", address, settings.timeout)
        pace = Pace(settings.requests_per_minute, settings.tokens_per_minute, share)
        caller = Caller(dials, self._findings, place, policy.now, num_ctx, pace)
        pricer = Pricer(settings, provider_of(model), address if family == "openai" else "")
        self._notices: list[str] = []
        self._may_drop_tools = family == "ollama" or (family == "openai" and not is_official(address))
        self._pricer = pricer
        self._sampler = Sampler(caller, policy, pricer, self._redactor)

    def __repr__(self) -> str:
        return f"ModelClient({self._name})"

    @property
    def name(self) -> str:
        """The model as its user named it."""
        return self._name

    @property
    def samples_at_once(self) -> bool:
        """Several samples come with one request, as far as is known."""
        return Feature.SAMPLES not in self._findings.lacks

    @property
    def context_tokens(self) -> int | None:
        """Size of the model's context in tokens, where settings tell it."""
        return self._context_tokens

    @property
    def priced(self) -> bool:
        """What a request costs is known, by settings or by the price list."""
        return not self._pricer.usage(Counted(1, 1), name_of(self._model)).unpriced

    @property
    def notices(self) -> tuple[str, ...]:
        """All that had to be done another way so far; a reply tells each only at its first time."""
        return tuple(self._notices)

    @property
    def learned(self) -> Mapping[str, JsonValue]:
        """What was found out about the model since it was opened; empty where nothing was."""
        now = self._findings.to_json()
        return {} if now == self._at_first else now

    def learn(self, learned: Mapping[str, JsonValue]) -> None:
        """Takes in what was found out earlier, as :attr:`learned` gave it."""
        self._findings.take_in(learned)

    async def ask(self, request: Request, n: int = 1, on_retry: OnRetry | None = None) -> Reply:
        """Asks for ``n`` samples.

        Args:
            request: What is asked.
            n: Samples wanted.
            on_retry: Called before each pause between attempts.

        Returns:
            ``n`` samples, none of them empty; fewer, with a notice, where some stayed empty in all attempts.

        Raises:
            ContextOverflow: The request does not fit into the model's context.
            ModelError: The request failed for good.
        """
        if n < 1:
            raise ValueError(f"at least one sample must be asked for, not {n}")
        tally = Tally()
        completions: list[Completion] = []
        if n == 1 or self.samples_at_once:
            completions = await self._sampler.together(request, n, tally, on_retry)
        missing = n - len(completions)
        if missing and not tally.exhausted:
            if len(completions) == 1:  # the number was passed over without a word
                self._note(self._findings.miss(Feature.SAMPLES), tally)
            completions += await self._sampler.one_by_one(request, missing, tally, on_retry)
        if request.tools and self._may_drop_tools:
            names = [tool.name for tool in request.tools]
            self._note(self._findings.saw_offer(names, completions), tally)
        notices = [self._redactor.line(notice) for notice in tally.notices]
        self._notices += notices
        if len(completions) < n:
            notices.append(f"{self._name} left {n - len(completions)} of {n} samples empty")
        return Reply(tuple(completions), tally.usage, tally.model or name_of(self._model), tuple(notices))

    async def aclose(self) -> None:
        """Closes what was opened for this client. Idempotent."""
        if self._owned:
            self._owned = False
            await close_model(self._model)

    def _note(self, notice: str, tally: Tally) -> None:
        if notice:
            tally.notices.append(f"{self._name} {notice}")
