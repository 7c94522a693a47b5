"""The model providers: what they open, what they check, and that looking at them loads no client."""

from __future__ import annotations

import subprocess
import sys
import traceback
from typing import Any

import pytest

from kgot_core.contracts.model import ModelSpec, Request, user
from kgot_core.errors import UsageError
from kgot_core.models.client import ModelClient
from kgot_core.models.introspection import address_of
from kgot_core.models.providers import MODEL_PROVIDERS, reachable
from kgot_core.models.settings import ModelSettings, read_settings
from kgot_core.providers import ModelProvider
from kgot_core.testing.openai_server import OpenAIServer

PROVIDERS = {provider.name: provider for provider in MODEL_PROVIDERS}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "OPENAI_ORGANIZATION",
        "OPENAI_ORG_ID",
        "OLLAMA_HOST",
    ):
        monkeypatch.delenv(name, raising=False)


def provider(name: str) -> ModelProvider:
    return PROVIDERS[name]


def test_looking_at_providers_loads_no_client() -> None:
    code = (
        "import sys, kgot_core.models.providers as p, kgot_core.models.client, kgot_core.models.tokens\n"
        "heavy = 'langchain_core langchain_openai openai ollama httpx httpx2 pydantic tenacity'.split()\n"
        "from kgot_core.contracts.model import ModelSpec\n"
        "[provider.check(ModelSpec(provider.name, 'x.Y', {})) for provider in p.MODEL_PROVIDERS]\n"
        "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_openai_takes_the_usual_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer("hi", key="from-the-environment") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", " from-the-environment\n")
        monkeypatch.setenv("OPENAI_ORGANIZATION", "org-1")
        model: Any = provider("openai").open(None, ModelSpec("openai", "m"))
        reply = await ModelClient(model, ModelSpec("openai", "m")).ask(Request((user("a"),)))
    assert reply.completions[0].text == "hi" and model.max_retries == 0
    assert model.root_async_client.organization == "org-1"


async def test_settings_come_before_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with OpenAIServer("hi", key="right-key") as server:
        spec = server.spec()
        reply = await ModelClient(provider("openai").open(None, spec), spec).ask(Request((user("a"),)))
    assert reply.completions[0].text == "hi"


async def test_a_server_of_ones_own_needs_no_key() -> None:
    with OpenAIServer("hi") as server:
        spec = ModelSpec("openai", "m", {"base_url": server.url})
        assert provider("openai").check(spec) is None
        reply = await ModelClient(provider("openai").open(None, spec), spec).ask(Request((user("a"),)))
    assert reply.completions[0].text == "hi"
    assert server.seen[0].authorization.startswith("Bearer ")


def test_openai_without_a_key_is_not_ready() -> None:
    problem = provider("openai").check(ModelSpec("openai", "gpt-4o-mini"))
    assert problem is not None and "key" in problem.message and "OPENAI_API_KEY" in problem.hint
    assert provider("openai").check(ModelSpec("openai", "gpt-4o-mini", {"api_key": "k" * 20})) is None
    official = ModelSpec("openai", "gpt-4o-mini", {"base_url": "https://api.openai.com/v1"})
    assert provider("openai").check(official) is not None


@pytest.mark.parametrize("name", ["openai", "ollama"])
def test_a_missing_extra_is_named_with_its_commands(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgot_core.models.providers.find_spec", lambda package: None)
    problem = provider(name).check(ModelSpec(name, "m", {"api_key": "k" * 20}))
    assert problem is not None and f"langchain_{name}" in problem.message
    for command in ("pip install", "uv ", "pipx ", f"kgot-core[{name}]"):
        assert command in problem.hint


async def test_options_reach_the_client_unchanged() -> None:
    with OpenAIServer("hi") as server:
        options = {"top_p": 0.25, "seed": 7, "extra_body": {"min_p": 0.1}}
        spec = server.spec(options=options, **{"options.presence_penalty": 0.5}, max_tokens=9)
        await ModelClient(provider("openai").open(None, spec), spec).ask(Request((user("a"),)))
    sent = server.payloads[0]
    assert (sent["top_p"], sent["seed"], sent["min_p"], sent["presence_penalty"]) == (0.25, 7, 0.1, 0.5)
    assert sent["max_tokens"] == 9, "the body that the user adds to stays"


@pytest.mark.parametrize("address", ["127.0.0.1:8080/v1", "ftp://x/v1", "http://", "http://x:notaport/v1"])
def test_an_address_that_is_none(address: str) -> None:
    spec = ModelSpec("openai", "m", {"base_url": address, "api_key": "k" * 20})
    problem = provider("openai").check(spec)
    assert problem is not None and "address" in problem.message
    with pytest.raises(UsageError):
        provider("openai").open(None, spec)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"base_ulr": "x"}, "base_url"),
        ({"top_p": 1}, "options.top_p"),
        ({"timeout": "soon"}, "number"),
        ({"timeout": 0}, "positive"),
        ({"num_ctx": -1}, "positive"),
        ({"input_price": "free"}, "number"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(settings)
    assert says in str(caught.value)


def test_settings_may_be_text() -> None:
    read = read_settings(
        {"timeout": "2.5", "num_ctx": "4096", "temperature": "0", "api_key": " k ", "organization": None}
    )
    assert read == ModelSettings(timeout=2.5, num_ctx=4096, temperature=0.0, api_key="k")
    assert "k'" not in repr(read)


def test_ollama_always_sends_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = provider("ollama").open(None, ModelSpec("ollama", "qwen2.5:7b"))
    assert (model.model, model.num_ctx) == ("qwen2.5:7b", 16_384)
    assert address_of(model) == "http://127.0.0.1:11434"
    monkeypatch.setenv("OLLAMA_HOST", "some.host")
    other: Any = provider("ollama").open(None, ModelSpec("ollama", "m", {"num_ctx": 2048, "options": {"top_k": 3}}))
    assert (other.num_ctx, other.top_k, address_of(other)) == (2048, 3, "http://some.host:11434")
    client = ModelClient(other, ModelSpec("ollama", "m"))
    assert not client.samples_at_once and client.context_tokens == 2048


FACTORY = """
from langchain_core.language_models import FakeListChatModel

class Kind(FakeListChatModel):
    max_retries: int = 2
    api_key: str = ""

def make(reply="made"):
    return FakeListChatModel(responses=[reply])

def nothing():
    return 7
"""


@pytest.fixture
def module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "someone_elses_models.py").write_text(FACTORY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "someone_elses_models", raising=False)
    return "someone_elses_models"


async def test_import_a_class_and_a_factory(module: str) -> None:
    spec = ModelSpec.parse(f"import:{module}.Kind", {"options": {"responses": ["a"]}})
    model: Any = provider("import").open(None, spec)
    assert model.max_retries == 0, "the core retries"
    made = provider("import").open(None, ModelSpec.parse(f"import:{module}:make", {"options.reply": "b"}))
    assert (await ModelClient(made).ask(Request((user("x"),)))).completions[0].text == "b"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("{}.Missing", "cannot be imported"),
        ("nowhere_at_all.Model", "cannot be imported"),
        ("Model", "names no class"),
        ("{}:make()", "names no class"),
        ("{}:nothing", "not a LangChain chat model"),
        ("{}.Kind", "cannot be opened"),
    ],
)
def test_import_of_what_is_no_model(path: str, says: str, module: str) -> None:
    spec = ModelSpec(
        "import", path.format(module), {"options": {"api_key": ["ABC123DEF456"]} if "Kind" in path else {}}
    )
    with pytest.raises(UsageError, match=says) as caught:
        provider("import").open(None, spec)
    assert "ABC123DEF456" not in "".join(traceback.format_exception(caught.value))


def test_import_check() -> None:
    assert provider("import").check(ModelSpec("import", "nowhere_at_all.Model")) is not None
    assert provider("import").check(ModelSpec("import", "json.Model")) is None
    assert provider("import").check(ModelSpec("import", "Model")) is not None


async def test_reachable() -> None:
    with OpenAIServer("x", key="right-key") as server:
        spec = server.spec()
        assert await reachable(spec) is None
        wrong = await reachable(ModelSpec("openai", "m", {"base_url": server.url, "api_key": "wrong-key"}))
        assert wrong is not None and "refused the key" in wrong.message and wrong.hint
        astray = await reachable(ModelSpec("openai", "m", {"base_url": server.url[:-3], "api_key": "right-key"}))
        assert astray is None, "not every server lists its models"
    gone = await reachable(spec)
    assert gone is not None and "cannot be reached" in gone.message and server_address(spec) in gone.message
    assert await reachable(ModelSpec("import", "a.B")) is None
    nowhere = await reachable(ModelSpec("openai", "m", {"base_url": "nowhere"}))
    assert nowhere is not None and "address" in nowhere.message


def server_address(spec: ModelSpec) -> str:
    return str(spec.settings["base_url"]).removesuffix("/v1")
