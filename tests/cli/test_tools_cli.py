"""``kgot tools``: what a run may use, and one tool by hand."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
kgot = runpy.run_path(str(FIXTURES / "command.py"))["kgot"]
MONTY = ("--set", "sandbox=monty")
PLUGIN = '''
from dataclasses import dataclass
from kgot_core.hookspecs import hookimpl
from kgot_core.contracts.tools import ToolPart
from kgot_core.providers import Problem, ToolProvider

def create(settings, context):
    from langchain_core.tools import tool

    @tool
    def add(numbers: list[int], unit: str = "m") -> str:
        """Adds numbers. Example: {"numbers": [1, 2]}."""
        return f"{sum(numbers)} {unit}"

    @tool
    def trip(word: str) -> str:
        """Fails. Example: {"word": "x"}."""
        raise ValueError(f"tripped over {word}")

    @tool
    async def ask_add(numbers: list[int]) -> str:
        """Lets another tool add. Example: {"numbers": [1, 2]}."""
        return f"{'add' in context.tools}: {(await context.call('add', {'numbers': numbers})).text}"

    return [add, trip, ask_add]

@hookimpl
def kgot_tools():
    return [ToolProvider(name="sums", summary="Adds.", create=create, default=False),
            ToolProvider(name="far", summary="Far.", create=create,
                         check=lambda s: Problem("no key is set", "set far.key"),
                         parts=lambda s: [ToolPart("never", "asked")]),
            ToolProvider(name="many", summary="Many.", create=create,
                         parts=lambda s: [ToolPart("near", "2 tools"),
                                          ToolPart("gone", problem="it is gone", hint="go")]),
            ToolProvider(name="torn", summary="Torn.", create=create, parts=lambda s: 1 / 0)]
'''


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "own.py").write_text(PLUGIN)
    return folder


def test_every_tool_is_listed_with_its_state() -> None:
    rows = {row["tool"]: row for row in json.loads(kgot("tools", "list", "--json", "--plugin", "own.py").stdout)}
    assert rows["ask_llm"]["package"] == "kgot-core" and rows["ask_llm"]["state"] == "ready"
    assert rows["sums"]["state"] == "by name only"
    assert (rows["far"]["state"], rows["far"]["about"]) == ("not ready", "no key is set (set far.key)")
    lines = [line.split() for line in kgot("tools", "list").stdout.splitlines()]
    assert ["run_python_code", "kgot-core", "ready"] in [line[:3] for line in lines]


def test_each_place_that_tools_come_from_is_told_and_none_ends_the_command() -> None:
    rows = {row["tool"]: row for row in json.loads(kgot("tools", "list", "--json", "--plugin", "own.py").stdout)}
    shown = {
        name: (row["state"], row["about"]) for name, row in rows.items() if name.startswith(("far", "many", "torn"))
    }
    assert shown == {
        "far": ("not ready", "no key is set (set far.key)"),
        "many": ("ready", "Many."),
        "many near": ("ready", "2 tools"),
        "many gone": ("not ready", "it is gone"),
        "torn": ("ready", "Torn."),
        "torn its parts": ("not ready", "they cannot be looked at: ZeroDivisionError: division by zero"),
    }
    found = {item["what"]: item for item in json.loads(kgot("doctor", "--json", "--plugin", "own.py").stdout)}
    assert (found["tool many near"]["state"], found["tool many near"]["message"]) == ("ok", "2 tools")
    assert (found["tool many gone"]["state"], found["tool many gone"]["hint"]) == ("note", "go")
    assert found["tool torn its parts"]["state"] == "note"


def test_a_tool_called_by_hand_gives_its_text_and_needs_no_model(folder: Path) -> None:
    (folder / "hills.csv").write_text("Alderkop,700\n")
    code = "print(open('hills.csv').read())"
    done = kgot("tools", "call", "run_python_code", f"code={code}", "--file", "hills.csv", *MONTY)
    assert (done.exit_code, done.stdout) == (0, "Alderkop,700\n"), done.stderr
    assert done.stderr == "source: hills.csv\n"


def test_a_tool_called_by_hand_reaches_what_the_user_opens_and_nothing_else(folder: Path) -> None:
    (folder / "reports").mkdir()
    for place in ("reports/dues.txt", "beside.txt"):
        (folder / place).write_text("Harbour dues of 1952: 40\n")
    found = kgot("tools", "call", "search_files", "query=dues", "--folder", "reports", *MONTY)
    assert found.exit_code == 0 and 'file="dues.txt"' in found.stdout and "beside.txt" not in found.stdout, found.stderr
    read = ("tools", "call", "inspect_file", f"path={folder / 'beside.txt'}", *MONTY)
    assert kgot(*read, "--folder", "reports").exit_code == 1
    assert "dues of 1952" in kgot(*read, "--allow-path", "beside.txt").stdout


def test_arguments_are_typed_by_the_tools_schema() -> None:
    done = kgot("tools", "call", "add", "numbers=[1, 2]", "unit=3", "--json", "--plugin", "own.py", *MONTY)
    data = json.loads(done.stdout)
    assert (done.exit_code, data["text"], data["failed"], data["usage"]["requests"]) == (0, "3 3", False, 0)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["add", "numbers=many"], 2, "numbers takes a JSON value, for example 3, true or [1, 2], not 'many'"),
        (["add", "numbers"], 2, "an argument is given as KEY=VALUE, not 'numbers'"),
        (["add"], 2, "'numbers' is a required property\n      its arguments: numbers, unit"),
        (["ad", "numbers=[1]"], 2, "there is no tool 'ad'; did you mean add?"),
        (["far", "numbers=[1]"], 2, "the tool far is not ready: no key is set (set far.key)"),
        (["trip", "word=it"], 1, "tripped over it"),
        (["ask_llm", "question=Why?"], 1, "no model is set"),
        (["search_files", "query=x"], 2, "it needs: a folder that is open (--folder) or several attachments"),
    ],
)
def test_what_goes_wrong_is_one_clear_line(arguments: list[str], code: int, said: str) -> None:
    done = kgot("tools", "call", *arguments, "--plugin", "own.py", *MONTY)
    assert done.exit_code == code and said in done.stderr and not done.stdout
    assert "Traceback" not in done.output


def test_a_tool_by_hand_may_call_the_others_as_in_a_run() -> None:
    done = kgot("tools", "call", "ask_add", "numbers=[1, 2]", "--plugin", "own.py", *MONTY)
    assert (done.exit_code, done.stdout.strip()) == (0, "True: 3 m"), done.stderr
