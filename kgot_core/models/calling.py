"""One attempt of a request: sent, bounded in time, and done another way where the model does not take a part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kgot_core.contracts.model import Request
from kgot_core.models.capabilities import Feature, Findings, refused_feature, too_large
from kgot_core.models.convert import Answered, Counted, from_langchain, shown
from kgot_core.models.dials import Bound, Dials
from kgot_core.models.faults import Facts, read_error
from kgot_core.models.judgement import Fault, Place, judge
from kgot_core.models.pace import Pace
from kgot_core.models.retry import Failed
from kgot_core.models.tokens import estimate_tokens

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult

_MOST_REFUSALS = 2 * len(Feature)
_REASONED = frozenset({Feature.TOOLS, Feature.SCHEMA})


class OneByOne(Exception):
    """Several samples were asked for in one request, and refused."""


class Caller:
    """Sends requests to one model.

    Args:
        dials: How the model takes a request.
        findings: What is known of it; grows with each refusal.
        place: Whom the requests go to; its ``timeout`` bounds each of them.
        now: Seconds since the epoch.
        num_ctx: Context that the server was asked for, where it cuts longer prompts without a word.
        pace: Requests and tokens a minute.
    """

    def __init__(
        self,
        dials: Dials,
        findings: Findings,
        place: Place,
        now: Callable[[], float],
        num_ctx: int | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._pace = pace or Pace(None, None)
        self._dials = dials
        self._findings = findings
        self.place = place
        self._now = now
        self._num_ctx = num_ctx

    async def call(self, request: Request, n: int, notices: list[str]) -> Answered:
        """Makes one attempt. What had to be done another way for the first time is added to ``notices``.

        Raises:
            OneByOne: ``n`` samples in one request were refused.
            Failed: The attempt failed.
        """
        for feature in self._dials.foreseen(request):
            self._note(self._findings.miss(feature), notices)
        for _ in range(_MOST_REFUSALS):
            try:
                bound = self._dials.bind(request, n)
            except NotImplementedError:
                self._note(self._findings.miss(Feature.TOOLS), notices)
                continue
            passed = await self._pace.enter(estimate_prompt(request))
            result = await self._send(bound)
            if not isinstance(result, Facts):
                answered = from_langchain(result)
                counted = answered.counted or estimate_counts(request, answered)
                passed.tokens = counted.input_tokens + counted.output_tokens
                return self._checked(request, answered)
            self._adapt(result, bound, notices)
        raise Failed(Fault("final", f"{self.place.server} refuses each form of the request"))

    async def _send(self, bound: Bound) -> LLMResult | Facts:
        # The failure is handed back as facts: raised here, the client's exception would stay chained, with its key.
        try:
            async with asyncio.timeout(self.place.timeout or None):
                return await bound.model.agenerate([bound.messages], **bound.arguments)
        except Exception as error:
            return read_error(error)

    def _adapt(self, facts: Facts, bound: Bound, notices: list[str]) -> None:
        feature = refused_feature(facts, bound.sent)
        if feature is None:
            raise Failed(judge(facts, self.place, self._now()))
        if feature is Feature.LIMIT:
            self._note(self._findings.miss_limit(bound.limit_name, altogether=too_large(facts)), notices)
            return
        self._note(self._findings.miss(feature), notices, facts.text if feature in _REASONED else "")
        if feature is Feature.SAMPLES:
            raise OneByOne

    def note_missing_usage(self, notices: list[str]) -> None:
        """Notes that the server reports no token numbers."""
        self._note(self._findings.miss_usage(), notices)

    def _note(self, notice: str, notices: list[str], reason: str = "") -> None:
        if notice:
            notices.append(f"{self.place.model} {notice}" + (f" ({reason})" if reason else ""))

    def _checked(self, request: Request, answered: Answered) -> Answered:
        """Refuses an answer to a prompt that the server cut off."""
        if self._num_ctx is None or answered.counted is None:
            return answered
        estimate = estimate_prompt(request)
        read = answered.counted.input_tokens
        # The estimate is rather too large, so it alone proves nothing: the server must have read a full context, or so
        # little that it left whole messages out.
        if estimate > self._num_ctx and (read >= 0.95 * self._num_ctx or read < 0.5 * estimate):
            cause = (
                f"{self.place.model} read only {read} tokens of a prompt of about {estimate}: "
                f"the server cut it off at num_ctx = {self._num_ctx}"
            )
            raise Failed(Fault("final", cause, "set models.<role>.num_ctx higher, or the budgets of the prompt lower"))
        return answered


def estimate_prompt(request: Request) -> int:
    """Estimates the tokens of a request's messages and tools."""
    texts = [shown(message) for message in request.messages]
    texts += [f"{tool.name} {tool.description} {dict(tool.parameters)}" for tool in request.tools]
    return sum(map(estimate_tokens, texts))


def estimate_counts(request: Request, answered: Answered) -> Counted:
    """Estimates the token numbers that a server did not report."""
    texts = [completion.text + "".join(map(str, completion.tool_calls)) for completion in answered.completions]
    return Counted(estimate_prompt(request), sum(map(estimate_tokens, texts)))
