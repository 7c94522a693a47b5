"""The trajectory T3 (see ``benchmarks/trajectories.py``) with a model in the process that knows only its prompt.

It notes each request in the file ``PAID``. Where ``KILL`` is set to ``NUMBER:WHEN``, the process kills itself at that
write of the journal: before it, within its line, or after it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import runpy
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kgot_core.run.record.folder import RunWriter
from kgot_core.run.record.kept import EVENTS
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel

_trajectories = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "trajectories.py"))
QUESTION, QUERY, write, result = (_trajectories[name] for name in ("QUESTION", "QUERY", "write", "result"))
ROUNDS = 3
SOLVE = f"SOLVE\nThe year is in the graph.\n```python\n{QUERY}\n```"


def model() -> ScriptedModel:
    """The model ``import:t3:model``."""
    if kill := os.environ.get("KILL"):
        number, _, when = kill.partition(":")
        kill_at(int(number), when)
    return ScriptedModel(answer)


async def answer(asked: Asked) -> str | Say:
    """Answers a request from its own text."""
    pay([str(message.content) for message in asked.messages])
    await asyncio.sleep(float(os.environ.get("DELAY", "0")))
    text = str(asked.messages[-1].content)
    known = max((int(found) for found in re.findall(r"Harbour Bridge (\d+)", text)), default=0)
    if asked.tools:
        run = "".join(re.findall(r" \(run \d\)", text)[:1])
        return Say("", [("ask_llm", {"question": f"What is known about the bridges of district {known + 1}{run}?"})])
    if "Can the task be answered completely" in text:
        return SOLVE if known >= ROUNDS else f"ENHANCE\nThe bridges of district {known + 1} are not in the graph yet."
    if "Write into the graph what the new information" in text:
        return str(write(known))
    if "You check whether a partial answer" in text:
        return "NO"
    if "You give the final answer" in text:
        return "VALUE: 1911\nThe archive was founded in 1911."
    return str(result(int(re.findall(r"bridges of district (\d+)", text)[-1])))


def pay(messages: Iterable[str]) -> None:
    """Notes a request, in one piece."""
    with Path(os.environ["PAID"]).open("ab") as file:
        file.write(f"{request_of(messages)}\n".encode())


def request_of(messages: Iterable[str]) -> str:
    """Names a request by the texts of its messages."""
    return hashlib.sha256("\0".join(messages).encode()).hexdigest()


def paid(file: Path) -> list[str]:
    """Gives the requests that were noted; one that was not written whole was never answered."""
    return [line for line in file.read_text().splitlines() if len(line) == 64] if file.exists() else []


def answered(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Gives the requests whose answers a record holds."""
    calls = (record["messages"] for record in records if record["kind"] == "model_called")
    return {request_of(message["text"] for message in messages) for messages in calls}


def kill_at(number: int, when: str) -> None:
    """Lets the process kill itself at a write of the journal."""
    emit, written = RunWriter.emit, 0

    def dying(self: RunWriter, record: Mapping[str, Any]) -> None:
        nonlocal written
        written += 1
        if written == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        events = self.folder / EVENTS
        size = events.stat().st_size
        emit(self, record)
        if written == number:
            if when == "within":
                os.truncate(events, (size + events.stat().st_size) // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    RunWriter.emit = dying  # type: ignore[method-assign]
