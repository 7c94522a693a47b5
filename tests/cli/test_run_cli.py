"""``kgot run``: options, answer and exit codes."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
Story, QUESTION, ANSWER = _story["Story"], _story["QUESTION"], _story["ANSWER"]
_serving = runpy.run_path(str(FIXTURES / "serving.py"))
Server, serving, server = _serving["Server"], _serving["serving"], _serving["server"]
folder, only_run = _serving["folder"], _serving["only_run"]
kgot, settings_of = _command["kgot"], _command["settings_of"]


def test_the_answer_alone_is_on_standard_output(server: Server, folder: Path) -> None:
    done = kgot("run", QUESTION, *settings_of(server.url))
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n")
    lines = done.stderr.splitlines()
    assert lines[0] == f"question: {QUESTION}"
    assert "round 1 of 7" in lines
    assert any(line.startswith("  vote: enhance (enhance 5)") for line in lines)
    assert any(line.startswith("  tool run_python_code(") for line in lines)
    assert any(re.match(r"  graph: 3 added; now 2 nodes and 1 edge$", line) for line in lines)
    assert re.match(r"answered by voted query: 1 round, \d+ requests, [\d,]+ tokens, cost unknown$", lines[-2])
    (run,) = (folder / "runs").iterdir()
    assert lines[-1] == f"kept in {run}"
    assert "\x1b" not in done.stderr


def test_quiet_shows_nothing_but_the_answer(server: Server) -> None:
    done = kgot("run", QUESTION, "--quiet", *settings_of(server.url))
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"{ANSWER}\n", "")


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_question_from_standard_input(arguments: list[str], server: Server, folder: Path) -> None:
    done = kgot("run", *arguments, "--quiet", *settings_of(server.url), given=f"\ufeff{QUESTION}\n")
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n")
    assert only_run(folder / "runs")[0]["question"] == QUESTION


def test_the_whole_answer_as_json(server: Server, folder: Path) -> None:
    done = kgot("run", QUESTION, "--json", *settings_of(server.url))
    answer = json.loads(done.stdout)
    assert answer["text"] == ANSWER and answer["status"] == "answered" and answer["how"] == "voted query"
    assert answer == json.loads((folder / "runs" / answer["run"] / "answer.json").read_text("utf-8"))


def test_files_options_and_settings_reach_the_run(server: Server, folder: Path) -> None:
    server.tell(Story(arguments={"code": "print(open('hills.csv').read())"}, parse="VALUE: 250", compute="NO"))
    (folder / "hills.csv").write_text("Alderkop,700\nBirkfell,450\n")
    done = kgot(
        *("run", QUESTION, "--file", "hills.csv", "--max-iterations", "3", "--format", "gaia", "--solver", "query"),
        *("--strategy", "kgot", "--voter", "majority", "--tool-model", "openai:other", "--out", "kept"),
        *("--without-tool", "ask_llm", "--quiet"),
        *settings_of(server.url, **{"models.tool.base_url": server.url, "loop.num_next_steps_decision": 3}),
    )
    assert (done.exit_code, done.stdout) == (0, "250\n"), done.stderr
    records = only_run(folder / "kept")
    assert records[0]["files"][0]["name"] == "hills.csv"
    assert next(record["limit"] for record in records if record["kind"] == "iteration_started") == 3
    opening = next(record for record in records if record["kind"] == "tools_opened")
    names = {spec["name"] for spec in opening["specs"]}
    assert "run_python_code" in names and "ask_llm" not in names
    called = next(record for record in records if record["kind"] == "tool_called")
    assert called["text"] == "Alderkop,700\nBirkfell,450"
    models = {payload["model"]: payload.get("n", 1) for payload in reversed(server.payloads())}
    assert models == {"scripted": 3, "other": 1}


def test_a_run_within_its_caps_keeps_to_them(server: Server, folder: Path) -> None:
    # The core's own tools: what else is installed would take a part of each request.
    caps = ("--max-cost", "0.5", "--max-tokens", "9000", "--deadline", "10m")
    tools = ("--tool", "ask_llm", "--tool", "run_python_code")
    prices = {"models.graph.input_price": 30, "models.graph.output_price": 30}
    server.tell(Story(decide=_story["ENHANCE"]))
    done = kgot("run", QUESTION, *caps, *tools, "--json", *settings_of(server.url, **prices))
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["status"], answer["how"]) == (0, "capped", "forced query"), done.stderr
    assert answer["reason"].startswith("stopped at max_") and answer["cost"] <= 0.5
    plan = only_run(folder / "runs")[0]["plan"]["settings"]
    assert "600" in json.dumps(plan) and "a cap is reached" in done.stderr


def test_one_tool_alone(server: Server, folder: Path) -> None:
    assert kgot("run", QUESTION, "--tool", "run_python_code", "--quiet", *settings_of(server.url)).exit_code == 0
    opening = next(record for record in only_run(folder / "runs") if record["kind"] == "tools_opened")
    assert [spec["name"] for spec in opening["specs"]] == ["run_python_code"]


def test_the_direct_solver(server: Server) -> None:
    decide = lambda prompt: _story["SOLVE_DIRECT"] if "Alderkop" in prompt else _story["ENHANCE"]  # noqa: E731
    server.tell(Story(decide=decide, compute="NO"))
    done = kgot("run", QUESTION, "--solver", "direct", "--json", *settings_of(server.url))
    assert json.loads(done.stdout)["how"] == "voted direct"


def test_a_schema_gives_a_value(server: Server, folder: Path) -> None:
    server.tell(Story(parse='{"metres": 250}', compute="NO"))
    schema = {"type": "object", "properties": {"metres": {"type": "integer"}}, "required": ["metres"]}
    (folder / "schema.json").write_text(json.dumps(schema))
    done = kgot("run", QUESTION, "--schema", "schema.json", "--json", *settings_of(server.url))
    assert json.loads(done.stdout)["value"] == {"metres": 250}


def test_no_solution_has_a_code_of_its_own(server: Server) -> None:
    server.tell(Story(parse="NONE", compute="NO"))
    done = kgot("run", QUESTION, "--quiet", *settings_of(server.url))
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "kgot: No solution found: the findings do not answer the task\n"
    as_json = kgot("run", QUESTION, "--json", "--quiet", *settings_of(server.url))
    assert as_json.exit_code == 3 and json.loads(as_json.stdout)["status"] == "no_solution"


def test_a_run_that_is_not_sure_enough_says_that_it_does_not_know(server: Server) -> None:
    story = server.tell(Story(compute="NO"))
    server.server.script = _one_by_one(story)
    asked = ("run", QUESTION, "--quiet", "--abstain-below", "0.6", *settings_of(server.url))
    done = kgot(*asked)
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "kgot: I do not know: the agreement of 0.33 is below 0.6: 1 of 3 parses agree\n"
    as_json = json.loads(kgot(*asked, "--json").stdout)
    assert as_json["status"] == "abstained" and round(as_json["agreement"], 2) == 0.33
    assert kgot("run", QUESTION, "--quiet", *settings_of(server.url)).exit_code == 0


def _one_by_one(story: Any) -> Any:
    """Gives each of several parses in one request a reply of its own."""
    from kgot_core.testing.openai_server import Say
    from kgot_core.testing.openai_wire import prompt_text

    def answer(payload: Mapping[str, Any], index: int) -> Any:
        prompt = prompt_text(payload)
        if "You give the final answer" in prompt:
            return [f"VALUE: {250 + number}" for number in range(payload["n"])]
        reply = story.reply(prompt)
        return Say("", [(story.tool, story.arguments)]) if reply is None else reply

    return answer


def test_a_failed_run_has_a_code_of_its_own(server: Server) -> None:
    from kgot_core.testing.openai_server import HttpError

    server.server.script = lambda payload, index: HttpError(500, "out of order")
    done = kgot("run", QUESTION, "--quiet", *settings_of(server.url))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("kgot: The run failed: ") and "out of order" in done.stderr
    assert done.stderr.splitlines()[1:] == [f"      to go on with it: kgot resume {next(Path('runs').iterdir())}"]


OWN = '''
from dataclasses import dataclass, field

from kgot_core.contracts.backend import GraphBackend
from kgot_core.hookspecs import hookimpl
from kgot_core.providers import BackendProvider, ToolProvider


@dataclass(frozen=True)
class SurveySettings:
    unit: str = field(default="m", metadata={"help": "unit of heights"})


def create(settings, context):
    from langchain_core.tools import tool

    @tool
    def survey(place: str) -> str:
        """Measures hills."""
        return f"Alderkop 700 {settings.unit}, Birkfell 450 {settings.unit}, for {len(context.question)} letters"

    return [survey]


def open_paper(settings, context):
    from kgot_networkx.backend import NetworkxBackend
    from kgot_networkx.settings import NetworkxSettings

    class Paper(NetworkxBackend):
        """A graph on paper."""

    return Paper(NetworkxSettings(), context)


@hookimpl
def kgot_tools():
    return [ToolProvider(name="survey", summary="Measures.", settings=SurveySettings, create=create)]


@hookimpl
def kgot_graph_backends():
    return [BackendProvider(name="paper", summary="Paper.", open=open_paper)]
'''


def test_an_own_tool_and_an_own_backend_in_one_file(server: Server, folder: Path) -> None:
    server.tell(Story("survey", {"place": "north"}, compute="NO"))
    (folder / "own.py").write_text(OWN)
    options = settings_of(server.url, **{"tools.survey.unit": "metres"})
    options[options.index("networkx")] = "paper"
    done = kgot("run", QUESTION, "--plugin", "own.py", *options)
    assert (done.exit_code, done.stdout) == (0, f"{ANSWER}\n"), done.stderr
    records = only_run(folder / "runs")
    assert records[0]["plan"]["backend"] == "paper"
    (called,) = (record for record in records if record["kind"] == "tool_called")
    assert called["text"].startswith("Alderkop 700 metres, Birkfell 450 metres")


@pytest.mark.parametrize("option", ["--backend", "--solver"])
def test_a_second_backend_or_solver_is_refused_for_now(option: str, server: Server) -> None:
    first = {"--backend": ["--backend", "networkx"], "--solver": ["--solver", "query", "--solver", "direct"]}[option]
    done = kgot("run", QUESTION, *settings_of(server.url), *first)
    assert done.exit_code == 2 and "fusion" in done.stderr and not server.payloads()
