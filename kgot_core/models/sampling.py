"""Gets the samples of one question: in one request or one by one, again where one stayed empty."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from kgot_core.contracts.model import Completion, Request
from kgot_core.contracts.task import Usage
from kgot_core.errors import ContextOverflow, ModelError
from kgot_core.models.calling import Caller, OneByOne, estimate_counts
from kgot_core.models.convert import Answered
from kgot_core.models.faults import NothingSaid
from kgot_core.models.judgement import Fault
from kgot_core.models.pricing import Pricer
from kgot_core.models.redact import Redactor
from kgot_core.models.retry import Failed, OnRetry, RetryPolicy, persist

_MOST_CUT = 2  # empty replies that used up the token limit; a third would cost as much and say as little


@dataclass
class Tally:
    """What one question has brought so far, over all its requests.

    Attributes:
        usage: What was paid.
        notices: What had to be done another way.
        model: The model that answered.
        exhausted: Samples are missing although all attempts were made.
    """

    usage: Usage = field(default_factory=Usage)
    notices: list[str] = field(default_factory=list)
    model: str = ""
    exhausted: bool = False


class Sampler:
    """Draws samples from one model.

    Args:
        caller: Makes one attempt.
        policy: Attempts and pauses.
        pricer: Prices each request.
        redactor: Keeps secrets out of messages.
    """

    def __init__(self, caller: Caller, policy: RetryPolicy, pricer: Pricer, redactor: Redactor) -> None:
        self._caller = caller
        self._policy = policy
        self._pricer = pricer
        self._redactor = redactor

    async def together(self, request: Request, want: int, tally: Tally, on_retry: OnRetry | None) -> list[Completion]:
        """Asks for samples in one request, and again for those that stayed empty.

        Returns:
            The samples; fewer where the server gave fewer choices than asked, or where attempts were used up
            (``tally.exhausted``).

        Raises:
            ModelError: The request failed for good.
        """
        good: list[Completion] = []
        cut = 0

        async def attempt() -> None:
            nonlocal cut
            answered = await self._caller.call(request, want - len(good), tally.notices)
            self._count(request, answered, tally)
            said = [item for item in answered.completions if item.text.strip() or item.tool_calls]
            good.extend(said[: want - len(good)])
            if len(said) < len(answered.completions) or not answered.completions:
                cut += any(item.truncated and not item.text.strip() for item in answered.completions)
                raise Failed(self._nothing(answered, final=cut >= _MOST_CUT))

        try:
            await persist(attempt, self._policy, self._quiet(on_retry))
        except OneByOne:
            return good
        except Failed as failed:
            fault = failed.fault
        else:
            return good
        if good and (fault.outcome == "retry" or fault.silent):
            tally.exhausted = True
            return good
        raise self._error(fault, tally)

    async def one_by_one(self, request: Request, want: int, tally: Tally, on_retry: OnRetry | None) -> list[Completion]:
        """Asks for samples in requests of their own, side by side; a silent one does not end the others.

        Raises:
            ModelError: A request failed for good, or all samples stayed empty.
        """
        tasks: list[asyncio.Task[list[Completion] | NothingSaid]] = []
        failure: ModelError | None = None
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._single(request, tally, on_retry)) for _ in range(want)]
        except* ModelError as failures:
            failure = _first(failures)
        if failure is not None:
            raise failure
        results = [task.result() for task in tasks]
        silent = [result for result in results if isinstance(result, NothingSaid)]
        if len(silent) == want:
            raise silent[0]
        tally.exhausted = bool(silent)
        return [item for result in results if not isinstance(result, NothingSaid) for item in result]

    async def _single(self, request: Request, tally: Tally, on_retry: OnRetry | None) -> list[Completion] | NothingSaid:
        try:
            return await self.together(request, 1, tally, on_retry)
        except NothingSaid as error:
            return error

    def _count(self, request: Request, answered: Answered, tally: Tally) -> None:
        counted = answered.counted
        if counted is None:
            counted = estimate_counts(request, answered)
            self._caller.note_missing_usage(tally.notices)
        tally.usage += self._pricer.usage(counted, answered.model)
        tally.model = answered.model or tally.model

    def _nothing(self, answered: Answered, *, final: bool) -> Fault:
        name = self._caller.place.model
        if not answered.completions:
            return Fault("retry", f"{self._caller.place.server} sent an answer without choices", silent=True)
        if any(item.truncated for item in answered.completions):
            cause = f"the reply of {name} was truncated by the token limit before it said anything"
            return Fault("final" if final else "retry", cause, "set models.<role>.max_tokens higher", silent=True)
        endings = ", ".join(sorted(set(answered.endings) - {"", "stop"}))
        return Fault("retry", f"{name} kept replying with nothing" + (f" ({endings})" if endings else ""), silent=True)

    def _error(self, fault: Fault, tally: Tally) -> ModelError:
        cause = self._redactor.line(fault.cause)
        if fault.outcome == "overflow":
            return ContextOverflow(cause, hint=fault.hint)
        if fault.outcome == "retry":
            cause = f"{cause} (in {self._policy.attempts} attempts)" if self._policy.attempts > 1 else cause
        return (
            NothingSaid(cause, hint=fault.hint, usage=tally.usage)
            if fault.silent
            else ModelError(cause, hint=fault.hint)
        )

    def _quiet(self, on_retry: OnRetry | None) -> OnRetry | None:
        if on_retry is None:
            return None
        return lambda attempt, seconds, cause: on_retry(attempt, seconds, self._redactor.line(cause))


def _first(group: BaseExceptionGroup[ModelError]) -> ModelError:
    for error in group.exceptions:
        return _first(error) if isinstance(error, BaseExceptionGroup) else error
    raise AssertionError("an exception group is never empty")
