"""The command line itself: what it loads, how it fails, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

import kgot_core
from kgot_core.cli import main
from kgot_core.cli.group import LazyGroup
from kgot_core.cli.table import COMMANDS, GROUPS, Row
from kgot_core.errors import KgotError, ModelError, PluginError, UsageError

ROOT = str(Path(kgot_core.__file__).parents[1])
ENV = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": ROOT, "KGOT_CONFIG_DIR": "/nonexistent"}
HEAVY = {"pluggy", "pydantic", "langchain", "langchain_core", "asyncio", "networkx", "rich", "httpx", "jsonschema"}
DRIVERS = {
    "langchain",
    "langchain_core",
    "langchain_openai",
    "langchain_ollama",
    "networkx",
    "neo4j",
    "openai",
    "httpx",
}

REPORT = """
import atexit, sys
atexit.register(lambda: print("LOADED", *sys.modules, file=sys.stderr))
from kgot_core.cli import main
main()
"""


def loaded(folder: Path, *arguments: str, **env: str) -> set[str]:
    """Runs the program and gives the top-level modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *arguments],
        cwd=folder, env={**ENV, **env}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("LOADED")]
    return {name.partition(".")[0] for name in line.split()}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["plugins", "--help"], ["config", "show", "--help"]])
def test_help_loads_next_to_nothing(arguments: list[str], tmp_path: Path) -> None:
    assert not loaded(tmp_path, *arguments) & HEAVY


def test_completion_loads_next_to_nothing(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "completion", "zsh") & HEAVY
    asked = {"_KGOT_COMPLETE": "bash_complete", "COMP_WORDS": "kgot plu", "COMP_CWORD": "1"}
    assert not loaded(tmp_path, **asked) & (HEAVY | {"platformdirs"})


@pytest.mark.parametrize("arguments", [["plugins", "list"], ["plugins", "show", "kgot-core"], ["config", "show"]])
def test_listing_loads_no_driver_and_no_langchain(arguments: list[str], tmp_path: Path) -> None:
    assert not loaded(tmp_path, *arguments) & DRIVERS


def test_help_lists_every_command_under_its_heading() -> None:
    lines = CliRunner().invoke(main, ["--help"]).stdout.splitlines()
    for name, row in COMMANDS.items():
        (place,) = [number for number, line in enumerate(lines) if line.startswith(f"  {name} ")]
        heading = next(line for line in reversed(lines[:place]) if line.endswith(":") and not line.startswith(" "))
        assert heading == f"{row.group}:"
    shown = [line[:-1] for line in lines if line[:-1] in GROUPS]
    assert shown == [group for group in GROUPS if any(row.group == group for row in COMMANDS.values())]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_exists(name: str) -> None:
    module, _, attribute = COMMANDS[name].target.partition(":")
    assert isinstance(getattr(import_module(module), attribute), click.Command)
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_version() -> None:
    done = CliRunner().invoke(main, ["--version"])
    assert done.exit_code == 0
    assert done.stdout.startswith("kgot ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plguins"], ["kgot: there is no command plguins: did you mean plugins?", "      kgot --help"]),
        (["zzz"], ["kgot: there is no command zzz", "      kgot --help"]),
        (["plugins", "show"], ["kgot: Missing argument 'NAME'.", "      kgot plugins show --help"]),
    ],
)
def test_wrong_usage_is_one_line_and_the_next_step(arguments: list[str], said: list[str]) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == said


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command that raises a given error, through the real group."""

    def run(error: BaseException, **env: str) -> Result:
        @click.command()
        def fail() -> None:
            raise error

        module = ModuleType("failing_command")
        module.fail = fail  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        group = LazyGroup("kgot", rows={"fail": Row("failing_command:fail", "", "Learn")})
        return CliRunner().invoke(group, ["fail"], env=env)

    return run


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("no such\n thing", hint="try\nthis"), 2, ["kgot: no such thing", "      try this"]),
        (PluginError("broken"), 2, ["kgot: broken"]),
        (ModelError("wrong key"), 1, ["kgot: wrong key"]),
        (KgotError("other"), 1, ["kgot: other"]),
        (OSError(28, "No space left on device", "runs/x"), 1, ["kgot: No space left on device: runs/x"]),
        (KeyboardInterrupt(), 75, ["kgot: interrupted"]),
        (ValueError("oh"), 1, ["kgot: internal error: ValueError: oh", "      set KGOT_DEBUG=1 to see where"]),
    ],
)
def test_an_error_is_one_line_and_a_code_without_a_trace(
    error: BaseException, code: int, said: list[str], failing: Callable[..., Result]
) -> None:
    done = failing(error, KGOT_DEBUG="0")
    assert done.exit_code == code
    assert [line for line in done.stderr.splitlines() if line] == said
    assert done.stdout == ""


def test_a_trace_is_given_on_request(failing: Callable[..., Result]) -> None:
    done = failing(UsageError("no such thing"), KGOT_DEBUG="1")
    assert "Traceback (most recent call last)" in done.stderr
    assert done.stderr.splitlines()[-1] == "kgot: no such thing"
    assert done.exit_code == 2


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from kgot_core.cli import main; main(['config', 'show'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=ENV, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.stderr == b""


def test_completion_names_commands_without_importing_them(tmp_path: Path) -> None:
    env = {**ENV, "_KGOT_COMPLETE": "bash_complete", "COMP_WORDS": "kgot plugins ", "COMP_CWORD": "2"}
    code = "from kgot_core.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert {"plain,list", "plain,show"} <= set(done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str) -> None:
    named, found = (
        CliRunner().invoke(main, ["completion", shell]),
        CliRunner().invoke(main, ["completion"], env={"SHELL": f"/usr/bin/{shell}"}),
    )
    assert named.exit_code == 0
    assert f"_KGOT_COMPLETE={shell}_complete" in named.stdout
    assert found.stdout == named.stdout


def test_a_shell_that_is_not_known() -> None:
    done = CliRunner().invoke(main, ["completion"], env={"SHELL": "/bin/tcsh"})
    assert done.exit_code == 2
    assert "kgot completion bash" in done.stderr


def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    kgot = tmp_path / "kgot"
    kgot.write_text(f"#!{sys.executable}\nfrom kgot_core.cli import main\nmain(prog_name='kgot')\n")
    kgot.chmod(0o755)
    script = (
        'eval "$(kgot completion bash)"; COMP_WORDS=(kgot config sh); COMP_CWORD=2; _kgot_completion kgot; '
        'echo "${COMPREPLY[@]}"'
    )
    env = {**ENV, "PATH": f"{tmp_path}:{ENV['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["show"]
