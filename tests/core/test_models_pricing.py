"""Cost: known, set by the user, or unknown; never free by mistake."""

from __future__ import annotations

import pytest

from kgot_core.contracts.model import ModelSpec, Request, user
from kgot_core.models.client import ModelClient
from kgot_core.models.convert import Counted
from kgot_core.models.pricing import Pricer
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.settings import ModelSettings
from kgot_core.testing.openai_server import OpenAIServer, Say

OFFICIAL = "https://api.openai.com/v1"
OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")


def test_a_known_model_has_its_price_and_cached_tokens_cost_less() -> None:
    pricer = Pricer(ModelSettings(), address=OFFICIAL)
    fresh = pricer.usage(Counted(1_000_000, 1_000_000), "gpt-4o-mini")
    cached = pricer.usage(Counted(1_000_000, 1_000_000, 1_000_000), "gpt-4o-mini")
    assert fresh.cost == pytest.approx(0.75) and fresh.unpriced == 0
    assert cached.cost == pytest.approx(0.675) and cached.cached_tokens == 1_000_000
    assert pricer.usage(Counted(1_000_000, 0), "gpt-4o-mini-2024-07-18").cost == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("provider", "address", "model"),
    [
        ("openai", "http://127.0.0.1:8080/v1", "gpt-4o-mini"),
        ("openai", "https://models.example.org/v1", "gpt-4o-mini"),
        ("openai", OFFICIAL, "no-such-model-9"),
        ("ollama", "", "qwen2.5:7b"),
        ("", "", "gpt-4o-mini"),
        ("kgot-scripted", "", "scripted"),
    ],
)
def test_an_unknown_price_is_unknown(provider: str, address: str, model: str) -> None:
    usage = Pricer(ModelSettings(), provider, address).usage(Counted(10, 10), model)
    assert (usage.unpriced, usage.cost, usage.requests) == (1, 0.0, 1)


def test_another_provider_by_its_name() -> None:
    usage = Pricer(ModelSettings(), "anthropic").usage(Counted(1_000_000, 0), "claude-3-5-haiku-latest")
    assert usage.cost > 0 and usage.unpriced == 0


@pytest.mark.parametrize(
    ("settings", "cost"),
    [
        (ModelSettings(input_price=2.0, output_price=8.0), 2.0 * 1.0 + 8.0 * 0.5),
        (ModelSettings(input_price=2.0, output_price=8.0, cached_price=1.0), 2.0 * 0.4 + 1.0 * 0.6 + 8.0 * 0.5),
        (ModelSettings(input_price=0.0, output_price=0.0), 0.0),
    ],
)
def test_prices_set_by_the_user_come_first(settings: ModelSettings, cost: float) -> None:
    usage = Pricer(settings, "openai", OFFICIAL).usage(Counted(1_000_000, 500_000, 600_000), "gpt-4o-mini")
    assert usage.cost == pytest.approx(cost) and usage.unpriced == 0


def test_half_a_price_is_none() -> None:
    assert Pricer(ModelSettings(input_price=2.0)).usage(Counted(10, 10), "m").unpriced == 1


async def test_several_samples_are_priced_once() -> None:
    say = Say("x", prompt_tokens=1_000_000, completion_tokens=250_000, cached_tokens=0)
    with OpenAIServer(lambda payload, index: say) as server:
        spec: ModelSpec = server.spec(input_price=1, output_price="4")
        reply = await ModelClient(OPENAI.open(None, spec), spec).ask(Request((user("a"),)), n=4)
    assert reply.usage.cost == pytest.approx(1.0 + 4.0) and reply.usage.requests == 1
