"""``kgot graph ask``, ``kgot run --graph`` and ``--keep-graph``."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgot_core.graph.elements import GraphSnapshot, Node, snapshot_to_json

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
Story, QUESTION, ANSWER = (_story[name] for name in ("Story", "QUESTION", "ANSWER"))
kgot, settings_of = (_command[name] for name in ("kgot", "settings_of"))
HILLS = GraphSnapshot(
    tuple(
        Node(f"n{number}", ("Hill",), {"name": name, "height_m": metres}, key=name)
        for number, (name, metres) in enumerate((("Alderkop", 700), ("Birkfell", 450)), 1)
    )
)


@pytest.fixture
def story() -> Any:
    return Story(compute="NO")


@pytest.fixture
def server(story: Any) -> Iterator[Any]:
    with story.server() as running:
        yield running


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    """A folder with a graph, without the tester's own settings."""
    (folder / "hills.json").write_text(json.dumps(snapshot_to_json(HILLS)))
    return folder


def test_a_file_is_asked(server: Any, story: Any, folder: Path) -> None:
    done = kgot("graph", "ask", "hills.json", QUESTION, *settings_of(server.url))
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
    assert set(story.asked) == {"retrieve", "compute", "parse"}
    lines = done.stderr.splitlines()
    assert "  graph given: 2 added; now 2 nodes and 0 edges" in lines
    assert any(line.startswith("answered by forced query: 0 rounds") for line in lines)
    (run,) = (folder / "runs").iterdir()
    assert lines[-1] == f"kept in {run}"
    (folder / "hills.json").unlink()
    assert kgot("replay", "last").stdout.startswith("equal: ")
    shown = kgot("show", "last").stdout
    assert "Alderkop" in shown and ANSWER in shown


def test_the_graph_of_a_run_is_asked_with_the_options_of_a_run(server: Any, story: Any) -> None:
    assert kgot("run", QUESTION, "--quiet", *settings_of(server.url)).exit_code == 0
    story.asked.clear()
    options = ("--solver", "direct", "--format", "gaia", "--json", "--quiet")
    done = kgot("graph", "ask", "last", "-", *options, *settings_of(server.url), given=QUESTION)
    answer = json.loads(done.stdout)
    assert done.exit_code == 0 and (answer["how"], answer["text"]) == ("forced direct", "250"), done.stderr
    assert {tuple(item["sources"]) for item in answer["evidence"]} == {("graph",)}
    assert set(story.asked) == {"direct", "compute", "parse"}


def test_what_the_graph_does_not_hold(server: Any, story: Any) -> None:
    story._replies |= {"retrieve": "```python\nresult = []\n```", "direct": "MISSING"}
    done = kgot("graph", "ask", "hills.json", QUESTION, "--quiet", *settings_of(server.url))
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "kgot: No solution found: the graph gave no answer\n"


def test_a_run_starts_from_a_graph_and_adds_to_it(server: Any, story: Any) -> None:
    done = kgot("run", QUESTION, "--graph", "hills.json", "--json", "--quiet", *settings_of(server.url))
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["how"], answer["iterations"]) == (0, "voted query", 0)
    again = kgot("run", QUESTION, "--graph", answer["run"], "--quiet", *settings_of(server.url))
    assert (again.exit_code, again.stdout) == (0, f"{ANSWER}\n"), again.stderr


def test_a_run_that_is_kept_elsewhere_starts_from_one_that_lies_where_runs_usually_do(
    server: Any, folder: Path
) -> None:
    options = ("--quiet", "--json", *settings_of(server.url))
    first = json.loads(kgot("run", QUESTION, *options).stdout)["run"]
    for name in ("last", first, first[:-2]):
        done = kgot("run", QUESTION, "--graph", name, "--out", f"elsewhere/{len(name)}", *options)
        answer = json.loads(done.stdout)
        assert (done.exit_code, answer["iterations"]) == (0, 0), done.stderr
        assert [path.name for path in (folder / "elsewhere" / str(len(name))).iterdir()] == [answer["run"]]
    asked = kgot("graph", "ask", "last", QUESTION, "--out", "elsewhere/4", *options)
    assert asked.exit_code == 0, asked.stderr
    assert {path.name for path in (folder / "runs").iterdir()} == {first}
    lost = kgot("run", QUESTION, "--graph", "x", "--out", "elsewhere/4", *options)
    assert lost.exit_code == 2
    assert f"there is no run 'x' in {folder}/elsewhere/4 or {folder}/runs" in lost.stderr, lost.stderr


def test_a_folder_of_rdf_graphs_is_kept_and_asked(server: Any, story: Any, folder: Path) -> None:
    query = "```sparql\nSELECT ?hill ?metres { ?hill :height_m ?metres }\n```"
    story._replies |= {
        "decide": lambda prompt: f"SOLVE\n{query}" if "700" in prompt else _story["ENHANCE"],
        "extract": "```sparql r1\nINSERT DATA { :Alderkop :height_m 700 . :Birkfell :height_m 450 }\n```",
        "retrieve": query,
    }
    options = settings_of(server.url, **{"backends.rdf.folder": "graphs"})
    options[options.index("networkx")] = "rdf"
    kept = ("--keep-graph", "--graph-name", "hills")
    assert kgot("run", QUESTION, *kept, "--quiet", *options).exit_code == 0
    story.asked.clear()
    second = kgot("run", QUESTION, *kept, *options)
    assert second.exit_code == 0 and "extract" not in story.asked
    assert "the store holds 2 nodes and 0 edges" in second.stderr.splitlines()
    asked = kgot("graph", "ask", "--stored", "--graph-name", "hills", QUESTION, "--quiet", *options)
    assert (asked.exit_code, asked.stdout) == (0, f"{ANSWER}\n"), asked.stderr
    missing = kgot("graph", "ask", "--stored", "--graph-name", "rivers", QUESTION, "--quiet", *options)
    assert missing.exit_code == 1 and "graphs there: hills" in missing.stderr and missing.stderr.count("\n") == 2
    assert [path.name for path in (folder / "graphs").iterdir()] == ["hills"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("graph", "ask"), "no graph is named"),
        (("graph", "ask", "nowhere.json", QUESTION), "nowhere.json"),
        (("graph", "ask", "hills.json"), "the question is empty"),
        (("graph", "ask", "--stored", QUESTION), "networkx has no graph to go on with"),
        (("graph", "ask", "--stored", "hills.json", QUESTION), "beside --stored"),
        (("graph", "ask", "hills.json", QUESTION, "--graph-name", "x"), "--graph-name"),
        (("run", QUESTION, "--keep-graph"), "--graph RUN"),
        (("run", QUESTION, "--graph-name", "x"), "--keep-graph"),
        (("run", QUESTION, "--graph", "nowhere"), "there is no run 'nowhere'"),
        (("run", QUESTION, "--strategy", "ask_graph"), "there is no graph to ask"),
    ],
)
def test_wrong_usage_is_told_before_anything_happens(
    arguments: tuple[str, ...], said: str, server: Any, story: Any, folder: Path
) -> None:
    done = kgot(*arguments, *settings_of(server.url), given="")
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert not story.asked and not (folder / "runs").exists()
