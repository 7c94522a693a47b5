"""Embedding models: opened by name or passed in, asked through the journal, counted, repeated without a model."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

import kgot_core
from kgot_core.contracts.model import ModelSpec
from kgot_core.errors import ContextOverflow, ModelError, UsageError
from kgot_core.models.embedding import EmbeddingClient
from kgot_core.models.likeness import DIMENSIONS, likeness_vector
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.models.retry import RetryPolicy
from kgot_core.plugins import PluginRegistry
from kgot_core.session.replay import replay_run
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.openai_server import HttpError, OpenAIServer

PROVIDERS: dict[str, Any] = {provider.name: provider for provider in MODEL_PROVIDERS}
PARSES = ["VALUE: 61\nIt is 61 metres deep.", "VALUE: 61\nThe lake is 61 metres deep.", "VALUE: 7\nSeven brooks."]
STABLE = {"voters.parse": "stability"}


class Lengths(Embeddings):
    """Embeds a text by its length; a real LangChain embedding model as a user writes one."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.texts: list[list[str]] = []
        self.api_key = SecretStr("sk-of-the-embedder")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts.append(texts)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return [[1.0, len(text)] for text in texts] if self.answer is None else self.answer

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


async def no_sleep(seconds: float) -> None:
    """Waits not at all."""


def client(model: Embeddings, spec: ModelSpec | None = None, attempts: int = 2) -> EmbeddingClient:
    return EmbeddingClient(model, spec, policy=RetryPolicy(attempts=attempts, sleep=no_sleep), owned=True)


# The client


async def test_openai_embeds_over_http_and_sends_texts_as_they_are() -> None:
    with OpenAIServer("", key="sk-loopback") as server:
        spec = server.spec("small", input_price=2.0, output_price=1.0)
        asked = client(PROVIDERS["openai"].embed(None, spec), spec)
        done = await asked.embed(["one lake", "two lakes"])
        await asked.aclose()
        await asked.aclose()
        assert server.embedded[0]["input"] == ["one lake", "two lakes"] and server.embedded[0]["model"] == "small"
    assert [len(vector) for vector in done.vectors] == [DIMENSIONS] * 2
    assert done.vectors[0] == pytest.approx(likeness_vector("one lake"), abs=1e-6)
    assert (done.usage.requests, done.usage.unpriced, done.model) == (1, 0, "small")
    assert done.usage.cost == pytest.approx(done.usage.input_tokens * 2e-6) and done.usage.input_tokens >= 4


async def test_a_known_model_of_openai_has_its_price() -> None:
    from langchain_openai import OpenAIEmbeddings

    model = OpenAIEmbeddings(
        model="text-embedding-3-small", api_key=SecretStr("sk-x"), check_embedding_ctx_length=False
    )
    asked = client(model)
    assert asked._pricer.usage(_counted(1_000_000), "text-embedding-3-small").cost == pytest.approx(0.02)


def _counted(tokens: int) -> Any:
    from kgot_core.models.convert import Counted

    return Counted(tokens, 0)


async def test_faults_of_the_server_are_retried_told_and_keep_the_key() -> None:
    waits: list[str] = []
    for fault, kind, words, pauses in (
        (HttpError(503, "warming up with sk-loopback"), ModelError, "answered 503", 1),
        (HttpError(401, "no such key sk-loopback"), ModelError, "refused the key", 0),
        (HttpError(400, "maximum context length is 10 tokens"), ContextOverflow, "does not fit", 0),
    ):
        with OpenAIServer("", embed=fault) as server:
            spec = server.spec(api_key="sk-loopback")
            asked = client(PROVIDERS["openai"].embed(None, spec), spec)
            with pytest.raises(kind, match=words) as caught:
                await asked.embed(["a"], lambda attempt, seconds, cause: waits.append(cause))
            await asked.aclose()
        assert "sk-loopback" not in str(caught.value) and len(server.embedded) == 1 + pauses
    assert len(waits) == 1 and "sk-loopback" not in waits[0]


@pytest.mark.parametrize(
    "answer",
    [[], [[1.0]], [[1.0], [1.0, 2.0]], [[], []], [["a"], ["b"]], [[float("nan")], [1.0]], 7, [None, None], [[0.1], 3]],
)
async def test_what_is_no_vector_for_each_text_is_refused(answer: Any) -> None:
    model = Lengths(answer)
    with pytest.raises(ModelError, match="no vector of numbers for each text"):
        await client(model).embed(["a", "b"])
    assert len(model.texts) == 2


async def test_an_embedder_that_raises_anything_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="Lengths failed: RuntimeError: odd"):
        await client(Lengths(RuntimeError("odd"))).embed(["a"])


# By name, and in code


def test_an_import_path_names_an_embedding_model_too() -> None:
    spec = ModelSpec("import", "langchain_core.embeddings.fake.DeterministicFakeEmbedding", {"options": {"size": 5}})
    model = PROVIDERS["import"].embed(None, spec)
    assert len(model.embed_query("a")) == 5
    wrong = ModelSpec(
        "import", "langchain_core.language_models.fake_chat_models.FakeListChatModel", {"options": {"responses": ["a"]}}
    )
    with pytest.raises(UsageError, match="gives a FakeListChatModel, not a LangChain embedding model"):
        PROVIDERS["import"].embed(None, wrong)


async def test_a_setting_names_the_model_and_its_requests_are_counted(kit: ModuleType) -> None:
    with OpenAIServer("", key="sk-loopback") as server:
        named = {
            "models.embedding": "openai:small",
            "models.embedding.base_url": server.url,
            "models.embedding.api_key": "sk-loopback",
        }
        done = await kit.solve(settings={**STABLE, **named}, parse=PARSES)
        assert len(server.embedded) == 1 and sorted(server.embedded[0]["input"]) == server.embedded[0]["input"]
    event = done.of("texts_embedded")[0]
    assert (event["stage"], event["role"], event["model"], event["part"]) == (
        "parse",
        "embedding",
        "small",
        "formatting",
    )
    assert event["step"] == "finish/embed" and len(event["vectors"]) == 3 and event["usage"]["requests"] == 1
    assert done.answer.text.endswith("61 metres deep.")
    assert done.answer.usage.requests == len(done.asked) + 1 and done.answer.usage.unpriced >= 1


async def test_the_model_of_another_role_is_not_asked_for_vectors(kit: ModuleType) -> None:
    done = await kit.solve(settings=STABLE, parse=PARSES)
    assert not done.of("texts_embedded") and done.answer.text.endswith("61 metres deep.")
    assert "embedding" not in done.of("run_started")[0]["plan"]["models"]
    done = await kit.solve(settings={**STABLE, "models.embedding.timeout": 3}, parse=PARSES)
    assert not done.of("texts_embedded")


async def test_a_model_in_code_wins_and_decides(kit: ModuleType, tmp_path: Path) -> None:
    model = Lengths()
    done = await kit.solve(settings=STABLE, parse=PARSES, models={"embedding": model}, folder=tmp_path)
    assert len(model.texts) == 1 and done.of("run_started")[0]["plan"]["models"]["embedding"] == "Lengths"
    again, sink = await _again(tmp_path)
    assert (again.text, again.agreement, again.usage) == (done.answer.text, done.answer.agreement, done.answer.usage)
    assert next(record for record in sink.records if record["kind"] == "texts_embedded")["vectors"]
    assert len(model.texts) == 1, "a repeated run asks no model"


async def test_a_model_that_is_away_leaves_it_to_the_majority(kit: ModuleType, tmp_path: Path) -> None:
    settings = {**STABLE, "loop.max_llm_attempts": 1}
    away = Lengths(ConnectionError("no route"))
    done = await kit.solve(settings=settings, parse=PARSES, models={"embedding": away}, folder=tmp_path)
    assert done.answer.status == "answered" and done.answer.agreement == pytest.approx(2 / 3)
    assert [text for text in done.notices if "the voter StabilityVoter on parse failed" in text]
    again, _ = await _again(tmp_path)
    assert again.text == done.answer.text


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ({"embedding": object()}, "is a LangChain embedding model, not object"),
        ({"graph": Lengths()}, "chat model, not"),
    ],
)
async def test_a_model_of_the_wrong_kind_is_refused(models: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        async with kgot_core.open(models=models, env={}, runs=None, folder=Path(__file__).parent):
            pass


async def test_a_provider_without_embedding_models_is_refused(kit: ModuleType) -> None:
    plugin = Path(__file__).parents[1] / "fixtures" / "chat_only.py"
    settings = {"plugins.load": (str(plugin),), "models.embedding": "chat-only:m"}
    with pytest.raises(UsageError, match="model chat-only:m: chat-only: has no embedding models"):
        await kit.solve(settings=settings)


async def test_every_voter_is_repeated_from_its_record(kit: ModuleType, tmp_path: Path) -> None:
    for voter in ("majority", "adaptive", "judge", "stability"):
        folder = tmp_path / voter
        settings = {"voter": voter, "votes.choose_tools": 3, "votes.final": 3, "loop.max_final_solution_parsing": 2}
        questions = [kit.calls(kit.call("ask_llm", question=f"How deep {number}?")) for number in range(3)]
        done = await kit.solve(
            settings=settings,
            decide=kit.turns([kit.ENHANCE] * 3 + [kit.SOLVE] * 2, [kit.SOLVE] * 3 + [kit.ENHANCE] * 2),
            choose=questions,
            parse=lambda asked: ["VALUE: 61", f"VALUE: {60 + asked.number}"],
            models={"embedding": Lengths()},
            folder=folder,
        )
        again, sink = await _again(folder)
        assert (again.text, again.status, again.agreement) == (
            done.answer.text,
            done.answer.status,
            done.answer.agreement,
        )
        votes = [
            [record for record in records if record["kind"] == "voted"] for records in (done.records, sink.records)
        ]
        assert [{**vote, "at": "", "seq": 0} for vote in votes[0]] == [
            {**vote, "at": "", "seq": 0} for vote in votes[1]
        ]


async def _again(folder: Path) -> tuple[Any, MemorySink]:
    registry, sink = PluginRegistry(), MemorySink()
    registry.load()
    return await replay_run(registry, _run_in(folder), env={}, sinks=[sink]), sink


def _run_in(folder: Path) -> Path:
    return next(folder.glob("*/events.jsonl")).parent


# Without a model
