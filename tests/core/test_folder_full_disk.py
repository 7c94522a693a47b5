"""A disk that fills up while a run is recorded."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.sink import Sink
from kgot_core.errors import KgotError
from kgot_core.run.record.folder import RunWriter, read_records

_story = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "story.py"))
Story, quick, opened, QUESTION = _story["Story"], _story["quick"], _story["opened"], _story["QUESTION"]


class Full:
    """A file on a disk that is full from some write on."""

    def __init__(self, file: Any, writes: int) -> None:
        self.file = file
        self.left = writes

    def write(self, data: bytes) -> int:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")
        return int(self.file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("writes", [0, 1, 5, 12])
async def test_a_disk_that_fills_up_ends_the_run_with_one_line(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = RunWriter.__init__

    def on_full_disk(self: RunWriter, folder: Path) -> None:
        begin(self, folder)
        self._events = Full(self._events, writes)  # type: ignore[assignment]

    monkeypatch.setattr(RunWriter, "__init__", on_full_disk)
    kinds: list[str] = []

    class Kinds(Sink):
        def emit(self, record: Mapping[str, Any]) -> None:
            kinds.append(record["kind"])

    async with opened(sinks=[Kinds()]) as session:
        answer = await session.solve(QUESTION, folder=tmp_path / "run")
    assert answer.status == "failed"
    assert "No space left on device" in answer.reason and "\n" not in answer.reason
    assert kinds[-1] == "run_finished"
    assert len(list(read_records(tmp_path / "run"))) == writes


def test_a_full_disk_at_the_very_end_does_not_lose_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import kgot_core

    def full(self: RunWriter, answer: Mapping[str, Any]) -> None:
        raise KgotError("cannot write: No space left on device")

    monkeypatch.setattr(RunWriter, "write_answer", full)
    answer = kgot_core.solve(
        QUESTION,
        models={"graph": quick().model()},
        tools=[_story["heights"]],
        settings={"sandbox": "monty"},
        env=_story["NO_CONFIG"],
        runs=tmp_path,
    )
    assert (answer.status, answer.text) == ("failed", _story["ANSWER"]) and "No space left" in answer.reason
