"""Noise is taken out before a Solve, told with its reason, and put back where the clean graph gives no answer."""

from __future__ import annotations

from types import ModuleType
from typing import Any

NOISY = (
    '```words r1\nNODE Lake "Veder" {"depth_m": 61}\nNODE Lake "veder." {"area": 7}\nNODE Newspaper "Daily Tide"\n'
    'NODE Person "Nora Vale"\nEDGE "Nora Vale" SAW "veder."\nEDGE "Daily Tide" QUOTES "Nora Vale"\n```'
)
SETTINGS = {"clean.when": "solve"}


def _listed(asked: Any, name: str) -> str:
    return next(line.partition(":")[0] for line in asked.tail.splitlines() if f'"{name}"' in line and line[0].isdigit())


async def test_duplicates_and_what_the_task_does_not_need_go_before_a_solve(kit: ModuleType) -> None:
    def other(asked: Any) -> str:
        assert kit.QUESTION in asked.tail and '"Daily Tide" -QUOTES-> "Nora Vale"' in asked.tail
        return f"{_listed(asked, 'Daily Tide')}: only where it was read\n{_listed(asked, 'Nora Vale')}: she only saw it"

    done = await kit.solve(extract=NOISY, settings=SETTINGS, other=other, decide=kit.turns(kit.ENHANCE, kit.SOLVE))
    assert done.answer.status == "answered" and set(done.nodes) == {"Veder"}
    assert done.nodes["Veder"] == {"name": "Veder", "depth_m": 61, "area": 7} and done.edges == []
    reasons = {record["line"].partition(" :")[0]: record["reason"] for record in done.of("element_removed")}
    assert reasons['"veder."'] == "it says the same as an older node"
    assert reasons['"Daily Tide"'] == "only where it was read" and reasons['"Nora Vale"'] == "she only saw it"
    assert len(done.at("other")) == 1


async def test_by_default_nothing_is_taken_out_and_nothing_is_asked(kit: ModuleType) -> None:
    done = await kit.solve(extract=NOISY)
    assert len(done.nodes) == 4 and done.of("element_removed") == [] and done.at("other") == []


async def test_what_the_question_or_a_vote_names_is_never_taken_out(kit: ModuleType) -> None:
    extract = (
        '```words r1\nNODE Lake "Veder" {"depth_m": 61}\nNODE River "Ulmet"\nNODE Town "Quay"\nNODE Town "Sike"\n```'
    )

    def other(asked: Any) -> str:
        assert '"Veder"' not in asked.tail.partition("<nodes>")[2].partition("</nodes>")[0]
        return "\n".join(f"{number}: not needed" for number in range(1, 9))

    done = await kit.solve(
        extract=extract, settings=SETTINGS, other=other, question="How deep is the lake of the Ulmet?"
    )
    assert set(done.nodes) == {"Veder", "Ulmet"} and done.answer.status == "answered"


async def test_a_model_that_would_take_out_nearly_all_is_not_obeyed(kit: ModuleType) -> None:
    extract = "```words r1\n" + "\n".join(f'NODE Lake "Lake {number}"' for number in range(8)) + f"\n{kit.LAKE}\n```"
    done = await kit.solve(extract=extract, settings=SETTINGS, other="1, 2, 3, 4, 5, 6, 7, 8: noise")
    assert len(done.nodes) == 9 and any("the model named 8 of 9 nodes" in text for text in done.notices)


async def test_where_the_clean_graph_gives_no_answer_all_is_put_back(kit: ModuleType) -> None:
    extract = (
        f'```words r1\n{kit.LAKE}\nNODE River "Orm" {{"length": 8}}\nNODE Town "Quay"\nEDGE "Orm" FEEDS "Veder"\n```'
    )

    def other(asked: Any) -> str:
        return f"{_listed(asked, 'Orm')}: another river"

    def direct(asked: Any) -> str:
        return "```\n8 km\n```\nBASIS: Orm" if "length=8" in asked.prompt else "MISSING"

    done = await kit.solve(
        extract=extract,
        settings={**SETTINGS, "loop.max_iterations": 1},
        decide=kit.ENHANCE,
        retrieve='```words\nGET "Orm" length\n```',
        other=other,
        direct=direct,
        parse="VALUE: 8 km",
    )
    assert done.answer.text == "8 km" and done.answer.status == "answered"
    assert any("put back" in text for text in done.notices)
    assert set(done.nodes) == {"Veder", "Orm", "Quay"} and done.edges == [("Orm", "FEEDS", "Veder")]
    assert done.answer.evidence[0].sources == ("1/enhance/tools/1",)


async def test_duplicates_can_go_after_each_round(kit: ModuleType) -> None:
    settings = {"clean.when": "round", "clean.irrelevant": False, "clean.similarity": 2}
    done = await kit.solve(extract=NOISY, settings=settings)
    removed = [record for record in done.of("element_removed") if record["element"]["labels"] == ["Lake"]]
    assert [record["step"] for record in removed] == ["1/enhance/clean"]
    assert '"veder."' not in done.at("decide")[1].tail and done.at("other") == []
