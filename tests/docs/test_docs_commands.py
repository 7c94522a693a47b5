"""The commands that the pages show exist, with these options; so do the options and targets that they mention."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kgot_core.cli import main

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / folder for folder in re.findall(r"^-e (\S+)", (ROOT / "plugins/dev.txt").read_text("utf-8"), re.M)]
PAGES = sorted(page for folder in (*PACKAGES, ROOT / "docs") for page in folder.glob("*.md"))


def lines_of(page: Path) -> list[str]:
    """Gives what stands as code: the lines of shell blocks, and code within sentences."""
    text = page.read_text("utf-8")
    shell = re.findall(r"^```(?:sh|bash)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line.strip() for block in shell for line in block.replace("\\\n", " ").splitlines()]
    return [*lines, *(" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))]


def shown() -> list[str]:
    return sorted({line for page in PAGES for line in lines_of(page)})


def commands(command: click.Command = main) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from commands(found)


@pytest.mark.parametrize("line", [line for line in shown() if line.startswith("kgot ")])
def test_a_command_exists_with_these_options(line: str) -> None:
    words = shlex.split(line.rstrip("."), comments=True)[1:]
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"there is no command {name}"
        command = found
    if not words:
        return
    try:
        command.make_context(command.name, words)
    except click.exceptions.Exit as end:  # --help
        assert end.exit_code == 0


@pytest.mark.parametrize("option", sorted({word for line in shown() for word in re.findall(r"^--[a-z-]+", line)}))
def test_an_option_that_is_mentioned_exists(option: str) -> None:
    ours = {name for command in commands() for option in command.params for name in option.opts}
    # Of other programs: llama.cpp's server, the launchers of MPI, the benchmarks.
    assert option in ours | {
        "--help",
        "--parallel",
        "--mca",
        "--draw",
        "--mpi",
        "--oversubscribe",
        "--quick",
        "--simulate",
        "--with-ft",
    }


def test_the_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    mentioned = {line.split()[1] for line in shown() if re.match(r"make [a-z]", line)}
    assert {"demo", "test", "smoke"} <= mentioned
    assert mentioned - targets == set()


def test_the_readme_opens_with_demo_and_test_and_then_the_three_ways_to_run() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    places = [text.find(part) for part in (
        "make demo", "make test", "kgot run --model openai:gpt", "kgot run --model ollama:", "base_url=http",
    )]  # fmt: skip
    assert -1 not in places
    assert places == sorted(places)


def test_the_answer_that_the_readme_shows_is_the_demo_s() -> None:
    from kgot_core.demo.recorded import RecordedModel

    (answer,) = re.findall(r"^answer: (.+)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert any(answer in sample for sample in RecordedModel()._replies[-1]["samples"])
