"""A run that goes on after something has changed: what is refused, what may be, and what ``force`` does."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from kgot_core.errors import ReplayDiverged, UsageError
from kgot_core.run.record.folder import read_records
from kgot_core.session.library import load_settings
from kgot_core.session.replay import replay_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_breaking = runpy.run_path(str(FIXTURES / "breaking.py"))
_story = _breaking["_story"]
cut_off, begin, go_on = _breaking["cut_off"], _breaking["begin"], _breaking["go_on"]
whole, broken = _breaking["whole"], _breaking["broken"]
quick, heights = _story["quick"], _story["heights"]
ANSWER = _story["ANSWER"]

CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "question": ({"question": "Which hill is it?"}, "the question"),
    "setting": ({"settings": {"loop.max_iterations": 3}}, r"the setting loop.max_iterations \(7 then, 3 now\)"),
    "backend": ({"settings": {"backend": "rdf"}}, r"the backend \(networkx then, rdf now\)"),
    "schema": ({"schema": {"type": "object"}}, "the answer's schema"),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_what_has_changed_is_refused_by_its_name(what: str, broken: Path) -> None:
    before = (broken / "events.jsonl").read_bytes()
    given, line = CHANGES[what]
    with pytest.raises(UsageError, match=line) as refused:
        await go_on(broken, quick(), given.get("settings"), **{n: v for n, v in given.items() if n != "settings"})
    assert "--force" in refused.value.hint
    assert list(read_records(broken)) and before.startswith((broken / "events.jsonl").read_bytes())


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda start: start.update(prompts="other"), r"this has changed: the prompts \(go on"),
        (
            lambda start: start["plan"]["models"].update(graph="openai:a"),
            r"the model of graph \(openai:a then, Scripted",
        ),
        (lambda start: start["versions"].update({"kgot-networkx": "9"}), r"the package kgot-networkx \(9 then, "),
        (lambda start: start["plan"]["sandbox"].update(name="bwrap"), r"the sandbox \(bwrap then, monty now\)"),
        (lambda start: start["plan"].update(graph_schema="x"), "the graph's schema"),
    ],
)
async def test_what_differs_from_the_record_is_refused_by_its_name(broken: Path, change: Any, line: str) -> None:
    rewrite(broken, change)
    with pytest.raises(UsageError, match=line):
        await go_on(broken)


def rewrite(folder: Path, change: Any) -> None:
    """Changes a run's first event, with its long texts put back."""
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    start = next(iter(read_records(folder)))
    change(start)
    (folder / "events.jsonl").write_text("".join([json.dumps(start) + "\n", *lines[1:]]))


async def test_a_package_that_takes_no_part_may_change(broken: Path) -> None:
    rewrite(broken, lambda start: start["versions"].update({"kgot-rdf": "0.0.1"}))
    assert (await go_on(broken)).text == ANSWER


@pytest.mark.parametrize("key", ["runs_dir", "graph.seconds", "loop.max_llm_attempts", "models.graph.timeout"])
async def test_what_does_not_matter_may_change(key: str, broken: Path) -> None:
    value = "elsewhere" if key == "runs_dir" else 9
    assert (await go_on(broken, quick(), {key: value})).text == ANSWER


async def test_with_force_recorded_answers_stay_and_what_follows_is_asked_in_the_new_way(broken: Path) -> None:
    story = quick()
    answer = await go_on(broken, story, {"loop.max_iterations": 3}, force=True)
    assert (answer.text, story.asked) == (ANSWER, ["decide", "compute", "parse"])
    [resumed] = (record for record in read_records(broken) if record["kind"] == "run_resumed")
    assert resumed["changed"] == ["the setting loop.max_iterations (7 then, 3 now)"]
    registry, _ = load_settings({}, broken, [])
    with pytest.raises(ReplayDiverged, match="although something had changed"):
        await replay_run(registry, broken, env={})


async def test_attachments_are_looked_for_and_compared(tmp_path: Path) -> None:
    table = tmp_path / "hills.csv"
    table.write_text("Alderkop,700\n")
    await begin(tmp_path / "whole", attachments=[table])
    for name in ("moved", "changed", "unknown", "forced"):
        cut_off(tmp_path / "whole", tmp_path / name, 8)
    table.write_text("Alderkop,701\n")
    with pytest.raises(UsageError, match=r"this has changed: the attachment hills\.csv \(go on"):
        await go_on(tmp_path / "changed")
    assert (await go_on(tmp_path / "forced", force=True)).text == ANSWER
    table.unlink()
    with pytest.raises(UsageError, match=r"the attachment hills\.csv is not at .* any more") as missing:
        await go_on(tmp_path / "moved")
    assert "--file" in missing.value.hint
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "hills.csv").write_text("Alderkop,700\n")
    assert (await go_on(tmp_path / "moved", attachments=[tmp_path / "new" / "hills.csv"])).text == ANSWER
    with pytest.raises(UsageError, match=r"no attachment valleys\.csv"):
        await go_on(tmp_path / "unknown", attachments=["valleys.csv"])


async def test_a_run_whose_record_was_changed_says_where_it_differs(broken: Path) -> None:
    rewrite(broken, lambda start: start.update(question="Which hill is it?"))
    with pytest.raises(ReplayDiverged, match="asks something else than the record at 1/decide/votes-1"):
        await go_on(broken)
    assert not (broken / "running.json").exists()


async def test_a_tool_that_has_gone_or_changed_is_named(broken: Path) -> None:
    def heights(place: str, unit: str) -> str:
        """Gives the heights of hills in a unit."""
        return ""

    with pytest.raises(ReplayDiverged, match="the tool heights of this run is not there any more"):
        await go_on(broken, tools=[])
    with pytest.raises(ReplayDiverged, match="the tool heights is described in another way"):
        await go_on(broken, tools=[heights])
    assert (await go_on(broken)).text == ANSWER
