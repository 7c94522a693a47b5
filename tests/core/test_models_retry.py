"""Which failures are tried again, how long is waited, and what the end says."""

from __future__ import annotations

import email.utils
from typing import Any

import pytest

from kgot_core.contracts.model import ModelSpec, Request, user
from kgot_core.errors import ContextOverflow, ModelError
from kgot_core.models.client import ModelClient
from kgot_core.models.faults import retry_after
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.retry import RetryPolicy
from kgot_core.testing.openai_server import Broken, Dropped, Hang, HttpError, OpenAIServer
from kgot_core.testing.scripted_model import ScriptedModel

ASK = Request((user("hello"),))
OPENAI = next(provider for provider in MODEL_PROVIDERS if provider.name == "openai")


class Clock:
    """A clock that moves only when something sleeps."""

    def __init__(self) -> None:
        self.time = 1_900_000_000.0
        self.waits: list[float] = []
        self.told: list[tuple[int, float, str]] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    def now(self) -> float:
        return self.time

    def tell(self, attempt: int, seconds: float, cause: str) -> None:
        self.told.append((attempt, seconds, cause))

    def client(self, spec: ModelSpec, attempts: int = 6) -> ModelClient:
        policy = RetryPolicy(attempts=attempts, sleep=self.sleep, now=self.now)
        return ModelClient(OPENAI.open(None, spec), spec, policy=policy)

    def date(self, seconds: float) -> str:
        return email.utils.formatdate(self.time + seconds, usegmt=True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_d42_retry_after_in_seconds_and_as_a_date(clock: Clock) -> None:
    def script(payload: Any, index: int) -> Any:
        match index:
            case 0:
                return HttpError(429, "slow down", headers={"Retry-After": "3"})
            case 1:
                return HttpError(429, "slow down", headers={"Retry-After": clock.date(2)})
        return "answer"

    with OpenAIServer(script) as server:
        reply = await clock.client(server.spec()).ask(ASK, on_retry=clock.tell)
    assert reply.completions[0].text == "answer" and len(server.payloads) == 3
    assert 3 <= clock.waits[0] <= 4 and 1 <= clock.waits[1] <= 3
    assert [attempt for attempt, _, _ in clock.told] == [1, 2]
    assert [seconds for _, seconds, _ in clock.told] == clock.waits
    assert all("429" in cause for _, _, cause in clock.told)


async def test_d42_a_pause_of_weeks_is_not_waited_for(clock: Clock) -> None:
    fault = HttpError(429, "monthly limit reached", headers={"Retry-After": "1400000"})
    with (
        OpenAIServer(lambda payload, index: fault) as server,
        pytest.raises(ModelError, match=r"quota.*monthly limit reached"),
    ):
        await clock.client(server.spec()).ask(ASK)
    assert len(server.payloads) == 1 and clock.waits == []


async def test_d42_server_errors_pass(clock: Clock) -> None:
    faults = [HttpError(500), HttpError(503), "answer"]
    with OpenAIServer(lambda payload, index: faults[index]) as server:
        reply = await clock.client(server.spec()).ask(ASK)
    assert reply.completions[0].text == "answer" and len(server.payloads) == 3
    assert reply.usage.requests == 1, "refused requests were not answered"


@pytest.mark.parametrize(
    "fault",
    [
        HttpError(429, "You exceeded your current quota", code="insufficient_quota"),
        HttpError(429, "You have reached your monthly usage limit"),
        HttpError(402, "Insufficient credits"),
        HttpError(403, "Your credit balance is too low"),
    ],
)
async def test_quota_fails_at_once(clock: Clock, fault: HttpError) -> None:
    with OpenAIServer(lambda payload, index: fault) as server, pytest.raises(ModelError, match="quota") as caught:
        await clock.client(server.spec()).ask(ASK)
    assert len(server.payloads) == 1 and caught.value.hint


TRANSIENT = [
    *(HttpError(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
    HttpError(429, "quota for this minute exceeded, billing applies", headers={"Retry-After": "20"}),
    HttpError(429, headers={"Retry-After": "soon"}),
    Dropped(),
    Broken(),
    Broken(connection=True),
]


@pytest.mark.parametrize("fault", TRANSIENT, ids=repr)
async def test_what_may_pass_is_tried_again_with_bounded_pauses(clock: Clock, fault: Any) -> None:
    with OpenAIServer(lambda payload, index: fault if index < 5 else "answer") as server:
        reply = await clock.client(server.spec()).ask(ASK, on_retry=clock.tell)
    assert reply.completions[0].text == "answer"
    assert len(server.payloads) == 6 and len(clock.waits) == 5
    assert all(1 <= wait <= 61 for wait in clock.waits)
    assert all("\n" not in cause and cause for _, _, cause in clock.told)


@pytest.mark.parametrize("fault", TRANSIENT, ids=repr)
async def test_attempts_are_bounded_and_the_end_names_the_cause(clock: Clock, fault: Any) -> None:
    with (
        OpenAIServer(lambda payload, index: fault) as server,
        pytest.raises(ModelError, match=r"\(in 3 attempts\)") as caught,
    ):
        await clock.client(server.spec(), attempts=3).ask(ASK)
    assert len(server.payloads) == 3
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("code", [502, "502"])
async def test_an_error_inside_a_good_answer(clock: Clock, code: Any) -> None:
    class Upstream(OpenAIServer):
        """Answers 200 with an error in the body, as gateways do."""

        def body(self, payload: Any, result: Any) -> dict[str, Any]:
            return {"error": {"message": "upstream is away", "code": code}}

    with Upstream("x") as server, pytest.raises(ModelError, match="502: upstream is away") as caught:
        await clock.client(server.spec(), attempts=2).ask(ASK)
    assert len(server.payloads) == 2 and "(in 2 attempts)" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "says", "hint"),
    [
        (HttpError(401, "Incorrect API key provided"), "refused the key", "OPENAI_API_KEY"),
        (HttpError(403, "not for you"), "forbids", "api_key"),
        (HttpError(404, "The model `scripted` does not exist", code="model_not_found"), "openai:scripted was", "name"),
        (HttpError(404, "no such path"), "no such address", "/v1"),
        (HttpError(400, "messages: at least one"), "messages: at least one", ""),
        (HttpError(422, "unprocessable"), "unprocessable", ""),
    ],
)
async def test_other_errors_end_at_once(clock: Clock, fault: HttpError, says: str, hint: str) -> None:
    with OpenAIServer(lambda payload, index: fault) as server, pytest.raises(ModelError, match=says) as caught:
        await clock.client(server.spec()).ask(ASK)
    assert len(server.payloads) == 1 and hint in caught.value.hint
    assert not isinstance(caught.value, ContextOverflow)


OVERFLOWS = [
    HttpError(400, "too long", code="context_length_exceeded"),
    HttpError(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
    HttpError(400, "the request exceeds the available context size, try increasing it"),
    HttpError(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    HttpError(413, "payload"),
    HttpError(429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000"),
    HttpError(500, "input exceeds the context window"),
]


@pytest.mark.parametrize("fault", OVERFLOWS, ids=lambda fault: fault.message[:30])
async def test_d44_context_overflow_is_told_apart(clock: Clock, fault: HttpError) -> None:
    with OpenAIServer(lambda payload, index: fault) as server, pytest.raises(ContextOverflow):
        await clock.client(server.spec(max_tokens=100)).ask(ASK, n=2)
    assert len(server.payloads) == 1


async def test_d44_a_smaller_request_passes_after_one_refusal(clock: Clock) -> None:
    with OpenAIServer("short", context_tokens=500) as server:
        client = clock.client(server.spec())
        with pytest.raises(ContextOverflow, match="500 tokens"):
            await client.ask(Request((user("word " * 2_000),)))
        reply = await client.ask(Request((user("word " * 200),)))
    assert reply.completions[0].text == "short" and len(server.payloads) == 2


async def test_d43_a_request_that_never_returns(clock: Clock) -> None:
    with OpenAIServer(lambda payload, index: Hang()) as server:
        client = clock.client(server.spec(timeout=0.15), attempts=2)
        with pytest.raises(ModelError, match=r"timeout: no answer .* within 0\.15 s \(in 2 attempts\)") as caught:
            await client.ask(ASK)
        assert "timeout" in caught.value.hint
        assert len(clock.waits) == 1


async def test_a_request_that_hangs_once_is_tried_again(clock: Clock) -> None:
    with OpenAIServer(lambda payload, index: "answer" if index else Hang()) as server:
        reply = await clock.client(server.spec(timeout=1.0)).ask(ASK)
    assert reply.completions[0].text == "answer"


async def test_unreachable_server_is_named(clock: Clock) -> None:
    with OpenAIServer("x") as server:
        spec = server.spec()
    address = str(spec.settings["base_url"])
    with pytest.raises(ModelError) as caught:
        await clock.client(spec, attempts=2).ask(ASK)
    assert address in str(caught.value) and "cannot be reached" in str(caught.value)
    assert "base_url" in caught.value.hint and len(clock.waits) == 1


async def test_one_failure_ends_samples_asked_one_by_one(clock: Clock) -> None:
    with (
        OpenAIServer(lambda payload, index: HttpError(401, "no"), refuse=("n",)) as server,
        pytest.raises(ModelError, match="refused the key") as caught,
    ):
        await clock.client(server.spec()).ask(ASK, n=3)
    assert not isinstance(caught.value, BaseExceptionGroup)


async def test_samples_that_came_survive_a_server_that_goes(clock: Clock) -> None:
    with OpenAIServer(lambda payload, index: HttpError(500) if index else ["good", ""]) as server:
        reply = await clock.client(server.spec(), attempts=3).ask(ASK, n=2)
    assert [completion.text for completion in reply.completions] == ["good"]
    assert "left 1 of 2 samples empty" in reply.notices[0]


class LimitError(Exception):
    """As a client of a third party raises it."""

    status_code = 429


async def test_errors_of_other_clients_are_read_by_their_attributes(clock: Clock) -> None:
    policy = RetryPolicy(sleep=clock.sleep)
    client = ModelClient(ScriptedModel([LimitError("later"), ConnectionResetError("gone"), "answer"]), policy=policy)
    assert (await client.ask(ASK)).completions[0].text == "answer"
    broken = ModelClient(ScriptedModel([RuntimeError("a bug")]), policy=policy)
    with pytest.raises(ModelError, match="failed: RuntimeError: a bug"):
        await broken.ask(ASK)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=40.0) == seconds
