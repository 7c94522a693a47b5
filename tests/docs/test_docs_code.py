"""The examples of the pages run as they stand; only the model's replies are scripted."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.testing.openai_server import OpenAIServer, Say

ROOT = Path(__file__).parents[2]
STORY: Mapping[str, Any] = runpy.run_path(str(ROOT / "tests/fixtures/library/story.py"))
PAGES = ("README.md", *(f"docs/{name}.md" for name in ("library", "models", "writing-a-plugin", "architecture")))
VALUE = '```json\n{"higher": "Alderkop", "metres": 250}\n```'
COLOUR = '```python r1\nG.add_node("#ff0000", label="Colour", name="RESULT")\n```'
NAMED = 'SOLVE\nThe name is there.\n```python\nresult = G.nodes["#ff0000"]["name"]\n```'


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def examples() -> list[Any]:
    found = [(page, number, code) for page in PAGES for number, code in enumerate(blocks(page, "python"))]
    return [
        pytest.param(code, id=f"{page}-{number}") for page, number, code in found if not code.startswith("# colours.py")
    ]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs Python in an empty folder of a user whose model is a scripted server."""
    story = STORY["Story"](
        decide=lambda prompt: STORY["SOLVE"] if '"Alderkop" :Hill' in prompt else STORY["ENHANCE"],
        parse=lambda prompt: VALUE if "<json_schema>" in prompt else STORY["PARSE"],
    )

    def answer(payload: Mapping[str, Any], index: int) -> Any:
        reply = story.reply("\n".join(str(message["content"]) for message in payload["messages"]))
        return Say("", [(story.tool, story.arguments)]) if reply is None else reply

    shutil.copy(ROOT / "kgot_core/demo/summits.csv", tmp_path / "summits.csv")
    (tmp_path / "hills.csv").write_text("hill,height_m\nAlderkop,700\nBirkfell,450\n", "utf-8")

    def run(*arguments: str, **replies: Any) -> subprocess.CompletedProcess[str]:
        story._replies.update(replies)
        env = {
            "PATH": os.environ["PATH"],
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "loopback",
            "KGOT_MODELS__GRAPH": "openai:scripted",
            "KGOT_CONFIG_DIR": str(tmp_path / "none"),
        }
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )

    run.story = story  # type: ignore[attr-defined]
    with OpenAIServer(answer) as server:
        yield run


@pytest.mark.parametrize("code", examples())
def test_an_example_runs(code: str, program: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = program("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "25" in done.stdout, "an example prints the answer, which is 250"


@pytest.fixture
def colours(tmp_path: Path) -> Path:
    (code,) = [code for code in blocks("docs/writing-a-plugin.md", "python") if code.startswith("# colours.py")]
    file = tmp_path / "colours.py"
    file.write_text(code, "utf-8")
    return file


@pytest.mark.parametrize(("palette", "name"), [("plain", "red"), ("fine", "signal red")])
def test_the_tool_of_the_page_is_loaded_from_its_file_and_called(
    palette: str, name: str, colours: Path, program: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    story: Any = program.story  # type: ignore[attr-defined]
    story.tool, story.arguments = "name_colour", {"code": "#FF0000"}
    done = program(
        "-m", "kgot_core", "run", "--plugin", colours.name, "--set", f"tools.name_colour.palette={palette}", "--json",
        "--quiet", "What is the colour #ff0000 called?",
        decide=lambda prompt: NAMED if "#ff0000\" :Colour" in prompt else STORY["ENHANCE"],
        extract=lambda prompt: COLOUR.replace("RESULT", name if f"\n{name}\n</result>" in prompt else "lost"),
        compute="NO",
        parse=lambda prompt: f"VALUE: {name}\nIt is called {name}." if name in prompt else "NONE",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["text"], answer["how"]) == (f"It is called {name}.", "voted query")


def test_a_setting_of_the_tool_that_is_wrong_leaves_it_out(
    colours: Path, program: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = program(
        "-m", "kgot_core", "run", "--plugin", colours.name, "--set", "tools.name_colour.palette=loud", "How high?"
    )
    assert "there is no palette loud" in done.stderr
    assert done.returncode == 0, done.stderr


def test_the_package_of_the_page_is_found_by_itself(colours: Path, tmp_path: Path) -> None:
    (text,) = blocks("docs/writing-a-plugin.md", "toml")
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    wheels = tmp_path / "wheels"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    (wheel,) = wheels.glob("*.whl")
    installed = tmp_path / "installed"
    shutil.unpack_archive(wheel, installed, "zip")
    colours.unlink()
    done = subprocess.run(
        [sys.executable, "-m", "kgot_core", "plugins", "list", "--json"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(installed)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    (plugin,) = [plugin for plugin in json.loads(done.stdout) if plugin["distribution"] == "kgot-colours"]
    assert plugin["state"] == "ok", plugin["message"]
    assert [provider["name"] for provider in plugin["providers"]] == ["name_colour"]


@pytest.mark.parametrize("page", ["README.md", "docs/models.md"])
def test_settings_files_of_the_pages_are_accepted(page: str, tmp_path: Path) -> None:
    for text in blocks(page, "toml"):
        assert text.startswith("# kgot.toml")
        (tmp_path / "kgot.toml").write_text(text, "utf-8")
        # The user's own folder, so that every key may be set.
        env = {"PATH": os.environ["PATH"], "KGOT_CONFIG_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", "kgot_core", "config", "show"],
            cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("kgot.toml") >= len(_leaves(tomllib.loads(text)))


def _leaves(table: Mapping[str, Any]) -> list[Any]:
    return [leaf for value in table.values() for leaf in (_leaves(value) if isinstance(value, dict) else [value])]


SQL_WRITE = """```sql r1
INSERT OR IGNORE INTO node (name, label, facts) VALUES ('Alderkop', 'Hill', '{"height_m": 700}'),
  ('Birkfell', 'Hill', '{"height_m": 450}');
INSERT OR IGNORE INTO edge (source, type, target) VALUES ('Alderkop', 'HIGHER_THAN', 'Birkfell');
```"""
SQL_SOLVE = (
    "SOLVE\nBoth hills are there.\n```sql\nSELECT name, json_extract(facts, '$.height_m') AS height FROM node\n```"
)


@pytest.mark.parametrize("form", ["statements", "facts"])
def test_the_backend_in_one_file_answers_a_question(
    form: str, program: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = program(
        "-m", "kgot_core", "run", "--plugin", str(ROOT / "examples/kgot-sqlite/kgot_sqlite.py"), "--backend", "sqlite",
        "--quiet", "--json", "--set", f"extract.form={form}", "How much higher is Alderkop than Birkfell?",
        decide=lambda prompt: SQL_SOLVE if '"Alderkop" :Hill height_m=700' in prompt else STORY["ENHANCE"],
        extract=SQL_WRITE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["text"], answer["how"]) == (STORY["ANSWER"], "voted query")
    (events,) = tmp_path.glob("runs/*/events.jsonl")
    written = [record for line in events.open("rb") if (record := json.loads(line))["kind"] == "graph_written"]
    assert {record["form"] for record in written} == {"statements" if form == "statements" else "elements"}
    assert not any(record["error"] for record in written)
