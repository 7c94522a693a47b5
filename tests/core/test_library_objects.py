"""A session that is given objects instead of names: tools, stores, clients, models."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool

from kgot_core.contracts.backend import GraphBackend, OpenContext
from kgot_core.errors import KgotError
from kgot_core.events import ToolCalled, ToolsOpened

Wrapped: Any = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "wrapped.py"))["Wrapped"]
_sessions = runpy.run_path(str(Path(__file__).parents[1] / "fixtures" / "library" / "sessions.py"))
_story = _sessions["_story"]
answer_of, events_of = _sessions["answer_of"], _sessions["events_of"]
Story, quick, opened, heights = (_story[name] for name in ("Story", "quick", "opened", "heights"))
QUESTION = _story["QUESTION"]


class Heights(BaseTool):
    name: str = "heights"
    description: str = "Gives the heights of hills."

    def _run(self, place: str) -> str:
        return f"{place}: Alderkop 700 m"


async def async_heights(place: str) -> str:
    """Gives the heights of hills."""
    await asyncio.sleep(0)
    return f"{place}: Alderkop 700 m"


def sync_heights(place: str) -> str:
    """Gives the heights of hills."""
    return f"{place}: Alderkop 700 m"


@tool("heights")
def decorated(place: str) -> str:
    """Gives the heights of hills."""
    return f"{place}: Alderkop 700 m"


@pytest.mark.parametrize(
    "given", [Heights(), async_heights, sync_heights, decorated], ids=lambda given: type(given).__name__
)
async def test_tools_passed_in_code(given: Any) -> None:
    name = getattr(given, "name", None) or given.__name__
    story = Story(name, {"place": "north"}, compute="NO")
    async with opened(story, tools=[given]) as session:
        events = await events_of(session)
    called = next(event for event in events if isinstance(event, ToolCalled))
    assert (called.tool, called.text, called.failed) == (name, "north: Alderkop 700 m", False)
    specs = next(event for event in events if isinstance(event, ToolsOpened)).specs
    assert {"ask_llm", "run_python_code", name} <= {spec["name"] for spec in specs}


async def test_a_tool_passed_in_code_takes_the_place_of_one_of_that_name() -> None:
    def ask_llm(place: str) -> str:
        """Gives the heights of hills."""
        return "mine"

    async with opened(Story("ask_llm", {"place": "north"}, compute="NO"), tools=[ask_llm]) as session:
        events = await events_of(session)
    opening = next(event for event in events if isinstance(event, ToolsOpened))
    assert [spec["name"] for spec in opening.specs].count("ask_llm") == 1
    assert "ask_llm" not in opening.left_out
    assert [event.text for event in events if isinstance(event, ToolCalled)] == ["mine"]


async def test_a_tool_of_a_provider_with_the_name_of_one_passed_in_code_is_left_out_with_a_line(tmp_path: Path) -> None:
    plugin = tmp_path / "several_tools.py"
    plugin.write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ToolProvider\n"
        "def create(settings, context):\n"
        "    from langchain_core.tools import tool\n"
        "    @tool\n    def heights(place: str) -> str:\n        'Heights.'\n        return 'theirs'\n"
        "    @tool\n    def depths(place: str) -> str:\n        'Depths.'\n        return 'deep'\n"
        "    return [heights, depths]\n"
        "@hookimpl\ndef kgot_tools():\n"
        "    return [ToolProvider(name='surveys', summary='Measures.', create=create)]\n"
    )
    async with opened(settings={"plugins.load": [str(plugin)]}) as session:
        events = await events_of(session)
    opening = next(event for event in events if isinstance(event, ToolsOpened))
    assert "heights" in opening.left_out and "depths" in {spec["name"] for spec in opening.specs}
    assert [event.text for event in events if isinstance(event, ToolCalled)] == [heights("")]


def undocumented(place: str) -> str:
    return place


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": [undocumented]}, "undocumented cannot be a tool"),
        ({"tools": [42]}, "not int"),
        ({"tools": [Heights]}, "not Heights"),
        ({"tools": [heights, heights]}, "two tools passed in code are called heights"),
        ({"models": {"grpah": None}}, "no model role 'grpah'"),
        ({"models": {"graph": "openai:gpt-4o-mini"}}, "not str"),
        ({"backend": "networkx"}, "not str"),
        ({"schema": 3}, "not int"),
        ({"schema": {"type": "number", "minimum": "a"}}, "not valid at minimum"),
        ({"schema": {"$ref": "https://schemas.example/x.json"}}, "which is not read"),
        ({"settings": {"loop.max_iteratoins": 3}}, "max_iteratoins"),
        ({"settings": {"backend": ["paper"]}}, "paper"),
        ({"models": {}}, "no model is set"),
    ],
)
async def test_what_cannot_be_used_is_refused_before_a_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(KgotError, match=message):
        async with opened(**options):
            raise AssertionError("the session must not open")


class Watched(Wrapped):
    """The real backend, with a count of what is done to it."""

    def __init__(self, context: OpenContext) -> None:
        super().__init__(context)
        self.running = 0
        self.most = 0

    def write(self, chain: str, call: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            return super().write(chain, call)
        finally:
            self.running -= 1


async def test_a_function_that_opens_a_backend_is_called_for_each_run_and_what_it_opened_is_closed() -> None:
    made: list[Watched] = []

    def make(context: OpenContext) -> GraphBackend:
        made.append(Watched(context))
        return made[-1]

    async with opened(backend=make) as session:
        answers = [await session.solve(QUESTION) for _ in range(2)]
    assert [answer.status for answer in answers] == ["answered"] * 2
    assert [backend.closed for backend in made] == [1, 1]


async def test_an_open_backend_is_used_one_run_at_a_time_and_not_closed() -> None:
    from kgot_core.contracts.backend import GraphScope
    from kgot_core.sandboxes.monty.sandbox import MontySandbox
    from kgot_core.sandboxes.providers import MontySettings

    backend = Watched(OpenContext(GraphScope("mine"), MontySandbox(MontySettings())))
    try:
        async with opened(backend=backend) as session:
            answers = await asyncio.gather(*(session.solve(QUESTION) for _ in range(3)))
        assert [answer.status for answer in answers] == ["answered"] * 3
        # The second run finds what the first one wrote.
        assert [answer.iterations for answer in answers] == [1, 0, 0]
        assert (backend.closed, backend.most) == (0, 1)
        assert len(backend.snapshot().nodes) == 2
    finally:
        backend.close()


async def test_a_client_passed_in_code_is_not_closed() -> None:
    from kgot_core.models.client import ModelClient

    class Client(ModelClient):
        closed = 0

        async def aclose(self) -> None:
            type(self).closed += 1

    client: Any = Client(quick().model())
    answer = await answer_of(models={"graph": client})
    assert answer.status == "answered" and Client.closed == 0


async def test_a_role_of_its_own_model() -> None:
    graph, tools = quick(), quick()
    answer = await answer_of(models={"graph": graph.model(), "tool": tools.model()})
    assert answer.status == "answered"
    assert tools.asked == ["choose"] and "choose" not in graph.asked


async def test_what_tools_share_among_runs_is_that_of_one_session(tmp_path: Path) -> None:
    plugin = tmp_path / "counted.py"
    plugin.write_text(
        "from kgot_core.hookspecs import hookimpl\nfrom kgot_core.providers import ToolProvider\n"
        "def create(settings, context):\n"
        "    runs = context.share('runs', list, among_runs=True)\n"
        "    runs.append(context.share('runs', list))\n"
        "    assert context.share('runs', list) is runs[-1]\n"
        "    context.leave_out('runs so far', str(len({id(run) for run in runs})))\n"
        "    return []\n"
        "@hookimpl\ndef kgot_tools():\n"
        "    return [ToolProvider(name='counted', summary='Counts.', create=create)]\n"
    )

    async def runs_so_far(session: Any) -> str:
        opening = next(event for event in await events_of(session) if isinstance(event, ToolsOpened))
        return opening.left_out["runs so far"]

    for _ in range(2):
        async with opened(settings={"plugins.load": [str(plugin)]}) as session:
            assert [await runs_so_far(session) for _ in range(3)] == ["1", "2", "3"]
