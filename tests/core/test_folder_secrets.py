"""Keys are in no file of a run, in no answer, in no log and in nothing that is printed, wherever they come from."""

from __future__ import annotations

import logging
import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import kgot_core
from kgot_core.run.record.folder import read_records

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, heights = _story["Story"], _story["quick"], _story["heights"]
QUESTION, NO_CONFIG = _story["QUESTION"], _story["NO_CONFIG"]
KEY = "sk-test-ABC123DEF456"
PLANTED = b"ABC123DEF456"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server that takes the planted key only."""
    with quick().server(key=KEY) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_shows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    printed = capfd.readouterr()
    assert PLANTED.decode() not in printed.out + printed.err
    assert PLANTED.decode() not in caplog.text
    runs = [path for path in tmp_path.rglob("*") if path.is_file() and "runs" in path.parts]
    assert any(path.name == "events.jsonl" for path in runs)
    for path in runs:
        assert PLANTED not in path.read_bytes(), path.name


def solved(tmp_path: Path, address: str, question: str = QUESTION, **options: Any) -> Any:
    settings = {"models.graph": "openai:scripted", "models.graph.base_url": address, "sandbox": "monty"}
    settings |= {"loop.max_llm_attempts": 1, "backend": "networkx", **options.pop("settings", {})}
    given: dict[str, Any] = {"env": NO_CONFIG, "folder": tmp_path, "tools": [heights], "runs": tmp_path / "runs"}
    return kgot_core.solve(question, settings=settings, **{**given, **options})


def in_file(tmp_path: Path) -> Mapping[str, Any]:
    config = tmp_path / "config"
    config.mkdir()
    (config / "kgot.toml").write_text(f"[models.graph]\napi_key = '{KEY}'\n")
    return {"env": {"KGOT_CONFIG_DIR": str(config)}}


def in_file_of_its_own(tmp_path: Path) -> Mapping[str, Any]:
    (tmp_path / "key").write_text(KEY)
    return {"env": {**NO_CONFIG, "KGOT_MODELS__GRAPH__API_KEY_FILE": str(tmp_path / "key")}}


WAYS: Mapping[str, Any] = {
    "usual variable": lambda tmp_path: {"env": {**NO_CONFIG, "OPENAI_API_KEY": KEY}},
    "our variable": lambda tmp_path: {"env": {**NO_CONFIG, "KGOT_MODELS__GRAPH__API_KEY": KEY}},
    "code": lambda tmp_path: {"settings": {"models.graph.api_key": KEY}},
    "file": in_file,
    "file of its own": in_file_of_its_own,
}


@pytest.mark.parametrize("way", WAYS)
def test_the_key_of_a_model(way: str, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = WAYS[way](tmp_path)
    if way == "usual variable":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer = solved(tmp_path, server.url, **options)
    assert answer.status == "answered" and PLANTED.decode() not in repr(answer)
    assert server.seen[-1].authorization == f"Bearer {KEY}"


def test_a_key_among_options(server: Any, tmp_path: Path) -> None:
    options = {"models.graph.options": {"default_headers": {"Authorization": f"Bearer {KEY}"}}}
    answer = solved(tmp_path, server.url, settings={**options, "models.graph.api_key": "another-key-1"})
    assert answer.status in ("answered", "failed")


@pytest.mark.parametrize("form", ["http://user:{key}@127.0.0.1:{port}/v1", "http://127.0.0.1:{port}/v1?api_key={key}"])
def test_a_key_within_an_address(form: str, server: Any, tmp_path: Path) -> None:
    port = server.url.split(":")[2].partition("/")[0]
    answer = solved(tmp_path, form.format(key=KEY, port=port), settings={"models.graph.api_key": "another-key-1"})
    assert answer.status in ("answered", "failed") and PLANTED.decode() not in answer.reason


def test_a_key_in_an_object_passed_in_code(server: Any, tmp_path: Path) -> None:
    from langchain_openai import ChatOpenAI

    def tell(place: str) -> str:
        """Tells too much."""
        return f"the key is {KEY}"

    model = ChatOpenAI(model="scripted", base_url=server.url, api_key=KEY, max_retries=0)
    story = Story("tell", {"place": "north"}, compute="NO")
    server.script, before = (lambda payload, index: _reply(story, payload)), server.script
    try:
        answer = solved(tmp_path, server.url, models={"graph": model}, tools=[tell])
    finally:
        server.script = before
    assert answer.status == "answered"
    (folder,) = (tmp_path / "runs").iterdir()
    assert [record["text"] for record in read_records(folder) if record["kind"] == "tool_called"] == [
        "the key is [secret]"
    ]


def _reply(story: Any, payload: Mapping[str, Any]) -> Any:
    from kgot_core.testing.openai_wire import Say, prompt_text

    reply = story.reply(prompt_text(payload))
    return Say("", [(story.tool, story.arguments)]) if reply is None else reply


def test_a_wrong_key_and_an_unreachable_server(server: Any, tmp_path: Path) -> None:
    env = {**NO_CONFIG, "OPENAI_API_KEY": f"wrong-{KEY}"}
    refused = solved(tmp_path, server.url, env=env)
    assert (refused.status == "failed" and "401" in refused.reason) or "key" in refused.reason
    gone = solved(tmp_path, "http://127.0.0.1:1/v1", env=env)
    assert gone.status == "failed" and PLANTED.decode() not in gone.reason + refused.reason


@pytest.mark.parametrize("failing", [True, False])
def test_a_key_in_what_a_tool_says_goes_neither_to_the_record_nor_to_the_model(failing: bool, tmp_path: Path) -> None:
    def leaky(place: str) -> str:
        """Tells too much."""
        text = f"GET https://search.example/?api_key={KEY} gave 401"
        if failing:
            raise ValueError(text)
        return text

    story = Story("leaky", {"place": "north"}, compute="NO")
    model = story.model()
    answer = solved(
        tmp_path,
        "http://127.0.0.1:1/v1",
        models={"graph": model},
        tools=[leaky],
        env={**NO_CONFIG, "SERPAPI_API_KEY": KEY},
    )
    assert answer.status == "answered"
    assert all(PLANTED.decode() not in request.prompt for request in model.requests)
    assert any("api_key=[secret]" in request.prompt for request in model.requests)


def test_a_key_in_the_question_and_in_the_reply(tmp_path: Path) -> None:
    story = quick(parse=f"VALUE: {KEY}\nThe key is {KEY}.")
    answer = solved(
        tmp_path,
        "http://127.0.0.1:1/v1",
        f"{QUESTION} (my key is {KEY})",
        models={"graph": story.model()},
        env={**NO_CONFIG, "MY_TOKEN": KEY},
    )
    assert answer.text == "The key is [secret]."


def test_a_word_that_a_local_server_takes_for_a_key_stays_in_the_text(tmp_path: Path) -> None:
    story = quick(parse="VALUE: ollama\nIt runs on ollama.")
    answer = solved(
        tmp_path,
        "http://127.0.0.1:1/v1",
        models={"graph": story.model()},
        env={**NO_CONFIG, "OPENAI_API_KEY": "ollama"},
    )
    assert answer.text == "It runs on ollama."
