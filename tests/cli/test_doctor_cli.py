"""``kgot doctor``: what works here, what is missing, how to get it."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
kgot = runpy.run_path(str(FIXTURES / "command.py"))["kgot"]
KEY = "sk-test-ABC123DEF456"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    from kgot_core.testing.openai_server import OpenAIServer

    with OpenAIServer("fine", key=KEY) as running:
        yield running


def findings(*arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    done = kgot("doctor", "--json", *arguments)
    assert KEY not in done.output and "Traceback" not in done.output
    return done.exit_code, {item["what"]: item for item in json.loads(done.stdout)}


def of_model(address: str, key: str = KEY) -> list[str]:
    values = {"models.graph": "openai:scripted", "models.graph.base_url": address, "models.graph.api_key": key}
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


def test_a_model_that_answers(server: Any) -> None:
    code, found = findings(*of_model(server.url))
    assert code == 0
    assert found["model openai:scripted"]["state"] == "ok"
    assert found["plugin kgot-core"]["state"] == "ok" and found["backend networkx"]["state"] == "ok"
    assert found["sandbox"]["message"].startswith("bwrap" if shutil.which("bwrap") else "monty")
    assert found["runs_dir"]["state"] == "ok"
    assert not server.seen  # it costs no tokens


def test_no_model(folder: Path) -> None:
    code, found = findings()
    assert code == 1
    assert found["model"] == {
        "what": "model",
        "state": "missing",
        "message": "none is set",
        "hint": "kgot run --model openai:gpt-4o-mini, or set models.graph in kgot.toml",
    }


def test_no_key(folder: Path) -> None:
    code, found = findings("--set", "models.graph=openai:gpt-4o-mini")
    item = found["model openai:gpt-4o-mini"]
    assert code == 1 and item["state"] == "missing" and "OPENAI_API_KEY" in item["hint"]


def test_a_wrong_key(server: Any) -> None:
    code, found = findings(*of_model(server.url, "wrong-key-1234"))
    item = found["model openai:scripted"]
    assert code == 1 and item["state"] == "missing" and "key" in item["message"] + item["hint"]
    assert "wrong-key-1234" not in str(item)


def test_a_server_that_is_not_there(folder: Path) -> None:
    code, found = findings(*of_model("http://127.0.0.1:1/v1"))
    item = found["model openai:scripted"]
    assert code == 1 and item["state"] == "missing" and "127.0.0.1:1" in item["message"]


@pytest.mark.parametrize("name", ["nonsense", "openai", "nobody:model", "import:no.such:thing"])
def test_a_model_that_is_misnamed(name: str) -> None:
    code, found = findings("--set", f"models.graph={name}")
    assert code == 1
    (item,) = (item for what, item in found.items() if what.startswith("model"))
    assert item["state"] == "missing" and item["message"]


def test_a_role_of_its_own_is_looked_at_too(server: Any) -> None:
    code, found = findings(*of_model(server.url), "--set", "models.tool=import:no.such:thing")
    assert code == 1 and found["model openai:scripted"]["state"] == "ok"
    assert found["model import:no.such:thing"]["state"] == "missing"


def test_an_embedding_model_is_looked_at_too(folder: Path, server: Any) -> None:
    (folder / "own.py").write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ModelProvider\n"
        "@hookimpl\ndef kgot_models():\n"
        "    return [ModelProvider(name='chat', summary='Chats.', open=lambda settings, spec: None)]\n"
    )
    code, found = findings(*of_model(server.url), "--plugin", "own.py", "--set", "models.embedding=chat:m")
    assert code == 1 and "has no embedding models" in found["model chat:m"]["message"]


def test_lines_for_a_person(server: Any) -> None:
    done = kgot("doctor", *of_model(server.url, "wrong-key-1234"))
    lines = done.stdout.splitlines()
    assert done.exit_code == 1
    place = next(number for number, line in enumerate(lines) if line.startswith("missing  model openai:scripted: "))
    assert lines[place + 1].startswith("         ")
    assert "ok       backend networkx: ready" in lines


def test_a_plugin_that_is_broken_and_one_whose_check_fails_stop_nothing(folder: Path, server: Any) -> None:
    (folder / "own.py").write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ToolProvider, SandboxProvider\n"
        "def create(settings, context): return []\n"
        "def fail(settings): raise SystemExit('no camera')\n"
        "@hookimpl\ndef kgot_tools():\n"
        "    return [ToolProvider(name='photo', summary='Looks.', create=create, check=fail)]\n"
        "@hookimpl\ndef kgot_sandboxes():\n"
        "    return [SandboxProvider(name='box', summary='A box.', open=fail, check=fail, rank=0)]\n"
    )
    code, found = findings(*of_model(server.url), "--plugin", "own.py")
    assert code == 0
    assert found["tool photo"]["state"] == found["sandbox box"]["state"] == "note"
    assert "no camera" in found["tool photo"]["message"]


def test_a_runs_folder_that_cannot_be_written(folder: Path, server: Any) -> None:
    (folder / "file").write_text("mine")
    code, found = findings(*of_model(server.url), "--set", "runs_dir=file")
    assert code == 1 and found["runs_dir"]["state"] == "missing" and "--out" in found["runs_dir"]["hint"]


def test_a_wrong_setting_is_refused_like_everywhere() -> None:
    done = kgot("doctor", "--set", "loop.max_iteratoins=3")
    assert done.exit_code == 2 and "max_iterations" in done.stderr
