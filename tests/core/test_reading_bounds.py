"""Odd and huge replies: every reader comes to an end, with a result or with ``Unreadable``."""

import contextlib
import random

import pytest

from kgot_core.errors import Unreadable
from kgot_core.reading.blocks import read_parts
from kgot_core.reading.decision import read_decision
from kgot_core.reading.echo import repeats_example
from kgot_core.reading.facts import read_facts
from kgot_core.reading.json_reader import read_json
from kgot_core.reading.toolcalls import read_tool_calls

NAMES = ("search_web", "ask_llm")
EXAMPLE = ("ENHANCE\nThe year in which Skerry Point was lit is missing.",)
PIECES = (
    "SOLVE",
    "ENHANCE",
    "solve",
    "```",
    "```json\n",
    "~~~",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    '"',
    "'",
    ":",
    ",",
    "\n",
    "\\",
    "<think>",
    "</think>",
    "null",
    "1",
    "a",
    "search_web",
    '"name"',
    '"arguments"',
    "=",
    "-[",
    "->",
    "|",
    "BASIS:",
    " ",
    "Film: X",
    "//",
    "#",
    "/*",
    "*/",
    "“",
    "”",
    "\\u12",
    "\\ud83d",
    "…",
    "...",
    "DELETE ",
    "- ",
    "1. ",
    "<",
    ">",
    "\r",
    "<tool_call>",
    "`",
    '"""',
    "\t",
    "Answer:",
    "é",
    "<function=",
    "key",
    ".",
    "—",
)
REPEATED = (
    "{",
    '{"',
    "[",
    '"',
    "(",
    "SOLVE ",
    "a<think>",
    "x</think>",
    "```\n",
    '```json\n{"a":',
    "`",
    "|",
    '(A: "b',
    "search_web(",
    'search_web(x="\n',
    '{"name":"search_web","arguments":{}}\n',
    "<function=search_web>",
    "BASIS:",
    "(A: b) r ",
    '{"a": 1}, ',
    "\n",
    " ",
    "-[",
    '" ',
    '"//',
    "{/*",
    "{'''",
    "\\",
    "[THINK]",
    "= ",
    '{"decision":"SOLVE"}',
)


def read_all(text: str) -> None:
    for reader in (
        read_parts,
        read_json,
        read_facts,
        lambda reply: read_decision(reply, "query"),
        lambda reply: read_decision(reply, "direct", cut=True),
        lambda reply: read_tool_calls(reply, NAMES),
        lambda reply: repeats_example(reply, EXAMPLE),
    ):
        with contextlib.suppress(Unreadable):
            reader(text)


def test_no_text_makes_a_reader_fail() -> None:
    rng = random.Random(20240505)
    for _ in range(1500):
        read_all("".join(rng.choices(PIECES, k=rng.randint(1, 40))))


@pytest.mark.parametrize("piece", REPEATED)
def test_long_replies_come_to_an_end(piece: str) -> None:
    read_all(piece * (60_000 // len(piece)))
