"""The conformance suite of strategies. A third party subclasses :class:`StrategySuite` and names its provider.

Example:
    class TestMyStrategy(StrategySuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.strategy import Strategy
from kgot_core.errors import ModelError
from kgot_core.providers import StrategyProvider
from kgot_core.testing.runs import NOTHING, Setting, run_strategy, try_strategy
from kgot_core.testing.scripted_model import Asked
from kgot_core.testing.suite import Suite, check_clean, check_provider, ready

_MOST_REQUESTS = 200
_PATIENCE = 10.0
REPLY = (
    "SOLVE\nThe graph holds it.\n```facts\nFIND ?metres\n(Lake: Corrie Water) depth = ?metres\n```\n"
    "VALUE: 61\nThe lake is 61 metres deep."
)


def answering(asked: Asked) -> str:
    """Answers each stage of the core's own loop so that it comes to 61."""
    tail = str(asked.messages[-1].content)
    return "VALUE: 61\nThe lake is 61 metres deep." if "VALUE:" in tail else "NO" if "partial" in tail else REPLY


class StrategySuite(Suite):
    """What every strategy does, with a scripted model and a graph in memory that holds the answer, 61.

    Attributes:
        provider: The provider under test; or give the fixture ``strategy``.
        settings: Its settings; the defaults where ``None``.
        script: How the model answers, see :class:`kgot_core.testing.scripted_model.ScriptedModel`.
        expected: What stands in the answer then.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings", "strategy", "script", "expected"})
    provider: ClassVar[StrategyProvider | None] = None
    settings: ClassVar[Any] = None
    script: ClassVar[Any] = staticmethod(answering)
    expected: ClassVar[str] = "61"

    @pytest.fixture
    def strategy(self) -> Strategy:
        """Gives the strategy under test."""
        if self.provider is None:
            raise NotImplementedError("set provider, or give a fixture 'strategy' that returns the one under test")
        return self.provider.open(ready(self.provider, self.settings))

    def test_is_a_strategy(self, strategy: Strategy) -> None:
        assert isinstance(strategy, Strategy), "open gives a kgot_core.contracts.strategy.Strategy"
        if self.provider is not None:
            check_provider(self.provider)

    def test_answers(self, strategy: Strategy) -> None:
        answer = try_strategy(strategy, Setting(self.script)).answer
        assert answer.status == "answered", (
            f"with a model that helps, run ends with an answer: {answer.status}, {answer.reason}"
        )
        assert self.expected in answer.text, f"the answer holds {self.expected!r}, not: {answer.text}"

    def test_ends_with_a_model_that_does_not_help(self, strategy: Strategy) -> None:
        seen = []

        def script(asked: Asked) -> str:
            seen.append(asked)
            if len(seen) > _MOST_REQUESTS:
                raise RuntimeError("enough")
            return NOTHING

        answer = try_strategy(strategy, Setting(script)).answer
        assert len(seen) <= _MOST_REQUESTS, f"more than {_MOST_REQUESTS} requests for one task: bound every loop"
        assert answer.status != "failed", f"a model that does not help is no failure of the run: {answer.reason}"
        assert answer.text.strip(), "Outcome.text tells the user something, whatever the status"

    def test_failure_of_the_model_ends_the_run_with_its_cause(self, strategy: Strategy) -> None:
        answer = try_strategy(strategy, Setting([ModelError("the model is away")] * _MOST_REQUESTS)).answer
        assert answer.status == "failed", f"a model that cannot be reached fails the run, it ended as {answer.status}"
        check_clean(answer.reason, "a run without a model")
        assert "away" in answer.reason, f"the cause must reach the user: {answer.reason}"

    def test_equal_runs_ask_the_same(self, strategy: Strategy) -> None:
        first, second = (try_strategy(strategy, Setting(self.script)) for _ in range(2))
        assert list(first.requests) == list(second.requests), "a run that is repeated must ask the same, text for text"

    def test_can_be_cancelled(self, strategy: Strategy) -> None:
        assert asyncio.run(_cancelled(strategy)), (
            "a cancelled run must end with CancelledError: a strategy that catches it must raise it again"
        )


async def _cancelled(strategy: Strategy) -> bool:
    """Cancels a run while its model thinks."""
    thinking = asyncio.Event()

    async def script(asked: Asked) -> str:
        thinking.set()
        await asyncio.Event().wait()
        return NOTHING

    running = asyncio.create_task(run_strategy(strategy, Setting(script)))
    asked = asyncio.create_task(thinking.wait())
    await asyncio.wait({asked, running}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    running.cancel()
    await asyncio.wait({running}, timeout=_PATIENCE)
    return running.cancelled()
