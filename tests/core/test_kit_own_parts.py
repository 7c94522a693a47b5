"""The core's own providers pass the suites."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core import builtin
from kgot_core.contracts.scheduler import Batch, Scheduler, TaskRecord
from kgot_core.contracts.sink import Sink
from kgot_core.models.providers import MODEL_PROVIDERS
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.model_suite import SECRET, ModelSuite
from kgot_core.testing.openai_server import OpenAIServer, Say
from kgot_core.testing.sandbox_suite import SandboxSuite
from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_core.testing.sink_suite import OpenSink, SinkSuite
from kgot_core.testing.solver_suite import SolverSuite
from kgot_core.testing.strategy_suite import StrategySuite
from kgot_core.testing.suite import SuiteChanged
from kgot_core.testing.tool_suite import ToolSuite
from kgot_core.testing.voter_suite import VoterSuite
from kgot_core.voters.settings import AdaptiveSettings

SOLVERS: Mapping[str, Any] = {provider.name: provider for provider in builtin.kgot_solvers()}
STRATEGIES: Mapping[str, Any] = {provider.name: provider for provider in builtin.kgot_strategies()}
TOOLS: Mapping[str, Any] = {provider.name: provider for provider in builtin.kgot_tools()}
VOTERS: Mapping[str, Any] = {provider.name: provider for provider in builtin.kgot_voters()}
FORMATS: Mapping[str, Any] = {provider.name: provider for provider in builtin.kgot_graph_formats()}
MODELS: Mapping[str, Any] = {provider.name: provider for provider in MODEL_PROVIDERS}


class TestQuerySolver(SolverSuite):
    provider = SOLVERS["query"]


class TestDirectSolver(SolverSuite):
    provider = SOLVERS["direct"]


class TestLoop(StrategySuite):
    provider = STRATEGIES["kgot"]


class TestAskGraph(StrategySuite):
    provider = STRATEGIES["ask_graph"]


class TestMajority(VoterSuite):
    provider = VOTERS["majority"]


class TestAdaptive(VoterSuite):
    provider = VOTERS["adaptive"]


class TestAdaptiveToCertainty(VoterSuite):
    provider = VOTERS["adaptive"]
    settings = AdaptiveSettings(confidence=1.0)


class TestJudge(VoterSuite):
    provider = VOTERS["judge"]


class TestStability(VoterSuite):
    provider = VOTERS["stability"]


class TestAskLlm(ToolSuite):
    provider = TOOLS["ask_llm"]


class TestRunPythonCode(ToolSuite):
    provider = TOOLS["run_python_code"]
    bad_calls: ClassVar[Mapping[str, Any]] = {"run_python_code": {"code": "1 / 0"}}


class TestSnapshot(FormatSuite):
    provider = FORMATS["snapshot"]


class TestCsv(FormatSuite):
    provider = FORMATS["csv"]


class TestMemorySink(SinkSuite):
    @pytest.fixture
    def open_sink(self) -> OpenSink:
        return lambda run: MemorySink()


class FileSink(Sink):
    """A sink as a third party writes it: lines into the run's folder."""

    def __init__(self, folder: Path | None) -> None:
        self._file = (folder / "own.jsonl").open("w", encoding="utf-8") if folder else None

    def emit(self, record: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(record) + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class TestFileSink(SinkSuite):
    @pytest.fixture
    def open_sink(self) -> OpenSink:
        return lambda run: FileSink(run["folder"])


class InTurn(Scheduler):
    """One task after another."""

    def run(self, batch: Batch) -> Iterator[TaskRecord]:
        for task in batch.tasks:
            if batch.stop():
                return
            yield TaskRecord(task.id, batch.work(task), 0.0)


class TestInTurn(SchedulerSuite):
    @pytest.fixture
    def scheduler(self) -> Scheduler:
        return InTurn()


def speak(payload: Mapping[str, Any], index: int) -> Any:
    return Say("", [("look_up", {"word": "tarn"})]) if payload.get("tools") else "Green"


class TestOpenAIModel(ModelSuite):
    @pytest.fixture
    def model(self) -> Iterator[Any]:
        with OpenAIServer(speak, key=SECRET) as server:
            yield MODELS["openai"].open(MODELS["openai"].settings(), server.spec())


class TestOpenAIModelWithOneSample(ModelSuite):
    @pytest.fixture
    def model(self) -> Iterator[Any]:
        with OpenAIServer(speak, key=SECRET, ignore_n=True, refuse=("n", "tools")) as server:
            yield MODELS["openai"].open(MODELS["openai"].settings(), server.spec())


def test_all_own_providers_are_here() -> None:
    used: Callable[[Any], set[str]] = lambda suite: {  # noqa: E731
        test.provider.name
        for test in globals().values()
        if isinstance(test, type) and issubclass(test, suite) and test is not suite
    }
    assert used(SolverSuite) == set(SOLVERS)
    assert used(FormatSuite) == set(FORMATS)
    assert used(ToolSuite) == set(TOOLS)
    assert used(StrategySuite) == set(STRATEGIES)
    assert used(VoterSuite) == {provider.name for provider in builtin.kgot_voters()}


@pytest.mark.parametrize(
    "suite", [SolverSuite, StrategySuite, VoterSuite, ToolSuite, SinkSuite, SchedulerSuite, ModelSuite, SandboxSuite]
)
def test_no_suite_can_be_weakened_unnoticed(suite: type) -> None:
    name = next(name for name in dir(suite) if name.startswith("test_"))
    with pytest.raises(TypeError, match=f"changes {name} of its suite without a reason"):
        type("TestMine", (suite,), {name: None})
    with pytest.warns(SuiteChanged, match="it is so here"):
        type("TestMine", (suite,), {name: None, "changed_tests": {name: "it is so here"}})
