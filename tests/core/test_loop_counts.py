"""How many requests a run makes, and that each begins with the bytes of the one before."""

from __future__ import annotations

import dataclasses
import itertools
from types import ModuleType
from typing import Any

import pytest

from kgot_core.contracts.options import LoopLimits


def _network(kit: ModuleType, asked: Any) -> str:
    """A block that grows the graph by two nodes and an edge in each round."""
    number = asked.number
    return (
        f'```python r1\nG.add_node("Lake {number}", label="Lake", name="Lake {number}", depth_m={60 + number})\n'
        f'G.add_node("River {number}", label="River", name="River {number}")\n'
        f'G.add_edge("Lake {number}", "River {number}", type="FEEDS")\n```'
    )


def _answers(kit: ModuleType, rounds: int, solver: str, forced: bool) -> dict[str, Any]:
    query = '```python\nresult = [{"depth_m": G.nodes["Lake 1"]["depth_m"]}]\n```'
    solve = f"SOLVE\nThe depth is there.\n{query}" if solver == "query" else kit.SOLVE_DIRECT.replace("Veder", "Lake 1")

    def decide(asked: Any) -> str:
        return kit.ENHANCE if forced or asked.number <= rounds else solve

    return {
        "decide": decide,
        "choose": lambda asked: kit.calls(kit.call("ask_llm", question=f"How deep is lake {asked.number}?")),
        "extract": lambda asked: _network(kit, asked),
        "retrieve": query,
        "direct": "```\n61 metres\n```\nBASIS: Lake 1",
    }


def _append_only(requests: list[Any]) -> None:
    """Each prompt begins with all that came before the request proper in the one before."""
    for earlier, later in itertools.pairwise(requests):
        assert later.request.messages[0] == earlier.request.messages[0]
        assert later.request.tools == earlier.request.tools
        text = earlier.tail
        state = text[: text.index("<request>")]
        for mark in ("<new_information>", "<missing_information>", "<facts_form"):
            state = state.partition(mark)[0]
        assert later.tail.startswith(state.rstrip("\n"))


@pytest.mark.parametrize("solver", ["query", "direct"])
@pytest.mark.parametrize(("rounds", "forced", "requests"), [(1, False, 7), (3, False, 15), (7, True, 31)])
async def test_a_trajectory_takes_so_many_requests(
    kit: ModuleType, solver: str, rounds: int, forced: bool, requests: int
) -> None:
    settings = {"solver": (solver,), "loop.max_iterations": 7}
    done = await kit.solve(backend="networkx", settings=settings, **_answers(kit, rounds, solver, forced))
    assert done.answer.status == "answered"
    assert done.answer.how == f"{'forced' if forced else 'voted'} {solver}"
    assert done.answer.iterations == rounds
    assert len(done.asked) == requests
    graph_chain = [asked for asked in done.asked if asked.stage in ("decide", "extract", "retrieve", "direct")]
    tool_chain = [asked for asked in done.asked if asked.stage == "choose"]
    assert len(graph_chain) == 2 * rounds + 1 and len(tool_chain) == rounds
    _append_only(graph_chain)
    _append_only(tool_chain)
    assert all(not asked.request.tools and asked.request.schema is None for asked in graph_chain)


async def test_equal_runs_send_equal_requests(kit: ModuleType, tmp_path: Any) -> None:
    table = tmp_path / "lakes.csv"
    table.write_text("lake,depth\nVeder,61\n")
    code = "import os\nprint(open('lakes.csv').read(), sorted(os.listdir('.')))\nopen('out.txt','w').write('x')\n1/0"
    write = "G.add_node('Veder', label='Lake', name='Veder', near={'b', 'a', 'c'})"

    async def once(folder: str) -> Any:
        return await kit.solve(
            backend="networkx",
            files=[table],
            folder=tmp_path / folder,
            decide=kit.turns(
                kit.ENHANCE, kit.ENHANCE, "SOLVE\nIt is there.\n```python\nresult = G.nodes['Nowhere']\n```"
            ),
            choose=kit.calls(kit.call("run_python_code", code=code), kit.call("ask_llm", question="And the river?")),
            mend_code=f"```python\n{code.replace('1/0', 'print(1/0)')}\n```",
            extract=kit.turns(
                f"```python r1\n{write}\nprint(object())\nraise ValueError(G.nodes['Veder'], object().__class__)\n```",
                "NOTHING",
            ),
            repair=f"```python\n{write}\n```",
            retrieve="```python\nresult = [d['near'] for _, d in G.nodes(data=True)]\n```",
        )

    first, second = await once("one"), await once("two")
    assert [asked.request for asked in first.asked] == [asked.request for asked in second.asked]
    prompts = "\n".join(asked.prompt for asked in first.asked)
    assert str(tmp_path) not in prompts and first.answer.run not in prompts and "0x" not in prompts
    assert first.answer.text == second.answer.text and first.answer.status == "answered"


async def test_where_samples_come_one_by_one_votes_stop_at_a_certain_majority(kit: ModuleType) -> None:
    answers = _answers(kit, 1, "query", forced=False)
    done = await kit.solve(backend="networkx", at_once=False, **answers)
    assert [asked.n for asked in done.at("decide")] == [3, 3]
    assert [asked.n for asked in done.at("parse")] == [2]
    assert done.answer.how == "voted query"


async def test_without_rounds_nothing_is_asked_of_an_empty_graph(kit: ModuleType) -> None:
    done = await kit.solve(settings={"loop.max_iterations": 0})
    assert done.stages == []
    assert (done.answer.status, done.answer.how, done.answer.iterations) == ("no_solution", "", 0)
    assert done.answer.text == "No solution found" and done.answer.reason == "nothing was found out"


def test_the_papers_parameters_have_the_papers_defaults() -> None:
    assert dataclasses.asdict(LoopLimits()) == {
        "num_next_steps_decision": 5,
        "max_retrieve_query_retry": 3,
        "max_query_fixing_retry": 3,
        "max_final_solution_parsing": 3,
        "max_tool_retries": 6,
        "max_iterations": 7,
        "max_llm_attempts": 6,
    }
