"""What a round writes is checked against the sources that it cites, and shown in the evidence."""

from __future__ import annotations

from types import ModuleType
from typing import Any

INVENTED = '```words r1\nNODE Lake "Veder" {"depth_m": 61}\nNODE Lake "Orm" {"depth_m": 44}\n```'


async def test_values_that_no_source_holds_are_marked_as_the_models_own(kit: ModuleType) -> None:
    done = await kit.solve(
        extract=INVENTED, decide=kit.turns(kit.ENHANCE, kit.SOLVE.replace('"Veder"', '"Orm"')), parse="VALUE: 44"
    )
    [checked] = done.of("sources_checked")
    assert list(checked["unsupported"].values()) == [["name", "depth_m"]]
    [evidence] = done.answer.evidence
    assert evidence.sources == ("1/enhance/tools/1",) and evidence.unsupported == ("name", "depth_m")
    assert "sources_checked" not in done.asked[-1].prompt and "check" not in done.stages


async def test_what_the_source_or_the_task_says_is_not_marked(kit: ModuleType) -> None:
    extract = '```words r1\nNODE Lake "Veder" {"depth_m": 61}\nNODE River "Ulmet"\n```'
    done = await kit.solve(extract=extract)
    assert done.of("sources_checked") == []
    assert done.answer.evidence[0].sources == ("1/enhance/tools/1",) and not done.answer.evidence[0].unsupported


async def test_checks_can_be_left_out(kit: ModuleType) -> None:
    done = await kit.solve(extract=INVENTED, settings={"checks.sources": False})
    assert done.of("sources_checked") == []


async def test_a_model_removes_what_it_rejects(kit: ModuleType) -> None:
    def other(asked: Any) -> str:
        assert '1: "Orm" :Lake depth_m=44' in asked.tail and "Lake Veder is 61 metres deep." in asked.tail
        return "1: no source speaks of it"

    done = await kit.solve(extract=INVENTED, settings={"checks.model": True}, other=other)
    assert set(done.nodes) == {"Veder"}
    [removed] = done.of("element_removed")
    assert removed["reason"] == "no source speaks of it" and removed["element"]["properties"]["depth_m"] == 44
    assert done.answer.status == "answered" and len(done.at("other")) == 1


async def test_a_model_that_rejects_nothing_or_cannot_be_read_removes_nothing(kit: ModuleType) -> None:
    for reply in ("NONE", "They look fine to me, all 2 of them."):
        done = await kit.solve(extract=INVENTED, settings={"checks.model": True}, other=reply)
        assert set(done.nodes) == {"Veder", "Orm"} and done.of("element_removed") == []
