"""Which tools a round calls, and what becomes of their results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

ONE = {"loop.max_iterations": 1}


def depth_of(lake: str, unit: str = "m") -> str:
    """Gives the depth of a lake."""
    return f"{lake}: 61 {unit}"


def rivers(count: int) -> str:
    """Lists rivers."""
    return f"{count} rivers"


async def run_once(kit: ModuleType, *choices: Any, tools: Sequence[Any] = (depth_of, rivers), **more: Any) -> Any:
    """One round in which the tools are chosen as told."""
    return await kit.solve(
        settings={**ONE, **more.pop("settings", {})},
        decide=kit.ENHANCE,
        tools=tools,
        choose=choices[0],
        choose_again=kit.turns(*choices[1:]) if len(choices) > 1 else "",
        **more,
    )


def called(done: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(record["tool"], dict(record["arguments"])) for record in done.of("tool_called")]


async def test_two_tools_run_and_their_results_come_in_the_order_asked(kit: ModuleType) -> None:
    done = await run_once(kit, kit.calls(kit.call("rivers", count=3), kit.call("depth_of", lake="Veder")))
    tail = done.at("extract")[0].tail
    assert tail.index('<result id="r1" tool="rivers">\n3 rivers') < tail.index('<result id="r2" tool="depth_of">')
    assert {tool for tool, _ in called(done)} == {"rivers", "depth_of"}
    assert "rivers(count=3): ok" in done.at("retrieve")[0].tail


async def test_equal_calls_of_a_round_are_made_once(kit: ModuleType) -> None:
    same = [kit.call("depth_of", lake="Veder", unit="m"), kit.call("depth_of", unit="m", lake="Veder")]
    done = await run_once(kit, kit.calls(*same))
    assert len(called(done)) == 1


async def test_an_equal_successful_call_is_not_repeated_in_a_run(kit: ModuleType) -> None:
    arguments = [{"lake": "Veder", "unit": "m"}, {"unit": "m", "lake": "Veder"}]
    choose = lambda asked: kit.calls(kit.call("depth_of", **arguments[asked.number % 2]))  # noqa: E731
    done = await kit.solve(settings={"loop.max_iterations": 5}, decide=kit.ENHANCE, tools=[depth_of], choose=choose)
    assert len(called(done)) == 1
    assert all("Veder: 61 m" in asked.tail for asked in done.at("extract"))
    assert done.answer.how == "forced query" and len(done.asked) <= 31


async def test_a_call_that_keeps_failing_is_made_twice(kit: ModuleType) -> None:
    tries = []

    def broken(lake: str) -> str:
        """Fails."""
        tries.append(lake)
        raise ValueError("the archive is closed on Mondays")

    done = await kit.solve(
        settings={"loop.max_iterations": 4},
        decide=kit.ENHANCE,
        tools=[broken],
        choose=kit.calls(kit.call("broken", lake="Veder")),
    )
    assert len(tries) == 2
    tails = [asked.tail for asked in done.at("extract")]
    assert "This call failed: ValueError: the archive is closed on Mondays" in tails[0]
    assert "failed twice; try another way" in tails[3]
    assert "broken(lake=Veder): failed: ValueError: the archive is closed" in done.at("choose")[1].tail


async def test_an_unknown_tool_goes_back_with_the_nearest_name(kit: ModuleType) -> None:
    done = await run_once(
        kit, kit.calls(kit.call("depths_of", lake="Veder")), kit.calls(kit.call("depth_of", lake="Veder"))
    )
    assert "there is no tool 'depths_of'; did you mean depth_of?" in done.at("choose_again")[0].tail
    assert "The depth of the lake is missing." in done.at("choose_again")[0].tail
    assert called(done) == [("depth_of", {"lake": "Veder"})]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "'lake' is a required property"), ({"lake": 5}, "5 is not of type 'string'")],
)
async def test_wrong_arguments_go_back(kit: ModuleType, arguments: Any, message: str) -> None:
    done = await run_once(
        kit, kit.calls(kit.call("depth_of", **arguments)), kit.calls(kit.call("depth_of", lake="Veder"))
    )
    assert f"depth_of: {message}" in done.at("choose_again")[0].tail
    assert called(done) == [("depth_of", {"lake": "Veder"})]


async def test_good_calls_beside_a_wrong_one_are_made(kit: ModuleType) -> None:
    both = kit.calls(kit.call("rivers", count=3), kit.call("depth_of"))
    done = await run_once(kit, both, both, "I give up.")
    assert done.stages.count("choose_again") == 2
    assert called(done) == [("rivers", {"count": 3})]


@pytest.mark.parametrize("reply", ["", "None of these fits.", '```json\n{"note": "nothing"}\n```'])
async def test_where_no_tool_fits_a_model_is_asked(kit: ModuleType, reply: str) -> None:
    done = await run_once(kit, reply)
    [(tool, arguments)] = called(done)
    assert tool == "ask_llm"
    assert kit.QUESTION in arguments["question"] and "The depth of the lake is missing." in arguments["question"]
    assert "choose_again" not in done.stages


async def test_where_the_last_resort_is_switched_off_nothing_is_called(kit: ModuleType) -> None:
    done = await run_once(kit, "None fits.", settings={"tools.disabled": ("ask_llm",)})
    assert called(done) == [] and "(no tool was called)" in done.at("extract")[0].tail
    assert [record["sources"] for record in done.of("graph_written")] == [["model"]]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{\n  "name": "depth_of",\n  "arguments": {\n    "lake": "Veder"\n  }\n}\n```',
        'I call it.\n<tool_call>{"name": "depth_of", "arguments": {"lake": "Veder"}}</tool_call>',
        '{"name": "depth_of", "parameters": {"lake": "Veder"}}',
        'depth_of(lake="Veder")',
        'depth_of("Veder")',
    ],
)
async def test_a_call_written_as_text_is_made(kit: ModuleType, text: str) -> None:
    done = await run_once(kit, text)
    assert called(done) == [("depth_of", {"lake": "Veder"})]
    assert "choose_again" not in done.stages


async def test_damaged_and_unknown_calls_in_text_go_back(kit: ModuleType) -> None:
    good = '{"name": "depth_of", "arguments": {"lake": "Veder"}}'
    unknown = await run_once(kit, '{"name": "deep_of", "arguments": {"lake": "Veder"}}', good)
    assert "there is no tool 'deep_of'; did you mean depth_of?" in unknown.at("choose_again")[0].tail
    assert called(unknown) == [("depth_of", {"lake": "Veder"})]
    cut = await run_once(kit, kit.cut('{"name": "depth_of", "arguments": {"lake": "Ve'), good)
    assert cut.stages.count("choose_again") == 1 and called(cut) == [("depth_of", {"lake": "Veder"})]


async def test_a_long_result_is_shortened_for_the_model_and_whole_in_the_record(kit: ModuleType) -> None:
    text = "\n".join(f"Lake number {number} is {number * 3} metres deep." for number in range(9_000))

    def table() -> str:
        """Gives a long table."""
        return text

    choose = kit.calls(kit.call("rivers", count=3), kit.call("table"))
    done = await run_once(kit, choose, tools=[table, rivers])
    tail = done.at("extract")[0].tail
    assert "Lake number 0 is" in tail and "Lake number 8999 is" in tail and "Lake number 5000 is" not in tail
    assert "characters left out" in tail and "3 rivers" in tail
    [file] = re.findall(r"\[All ([0-9,]+) characters are in the file (\S+); tools can read on there\.\]", tail)
    assert file == (f"{len(text):,}", "table-1-enhance-tools-2.txt")
    assert f"table(): ok, too long to be shown: all of it is in the file {file[1]}" in done.at("retrieve")[0].tail
    assert done.model.asked and sum(map(len, tail.split("<result"))) < len(text)
    assert [record["text"] for record in done.of("tool_called") if record["tool"] == "table"] == [text]


async def test_a_long_result_of_a_tool_of_any_name_stays_among_the_runs_files(kit: ModuleType, tmp_path: Path) -> None:
    odd = StructuredTool.from_function(lambda: "much " * 100_000, name="../../up", description="Much.")
    done = await run_once(kit, kit.calls(kit.call("../../up")), tools=[odd], folder=tmp_path)
    assert "characters are in the file _.._up-1-enhance-tools-1.txt" in done.at("extract")[0].tail
    assert places(tmp_path, "*up-1*") == [(done.answer.folder.name, "files", "_.._up-1-enhance-tools-1.txt")]


def places(folder: Path, pattern: str) -> list[tuple[str, ...]]:
    return [path.relative_to(folder).parts for path in folder.rglob(pattern)]


async def test_the_question_of_a_tool_that_asks_a_model_is_attributed_to_it(kit: ModuleType) -> None:
    done = await kit.solve()
    inner = [record for record in done.of("model_called") if record["parent"] == "ask_llm"]
    assert len(inner) == 1
    assert (inner[0]["stage"], inner[0]["role"], inner[0]["part"]) == ("tool", "tool", "tool invocation")
    assert inner[0]["step"] == "1/enhance/tools/1/ask-1"
    assert "<question>\nHow deep is Veder?\n</question>" in inner[0]["messages"][0]["text"]


@pytest.mark.parametrize(
    ("info", "sources"),
    [
        ("", ["1/enhance/tools/1", "1/enhance/tools/2"]),
        (" r1", ["1/enhance/tools/1"]),
        (" r2, r1", ["1/enhance/tools/1", "1/enhance/tools/2"]),
        (" source=r2", ["1/enhance/tools/2"]),
        (" r9", ["1/enhance/tools/1", "1/enhance/tools/2"]),
        (" task", ["task"]),
        (" model", ["model"]),
        (" R2 and task", ["1/enhance/tools/2", "task"]),
    ],
)
async def test_a_block_names_its_sources(kit: ModuleType, info: str, sources: list[str]) -> None:
    choose = kit.calls(kit.call("rivers", count=3), kit.call("depth_of", lake="Veder"))
    done = await run_once(kit, choose, extract=f"```words{info}\n{kit.LAKE}\n```")
    assert [record["sources"] for record in done.of("graph_written")] == [sources]
    assert list(done.answer.evidence[0].sources) == sources


async def test_code_reads_attachments_and_what_earlier_calls_wrote(kit: ModuleType, tmp_path: Path) -> None:
    table = tmp_path / "lakes.csv"
    table.write_text("lake,depth\nVeder,61\nOrm,40\n")
    first = "rows = open('lakes.csv').read().split()\nopen('depths.txt', 'w').write(str(len(rows)))\nprint(rows[1])"
    second = "print(open('depths.txt').read(), open('lakes.csv').readline())"
    choose = kit.turns(
        kit.calls(kit.call("run_python_code", code=first)),
        kit.calls(kit.call("run_python_code", code=f"```python\n{second}\n```")),
    )
    settings = {"loop.max_iterations": 2}
    done = await kit.solve(files=[table], settings=settings, decide=kit.ENHANCE, choose=choose)
    assert "- lakes.csv" in done.at("decide")[0].tail
    one, two = done.of("tool_called")
    assert one["text"] == "Veder,61\nfiles written: depths.txt" and one["files"] == ["depths.txt"]
    assert two["text"].split() == ["3", "lake,depth"] and not two["failed"]


async def test_code_is_mended_three_times_and_each_call_has_its_own_repairs(kit: ModuleType) -> None:
    settings = {"loop.max_iterations": 2}
    choose = kit.turns(*(kit.calls(kit.call("run_python_code", code=f"print({name})")) for name in ("first", "second")))
    mend = lambda asked: f"```python\nprint(missing_{asked.number})\n```"  # noqa: E731
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, choose=choose, mend_code=mend)
    assert done.stages.count("mend_code") == 6
    assert [record["failed"] for record in done.of("tool_called")] == [True, True]
    assert "NameError: name 'missing_3' is not defined" in done.of("tool_called")[0]["text"]
    repairs = [asked.tail for asked in done.at("mend_code")]
    assert "print(first)" in repairs[0] and "print(missing_1)" in repairs[1] and "print(second)" in repairs[3]
    good = await kit.solve(
        settings=ONE,
        decide=kit.ENHANCE,
        choose=kit.calls(kit.call("run_python_code", code="print(x)")),
        mend_code="```python\nprint(5)\n```",
    )
    assert good.of("tool_called")[0]["text"] == "5" and good.stages.count("mend_code") == 1


async def test_the_record_tells_who_made_each_call(kit: ModuleType) -> None:
    done = await kit.solve(
        choose=kit.calls(kit.call("run_python_code", code="print(61)")), compute="```python\nprint(61 + 1)\n```"
    )
    made = [record for record in done.records if "started" in record]
    parts = {(record["kind"], record["stage"], record["part"], record["parent"]) for record in made}
    assert ("code_ran", "tool", "tool invocation", "run_python_code") in parts
    assert ("code_ran", "compute", "formatting", "") in parts
    assert ("tool_called", "tool", "tool invocation", "") in parts
    assert ("graph_written", "extract", "graph executor", "") in parts
    assert ("graph_queried", "retrieve", "graph executor", "") in parts
    roles = {(record["stage"], record["role"], record["part"]) for record in made if record["kind"] == "model_called"}
    assert roles == {
        ("decide", "graph", "graph executor"),
        ("choose_tools", "tool", "tool executor"),
        ("extract", "graph", "graph executor"),
        ("compute", "graph", "formatting"),
        ("parse", "graph", "formatting"),
    }
    assert all(record["seconds"] >= 0 and record["started"] >= 0 and len(record["request"]) == 16 for record in made)
    starts = [record["started"] for record in made if record["kind"] == "model_called"]
    assert starts == sorted(starts)
    json.dumps(list(done.records))
