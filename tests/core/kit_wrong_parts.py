"""Parts with one fault each, and the test of their suite that is meant for it; run by ``test_kit_part_suites``."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from kgot_core.contracts.sandbox import CodeResult, Sandbox, SandboxSession
from kgot_core.contracts.scheduler import Scheduler, TaskRecord
from kgot_core.contracts.sink import Sink
from kgot_core.contracts.task import Answer, Outcome
from kgot_core.contracts.trial import Trial
from kgot_core.contracts.voter import Choice
from kgot_core.errors import UsageError
from kgot_core.formats.snapshot import read_snapshot, write_snapshot
from kgot_core.graph.elements import GraphSnapshot, Node, snapshot_from_json
from kgot_core.graph.values import plain_text
from kgot_core.providers import FormatProvider, ToolProvider
from kgot_core.sandboxes.providers import MONTY, MontySettings
from kgot_core.sinks.memory import MemorySink
from kgot_core.solvers.query import QuerySolver
from kgot_core.strategies.kgot_loop import KGoTLoop
from kgot_core.testing.format_suite import FormatSuite
from kgot_core.testing.model_suite import SECRET, ModelSuite
from kgot_core.testing.sandbox_suite import SandboxSuite
from kgot_core.testing.scheduler_suite import SchedulerSuite
from kgot_core.testing.scripted_model import Say, ScriptedModel
from kgot_core.testing.sink_suite import SinkSuite
from kgot_core.testing.solver_suite import SolverSuite
from kgot_core.testing.strategy_suite import StrategySuite
from kgot_core.testing.tool_suite import NoToolSuite, ToolSuite
from kgot_core.testing.tool_trial import TriedToolSuite
from kgot_core.testing.voter_suite import VoterSuite
from kgot_core.voters.majority import MajorityVoter

# Solvers


class NoForm(QuerySolver):
    meant = "test_describes_itself"
    calls = 0

    @property
    def form(self):
        """Right when the suite looks a second time."""
        NoForm.calls += 1
        return "both" if sys._getframe(1).f_code.co_name == "test_describes_itself" else "query"


class LeastSupportedFirst(QuerySolver):
    meant = "test_proposals_become_candidates"

    async def solve(self, run, proposals):
        return await super().solve(run, proposals[::-1])


class NoEvidence(QuerySolver):
    meant = "test_candidates_name_elements_of_the_graph"

    async def solve(self, run, proposals):
        return [replace(candidate, elements=()) for candidate in await super().solve(run, proposals)]


class NeverAsks(QuerySolver):
    meant = "test_asks_where_the_limit_forces_it"

    async def solve(self, run, proposals):
        return await super().solve(run, proposals) if proposals else ()


class RaisesWhereNothingIs(QuerySolver):
    meant = "test_nothing_found_is_no_candidate[useless proposal] test_nothing_found_is_no_candidate[no proposal]"

    async def solve(self, run, proposals):
        return [(await super().solve(run, proposals))[0]]


class WritesWhatItFound(QuerySolver):
    meant = "test_graph_stays_as_it_is"

    async def solve(self, run, proposals):
        if len(proposals) == 2:
            await run.graph.write("note", "(Lake: Corrie Water) seen = true", ("model",))
        return await super().solve(run, proposals)


class AsksWithTheTime(QuerySolver):
    meant = "test_equal_runs_ask_the_same"
    numbers = itertools.count()

    async def solve(self, run, proposals):
        if not proposals:
            await run.ask("time", "retrieve", f"it is {next(self.numbers)} o'clock")
        return await super().solve(run, proposals)


# Strategies


class Wishes(KGoTLoop):
    meant = "test_answers"

    async def run(self, run):
        outcome = await super().run(run)
        return replace(outcome, text="forty two") if outcome.status == "answered" else outcome


class Restless(KGoTLoop):
    meant = "test_ends_with_a_model_that_does_not_help"

    async def run(self, run):
        for number in range(60):
            outcome = await super().run(run.at(number))
            if "61" in outcome.text:
                break
        return outcome


class HidesFailures(KGoTLoop):
    meant = "test_failure_of_the_model_ends_the_run_with_its_cause"

    async def run(self, run):
        try:
            return await super().run(run)
        except Exception:
            return Outcome("nothing", "no_solution")


class AsksAtRandom(KGoTLoop):
    meant = "test_equal_runs_ask_the_same"
    numbers = itertools.count()

    async def run(self, run):
        await run.ask("random", "decide", f"number {next(self.numbers)}")
        return await super().run(run)


class NeverStops(KGoTLoop):
    meant = "test_can_be_cancelled"

    async def run(self, run):
        try:
            return await super().run(run)
        except asyncio.CancelledError:
            asyncio.current_task().uncancel()
            return Outcome("never mind", "answered")


# Voters


class TakesTheFirst(MajorityVoter):
    meant = "test_tells_what_it_drew"

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, votes=choice.votes[:1]) if len(choice.counts) > 1 and ballot.tie is None else choice


class ForTheOther(MajorityVoter):
    meant = " ".join(
        f"test_what_all_are_for_wins[{size}-{way}]" for size in (1, 2, 5) for way in ("at once", "one by one")
    )

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, key="SOLVE") if choice.key == "ENHANCE" else choice


class CountsFromZero(MajorityVoter):
    """Draws what follows with the numbers of what it has."""

    meant = "test_samples_are_numbered_without_gaps"

    async def choose(self, run, ballot):
        async def draw(first, count):
            return await ballot.draw(first + (10 if first > 1 and not ballot.at_once else 0), count)

        return await super().choose(run, replace(ballot, draw=draw))


class AlwaysChooses(MajorityVoter):
    meant = "test_unreadable_samples_choose_nothing"

    async def choose(self, run, ballot):
        choice = await super().choose(run, ballot)
        return replace(choice, key=choice.key or "ENHANCE")


class IgnoresTies(MajorityVoter):
    meant = "test_tie_goes_to_the_ballot_s_key test_order_of_a_tie_does_not_matter"

    async def choose(self, run, ballot):
        return await super().choose(run, replace(ballot, tie=None))


class LastOfEquals(MajorityVoter):
    """Draws all, and lets a tie go to the last sample."""

    meant = "test_order_of_a_tie_does_not_matter"

    async def choose(self, run, ballot):
        choice = await super().choose(run, replace(ballot, at_once=True))
        tied = len(set(choice.counts.values())) == 1 and ballot.size == 4
        return replace(choice, key=choice.votes[-1].key) if tied else choice


class DrawsAgain(MajorityVoter):
    meant = "test_samples_that_must_not_be_drawn_again_are_not"

    async def choose(self, run, ballot):
        return await super().choose(run, replace(ballot, redraw=True))


class AgreesTooMuch(MajorityVoter):
    meant = "test_agreement_is_a_share"

    async def choose(self, run, ballot):
        return replace(await super().choose(run, ballot), measured=2.0)


class HidesTheModel(MajorityVoter):
    meant = "test_failure_of_the_model_is_raised"

    async def choose(self, run, ballot):
        try:
            return await super().choose(run, ballot)
        except ConnectionError:
            return Choice(None)


# Schedulers


class InTurn(Scheduler):
    def run(self, batch):
        for task in batch.tasks:
            if batch.stop():
                return
            yield TaskRecord(task.id, batch.work(task), 0.0)


class RunsTheFirstTwice(InTurn):
    meant = "test_every_task_runs_exactly_once[1] test_every_task_runs_exactly_once[3]"

    def run(self, batch):
        if len(batch.tasks) == 7:
            batch.work(batch.tasks[0])
        yield from super().run(batch)


class StopsAtFailures(InTurn):
    meant = "test_failed_task_is_a_record_too"

    def run(self, batch):
        for record in super().run(batch):
            yield record
            if record.answer.status == "failed":
                return


class NeedsTasks(InTurn):
    meant = "test_no_tasks_no_records"

    def run(self, batch):
        if not batch.tasks:
            yield TaskRecord("", Answer("", "failed"), 0.0)
        yield from super().run(batch)


class NeverStopped(InTurn):
    meant = "test_no_task_starts_after_stop"

    def run(self, batch):
        yield from super().run(replace(batch, stop=lambda: False))


class AllAtOnce(InTurn):
    meant = "test_no_more_tasks_at_once_than_jobs"

    def run(self, batch):
        if batch.jobs != 2:
            yield from super().run(batch)
            return
        with ThreadPoolExecutor(max(len(batch.tasks), 1)) as threads:
            for task, answer in zip(batch.tasks, threads.map(batch.work, batch.tasks), strict=True):
                yield TaskRecord(task.id, answer, 0.0)


class GivesAList(InTurn):
    meant = "test_records_come_on_the_calling_thread"

    def run(self, batch):
        return list(super().run(batch))


# Sinks


class KnowsFewKinds(MemorySink):
    meant = "test_takes_every_event[with folder] test_takes_every_event[in memory]"

    def emit(self, record):
        if record["kind"] == "model_called":
            raise KeyError("model_called")


class ChangesRecords(MemorySink):
    meant = "test_takes_every_event[with folder] test_takes_every_event[in memory]"

    def emit(self, record):
        record.pop("at")


class RefusesNewKinds(MemorySink):
    meant = "test_takes_events_that_it_does_not_know"

    def emit(self, record):
        if ":" in record["kind"]:
            raise ValueError(record["kind"])


class ClosesOnce(MemorySink):
    meant = "test_close_twice"

    def close(self):
        del self.records


# Models


class Model(ScriptedModel):
    meant: ClassVar[str] = ""

    def __init__(self, script=None, **settings):
        super().__init__(script or (lambda asked: "Green"), **settings)


class SaysNothing(Model):
    meant: ClassVar[str] = "test_answers_with_text"

    def _generate(self, messages, stop=None, run_manager=None, **arguments):
        return super()._generate(messages, stop, run_manager, **arguments)

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        result = await super()._agenerate(messages, stop, run_manager, **arguments)
        if len(messages) == 2:
            result.generations = [ChatGeneration(message=AIMessage(content=" "))]
        return result


class CountsNoTokens(Model):
    meant: ClassVar[str] = "test_tells_what_it_used"

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        result = await super()._agenerate(messages, stop, run_manager, **arguments)
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return ChatResult(generations=result.generations, llm_output={"token_usage": usage})


class CallsWhatIsNotOffered(Model):
    meant: ClassVar[str] = "test_takes_tools"

    def __init__(self):
        super().__init__(lambda asked: Say("", [("search", {})]) if asked.tools else "Green")


class OneAtATime(Model):
    meant: ClassVar[str] = "test_answers_side_by_side"
    busy: ClassVar[list[int]] = []

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        if "(" in messages[-1].content:
            self.busy.append(1)
            await asyncio.sleep(0)
            if len(self.busy) > 1:
                raise RuntimeError("busy")
        return await super()._agenerate(messages, stop, run_manager, **arguments)


class TriesAgainItself(Model):
    meant: ClassVar[str] = "test_has_no_retries_of_its_own"
    max_retries: int = 6


class ShowsItsKey(Model):
    meant: ClassVar[str] = "test_shows_no_secret"
    api_key: str = ""

    def __init__(self):
        super().__init__(api_key=SECRET)


class GivesOneSample(Model):
    meant: ClassVar[str] = "test_gives_several_samples"

    async def _agenerate(self, messages, stop=None, run_manager=None, **arguments):
        if arguments.get("n", 1) > 1 or getattr(self, "_asked_for_more", False) or "0.7" in str(arguments):
            raise NotImplementedError("this model gives one sample")
        return await super()._agenerate(messages, stop, run_manager, **arguments)


# Sandboxes


@dataclass
class Reporting:
    """A session of a good sandbox whose results are told otherwise."""

    session: SandboxSession
    told: Callable[[CodeResult], CodeResult]

    def run(self, job):
        return self.told(self.session.run(job))

    def __getattr__(self, name):
        return getattr(self.session, name)


class Counting(Sandbox):
    name, python, about = "counting", "subset", MONTY.open(MontySettings()).about

    def open(self, prelude, limits):
        return Reporting(MONTY.open(MontySettings()).open(prelude, limits), self.told)


class CountsLinesFromZero(Counting):
    meant = "test_error_tells_kind_text_and_line_but_no_path"

    def told(self, result):
        return replace(result, line=max(result.line - 1, 0))


class TakesExitForAnError(Counting):
    meant = "test_exit_is_not_the_host_s"

    def told(self, result):
        return replace(result, exit_code=min(result.exit_code, 1))


# Tools

TEXT = 'Names the colour of a code, in plain words. Example: {"code": "#ff0000"}'
Code = Annotated[str, "A colour code, as in #ff0000"]


def provider(function, **more):
    """Gives a provider of one tool."""
    return ToolProvider(
        name="colour", summary="Names colours.", create=lambda settings, context: [tool("colour")(function)], **more
    )


def described(text=TEXT):
    """Gives a function that names colours, with a description."""

    def colour(code: Code) -> str:
        if not code.startswith("#"):
            raise ValueError("a code begins with #")
        return "red"

    colour.__doc__ = text
    return colour


def undescribed(code: str) -> str:
    """Names a colour."""
    if not code.startswith("#"):
        raise ValueError("a code begins with #")
    return "red"


def swallowing(code: Code) -> str:
    """Names a colour."""
    return "red" if code.startswith("#") else "Error: a code begins with #"


def failing(code: Code) -> str:
    """Names a colour."""
    raise RuntimeError("out of colours")


def leaking(code: Code) -> str:
    """Names a colour."""
    if code.startswith("#"):
        return "red"
    raise RuntimeError(f"no colour in {object()}")


leaking.__doc__ = swallowing.__doc__ = undescribed.__doc__ = failing.__doc__ = TEXT
SHARED = tool("colour")(described())


@dataclass(frozen=True)
class KeySettings:
    key: str = field(default="", metadata={"secret": True})


def telling(settings, context):
    """Makes a tool that tells its key."""

    def colour(code: Code) -> str:
        if not code.startswith("#"):
            raise ValueError("a code begins with #")
        return f"red, says {settings.key}"

    colour.__doc__ = TEXT
    return [tool(colour)]


NEED_A_TOOL = (
    "tools_are_made_anew",
    "description_has_an_example",
    "arguments_are_described",
    "example_call_works",
    "failure_is_an_error",
    "secrets_are_not_shown",
)
WITHOUT = "test_without_what_it_needs_it_makes_no_tool_and_no_error"
TOOLS = {
    "BadName": ("test_provider_is_complete", replace(provider(described()), name="Bad Name")),
    "OneForAll": (
        "test_tools_are_made_anew",
        replace(provider(described()), create=lambda settings, context: [SHARED]),
    ),
    "NoExample": (
        "test_description_has_an_example",
        provider(described("Names the colour of a code, in plain words.")),
    ),
    "LongDescription": ("test_description_has_an_example", provider(described(TEXT + " word" * 300))),
    "WrongExample": ("test_description_has_an_example", provider(described(TEXT.replace('code"', 'kode"')))),
    "NoArgumentDescription": ("test_arguments_are_described", provider(undescribed)),
    "FailsAlways": ("test_example_call_works", provider(failing)),
    "ErrorsAsText": ("test_failure_is_an_error", provider(swallowing)),
    "TellsAddresses": ("test_failure_is_an_error", provider(leaking)),
    # What a provider needs is no way around the suite.
    "MakesNothing": (
        " ".join(f"test_{name}" for name in NEED_A_TOOL),
        replace(provider(described()), create=lambda settings, context: [], needs="a palette"),
    ),
    "TellsItsKey": ("test_secrets_are_not_shown", replace(provider(described()), settings=KeySettings, create=telling)),
}


# What a provider is tried with is no way around the suite either.
TRIED = {
    f"{name}InItsTrial": (
        TOOLS[name][0],
        replace(
            TOOLS[name][1],
            trial=lambda settings, folder: nullcontext(
                Trial(
                    settings, calls={"colour": {"code": "#ff0000"}}, bad_calls={"colour": {"code": "red"}, "other": {}}
                )
            ),
        ),
    )
    for name in ("FailsAlways", "ErrorsAsText", "NoExample")
}


def complaining(settings, context):
    raise RuntimeError("no palette")


NOTHING = replace(provider(described()), create=lambda settings, context: [], needs="a palette")
NO_TOOLS = {
    "ComplainsOfNothing": (WITHOUT, replace(NOTHING, create=complaining)),
    "NeedsNothing": (WITHOUT, replace(provider(described()), needs="a palette")),
    "NeedsMuch": ("test_provider_is_complete", replace(NOTHING, needs="a palette\nand a brush")),
}


def kept(change=lambda graph: graph, **functions):
    """Gives a format that writes snapshots, changed on the way."""

    def write(settings, graph, path, losses):
        write_snapshot(settings, change(graph), path, losses)

    given = {"suffixes": (".kept",), "read": read_snapshot, "write": write, **functions}
    return FormatProvider(name="kept", summary="Keeps graphs.", **given)


def beside(settings, graph, path, losses):
    write_snapshot(settings, graph, path, losses)
    path.with_name("index.txt").write_text("one graph")


def raising(settings, path, losses):
    """Lets whatever the parser raises through."""
    return snapshot_from_json(json.loads(path.read_text("utf-8")))


def believing(settings, path, losses):
    """Makes a node of anything."""
    try:
        return read_snapshot(settings, path, losses)
    except (UsageError, UnicodeDecodeError):
        return GraphSnapshot((Node("a", (), {"text": path.read_bytes().decode("utf-8", "replace")}),))


def chatting(settings, path, losses):
    try:
        return read_snapshot(settings, path, losses)
    except UsageError as error:
        raise UsageError(f"{error.message}\nsorry") from None


def without_edges(graph):
    return GraphSnapshot(graph.nodes)


def as_text(graph):
    def text(properties):
        return {name: plain_text(value) for name, value in properties.items()}

    nodes = tuple(replace(node, properties=text(node.properties)) for node in graph.nodes)
    return GraphSnapshot(nodes, tuple(replace(edge, properties=text(edge.properties)) for edge in graph.edges))


def never_empty(graph):
    return graph if graph.nodes else GraphSnapshot((Node("root"),))


BOTH = "test_graphs_come_back_or_the_loss_is_told[plain] test_graphs_come_back_or_the_loss_is_told[odd]"
KINDS = ("nothing", "a word", "an open bracket", "an open tag", "a list of nothing", "a thousand brackets")
DAMAGED = " ".join(f"test_damaged_file_is_refused_in_one_line[{what}]" for what in KINDS)
FORMATS = {
    "CapitalEnding": ("test_provider_is_complete", kept(suffixes=(".KEPT",))),
    "NeitherWay": ("test_provider_is_complete", kept(read=None, write=None)),
    "LosesEdges": (BOTH, kept(without_edges)),
    "MakesTextOfAll": (BOTH, kept(as_text)),
    "AddsARoot": ("test_empty_graph", kept(never_empty)),
    "WritesBeside": ("test_writes_where_it_is_told_and_nowhere_else", kept(write=beside)),
    "RaisesAnything": (DAMAGED, kept(read=raising)),
    "TakesAnything": (f"{DAMAGED} test_damaged_file_is_refused_in_one_line[no text]", kept(read=believing)),
    "SaysMuch": (DAMAGED, kept(read=chatting)),
}

FAULTS: dict[str, str] = {}


def suite(name, meant, base, **attributes):
    """Adds a test class."""
    FAULTS[name] = meant
    globals()[f"Test{name}"] = type(f"Test{name}", (base,), {"__module__": __name__, **attributes})


def fixture(thing):
    """Gives a fixture that makes a thing."""

    def make(self):
        return thing()

    return make


SUITES = {
    "solver": (SolverSuite, QuerySolver),
    "strategy": (StrategySuite, KGoTLoop),
    "voter": (VoterSuite, MajorityVoter),
    "scheduler": (SchedulerSuite, InTurn),
    "model": (ModelSuite, Model),
    "sandbox": (SandboxSuite, Counting),
}
for name, thing in list(globals().items()):
    if not isinstance(thing, type) or not getattr(thing, "meant", ""):
        continue
    for kind, (base, parent) in SUITES.items():
        if issubclass(thing, parent):
            suite(name, thing.meant, base, **{kind: pytest.fixture(fixture(thing), name=kind)})
    if issubclass(thing, Sink):
        opened = lambda thing: lambda: lambda run: thing()  # noqa: E731 - a fixture of a function of the run
        suite(name + "Sink", thing.meant, SinkSuite, open_sink=pytest.fixture(fixture(opened(thing)), name="open_sink"))
for name, (meant, given) in TOOLS.items():
    calls = {"calls": {"colour": {"code": "#ff0000"}}, "bad_calls": {"colour": {"code": "red"}}}
    suite(name, meant, ToolSuite, provider=given, **calls)
for name, (meant, given) in TRIED.items():
    suite(name, meant, TriedToolSuite, provider=given)
for name, (meant, given) in NO_TOOLS.items():
    suite(name, meant, NoToolSuite, provider=given)
for name, (meant, given) in FORMATS.items():
    suite(name, meant, FormatSuite, provider=given)
