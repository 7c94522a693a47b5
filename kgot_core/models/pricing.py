"""What a request costs, from the price list of genai-prices (offline) or from settings."""

from __future__ import annotations

from kgot_core.contracts.task import Usage
from kgot_core.models.convert import Counted
from kgot_core.models.settings import ModelSettings

_MILLION = 1_000_000


class Pricer:
    """Prices the requests of one model.

    Args:
        settings: Prices set by the user come before the list.
        provider: Provider as the list names it, for example ``openai``; empty where unknown.
        address: The server's address; it decides over the provider, so that a server of one's own that speaks the
            same protocol is not billed as if it were the provider's.
    """

    def __init__(self, settings: ModelSettings, provider: str = "", address: str = "") -> None:
        self._settings = settings
        self._provider = provider
        self._address = address

    def usage(self, counted: Counted, model: str) -> Usage:
        """Gives one request's usage with its cost; a model of unknown price counts as unpriced, never as free."""
        cost = self._set(counted) if self._settings.input_price is not None else self._listed(counted, model)
        return Usage(
            requests=1,
            input_tokens=counted.input_tokens,
            output_tokens=counted.output_tokens,
            cached_tokens=counted.cached_tokens,
            cost=cost or 0.0,
            unpriced=int(cost is None),
        )

    def _set(self, counted: Counted) -> float | None:
        price, reply = self._settings.input_price, self._settings.output_price
        if price is None or (reply is None and counted.output_tokens):
            return None
        cached = price if self._settings.cached_price is None else self._settings.cached_price
        fresh = max(0, counted.input_tokens - counted.cached_tokens)
        return (fresh * price + counted.cached_tokens * cached + counted.output_tokens * (reply or 0.0)) / _MILLION

    def _listed(self, counted: Counted, model: str) -> float | None:
        if not (self._address or self._provider):
            return None
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price

        tokens = Tokens(
            input_tokens=counted.input_tokens,
            cache_read_tokens=min(counted.cached_tokens, counted.input_tokens),
            output_tokens=counted.output_tokens,
        )
        try:
            if self._address:
                return float(calc_price(tokens, model, provider_api_url=self._address).total_price)
            return float(calc_price(tokens, model, provider_id=self._provider).total_price)
        except (LookupError, ValueError):
            return None
