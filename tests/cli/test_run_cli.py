"""``kgot run``: options, answer and progress, exit codes, interrupts."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import runpy
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.run.record.folder import read_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story, _command = runpy.run_path(str(FIXTURES / "story.py")), runpy.run_path(str(FIXTURES / "command.py"))
Story, quick, QUESTION, ANSWER = (_story[name] for name in ("Story", "quick", "QUESTION", "ANSWER"))
kgot, settings_of, program, environment = (_command[name] for name in ("kgot", "settings_of", "program", "environment"))


class Server:
    """A scripted server whose story a test may change."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.url = server.url
        self.tell(Story(compute="NO"))

    def tell(self, story: Any) -> Any:
        from kgot_core.testing.openai_server import Say
        from kgot_core.testing.openai_wire import prompt_text

        def answer(payload: Mapping[str, Any], index: int) -> Any:
            reply = story.reply(prompt_text(payload))
            return Say("", [(story.tool, story.arguments)]) if reply is None else reply

        self.server.script = answer
        self.server.state.seen.clear()
        return story

    def payloads(self) -> list[Mapping[str, Any]]:
        return list(self.server.payloads)


@pytest.fixture(scope="module")
def serving() -> Iterator[Server]:
    from kgot_core.testing.openai_server import OpenAIServer

    with OpenAIServer("", models=("scripted", "other")) as running:
        yield Server(running)


@pytest.fixture
def server(serving: Server) -> Server:
    serving.tell(Story(compute="NO"))
    return serving


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, without the tester's own settings."""
    for name in list(os.environ):
        if name.startswith(("KGOT_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KGOT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def only_run(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("*/events.jsonl")
    return list(read_records(path.parent))


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


def hanging(server: Server, stage: str) -> threading.Event:
    """Lets the server hang at a stage, and gives what tells that it does."""
    from kgot_core.testing.openai_server import Hang

    reached = threading.Event()

    def hang(prompt: str) -> Any:
        reached.set()
        return Hang()

    server.tell(Story(**{stage: hang}, compute="NO") if stage != "compute" else Story(compute=hang))
    return reached


@pytest.mark.skipif(os.name == "nt", reason="these signals are those of Unix")
@pytest.mark.parametrize(("number", "arguments"), [(signal.SIGINT, []), (signal.SIGTERM, ["--json"])])
def test_an_interrupt_ends_the_run_cleanly(
    number: signal.Signals, arguments: list[str], server: Server, folder: Path
) -> None:
    reached = hanging(server, "extract")
    options = settings_of(server.url, sandbox="auto")
    process = program(["run", QUESTION, *arguments, *options], folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert reached.wait(60)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 75, err
    assert "Traceback" not in err
    records = only_run(folder / "runs")
    assert records[-1]["kind"] == "run_finished" and records[-1]["answer"]["status"] == "cancelled"
    assert "tool_called" in [record["kind"] for record in records]
    if arguments:
        assert json.loads(out) == records[-1]["answer"]
    else:
        assert out == "" and "kgot: The run was cancelled" in err


BLOCKING = """
import threading

from langchain_core.language_models import BaseChatModel

class Blocking(BaseChatModel):
    @property
    def _llm_type(self):
        return "blocking"

    def _generate(self, messages, stop=None, run_manager=None, **more):
        print("asked\\n", end="", flush=True)  # in one piece: several threads write
        threading.Event().wait(120)
"""


@pytest.mark.skipif(os.name == "nt", reason="this signal is that of Unix")
def test_an_interrupt_does_not_wait_for_a_model_that_only_blocks(folder: Path) -> None:
    (folder / "blocking.py").write_text(BLOCKING)
    env = environment()
    env["PYTHONPATH"] += os.pathsep + str(folder)
    arguments = ["run", QUESTION, "--quiet", "--model", "import:blocking.Blocking", "--set", "sandbox=monty"]
    process = program(arguments, folder, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 75 and set(out.split()) <= {"asked"}, err
    assert only_run(folder / "runs")[-1]["answer"]["status"] == "cancelled"


@pytest.mark.parametrize("way", ["--set", "variable", "usual variable"])
def test_a_key_is_nowhere(way: str, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-test-ABC123DEF456"
    told = f"print('Alderkop {key}')\nraise ValueError('{key}')"
    server.tell(Story(arguments={"code": told}, repair_code=f"```python\n{told}\n```", compute="NO"))
    options = settings_of(server.url, **({"models.graph.api_key": key} if way == "--set" else {}))
    if way != "--set":
        place = options.index("models.graph.api_key=loopback")
        del options[place - 1 : place + 1]
        name = "OPENAI_API_KEY" if way == "usual variable" else "KGOT_MODELS__GRAPH__API_KEY"
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("KGOT_DEBUG", "1")
    done = kgot("run", QUESTION, "--json", *options)
    assert server.server.seen[-1].authorization == f"Bearer {key}"
    shown = (
        kgot("show", "last").output
        + kgot("show", "last", "--events").output
        + kgot("config", "show", *options[2:]).output
    )
    assert "[secret]" in shown and "ABC123DEF456" not in done.output + shown
    for path in (folder / "runs").rglob("*"):
        assert path.is_dir() or b"ABC123DEF456" not in path.read_bytes(), path


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")
def test_on_a_terminal_the_progress_is_live(server: Server, folder: Path) -> None:
    ours, theirs = pty.openpty()
    process = program(
        ["run", QUESTION, *settings_of(server.url)],
        folder,
        environment(TERM="xterm-256color", COLUMNS="120", LINES="40"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end was closed
        while part := os.read(ours, 4096):
            shown += part
    out, _ = process.communicate(timeout=20)
    os.close(ours)
    text = shown.decode()
    assert (process.returncode, out) == (0, f"{ANSWER}\n")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r"round 1 of 7 · [\w ]+ · \d+ nodes, \d+ edges · [\d,]+ tokens · cost unknown", plain)
    assert "running run_python_code" in plain
    assert "\x1b[2K" in text  # the status line is drawn anew
    assert "answered by voted query: 1 round, " in plain


def test_an_answer_that_the_terminal_cannot_write_is_no_fault(server: Server, folder: Path) -> None:
    server.tell(Story(parse="VALUE: x\nHuascarán → 6768 m", compute="NO"))
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    process = program(
        ["run", QUESTION, *settings_of(server.url)], folder, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in err, err
    assert out.startswith("Huascar") and "6768 m" in out
