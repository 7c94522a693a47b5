"""How a run comes to its answer, in every way there is, and what it says of it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

NO_QUERY = "I cannot write one."
EMPTY = '```words\nGET "Veder" colour\n```'
BROKEN = "```words\nFIND Veder\n```"
GOOD = '```words\nGET "Veder" depth_m\n```'


def _solve_with(query: str) -> str:
    return f"SOLVE\nIt is there.\n{query}"


def _outcome(done: Any) -> tuple[str, str, int]:
    return done.answer.status, done.answer.how, done.answer.iterations


async def test_voted_query(kit: ModuleType) -> None:
    done = await kit.solve()
    assert _outcome(done) == ("answered", "voted query", 1)
    assert done.answer.text == "The lake is 61 metres deep."
    assert "retrieve" not in done.stages
    assert [item.text for item in done.answer.evidence] == ['"Veder" :Lake depth_m=61']
    assert done.answer.evidence[0].sources == ("1/enhance/tools/1",)
    assert done.answer.evidence[0].iteration == 1


async def test_voted_direct(kit: ModuleType) -> None:
    done = await kit.solve(settings={"solver": ("direct",)}, decide=kit.turns(kit.ENHANCE, kit.SOLVE_DIRECT))
    assert _outcome(done) == ("answered", "voted direct", 1)
    assert "direct" not in done.stages and not done.of("graph_queried")
    assert [item.element for item in done.answer.evidence] == ["n1"]


@pytest.mark.parametrize("solver", ["query", "direct"])
async def test_forced(kit: ModuleType, solver: str) -> None:
    settings = {"solver": (solver,), "loop.max_iterations": 2}
    done = await kit.solve(settings=settings, decide=kit.ENHANCE)
    assert _outcome(done) == ("answered", f"forced {solver}", 2)
    assert done.stages[-3:] == ["retrieve" if solver == "query" else "direct", "compute", "parse"]
    assert [record["iteration"] for record in done.of("iteration_started")] == [1, 2]


@pytest.mark.parametrize("voted", [True, False])
async def test_a_query_that_gives_nothing_falls_back_to_reading(kit: ModuleType, voted: bool) -> None:
    decide = kit.turns(kit.ENHANCE, _solve_with(EMPTY)) if voted else kit.ENHANCE
    done = await kit.solve(settings={"loop.max_iterations": 3 if voted else 1}, decide=decide, retrieve=EMPTY)
    assert _outcome(done) == ("answered", "fallback direct", 1)
    assert done.of("solve_failed")[0]["form"] == "query"
    assert done.of("solve_failed")[0]["cause"] == "it returned nothing"


async def test_neither_query_nor_reading_gives_an_answer(kit: ModuleType) -> None:
    done = await kit.solve(decide=kit.turns(kit.ENHANCE, _solve_with(EMPTY)), retrieve=EMPTY, direct="MISSING")
    assert _outcome(done) == ("no_solution", "", 1)
    assert done.answer.text == "No solution found"
    assert done.answer.reason == "the graph gave no answer"
    assert [record["form"] for record in done.of("solve_failed")] == ["query", "direct"]
    assert "compute" not in done.stages and "parse" not in done.stages


async def test_a_run_that_finds_nothing_out(kit: ModuleType) -> None:
    settings = {"loop.max_iterations": 2}
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, extract="NOTHING")
    assert _outcome(done) == ("no_solution", "", 2)
    assert done.answer.reason == "nothing was found out"
    assert "retrieve" not in done.stages and "direct" not in done.stages


async def test_findings_that_do_not_answer(kit: ModuleType) -> None:
    done = await kit.solve(parse="NONE")
    assert _outcome(done) == ("no_solution", "", 1)
    assert done.answer.reason == "the findings do not answer the task"


async def test_equal_queries_run_once_and_the_most_supported_first(kit: ModuleType) -> None:
    rare, common = '```words\nGET "Veder" colour\n```', '```words\nGET "Veder" name\n```'
    votes = [_solve_with(text) for text in (rare, common, GOOD, f"{common[:-4]} \n```", rare)]
    store = kit.Words()
    done = await kit.solve(backend=store, decide=kit.turns(kit.ENHANCE, votes), parse="VALUE: Veder\nIt is Veder.")
    assert store.asked == ['GET "Veder" colour', 'GET "Veder" name']
    assert _outcome(done) == ("answered", "voted query", 1)


async def test_a_voted_query_that_fails_is_followed_by_the_next(kit: ModuleType) -> None:
    votes = [_solve_with(text) for text in (EMPTY, EMPTY, GOOD, GOOD, GOOD)]
    assert (await kit.solve(decide=kit.turns(kit.ENHANCE, votes))).answer.how == "voted query"
    votes = [_solve_with(text) for text in (BROKEN, BROKEN, BROKEN, GOOD, GOOD)]
    done = await kit.solve(decide=kit.turns(kit.ENHANCE, votes))
    assert done.answer.how == "voted query"
    assert done.stages.count("repair") == 1 and "retrieve" not in done.stages


async def test_a_new_query_is_asked_with_the_statements_that_gave_nothing(kit: ModuleType) -> None:
    other = '```words\nGET "Veder" area\n```'
    done = await kit.solve(
        decide=kit.turns(kit.ENHANCE, _solve_with(EMPTY)),
        retrieve=kit.turns(other, '```words\nGET "Veder" x\n```', GOOD),
    )
    assert _outcome(done) == ("answered", "voted query", 1)
    first, second, third = (asked.tail for asked in done.at("retrieve"))
    assert 'GET "Veder" colour' in first and "it returned nothing" in first
    assert 'GET "Veder" area' in second and 'GET "Veder" area' not in first
    assert 'GET "Veder" x' in third


@pytest.mark.parametrize(("voted", "most"), [(True, 3), (False, 4)])
async def test_new_queries_are_asked_three_times_after_the_first(kit: ModuleType, voted: bool, most: int) -> None:
    decide = kit.turns(kit.ENHANCE, _solve_with(EMPTY)) if voted else kit.ENHANCE
    done = await kit.solve(
        settings={"loop.max_iterations": 2 if voted else 1},
        decide=decide,
        retrieve=lambda asked: f'```words\nGET "Veder" p{asked.number}\n```',
    )
    assert done.stages.count("retrieve") == most
    assert done.answer.how == "fallback direct"
    none = await kit.solve(settings={"loop.max_retrieve_query_retry": 0}, decide=decide, retrieve=EMPTY)
    assert none.stages.count("retrieve") == (0 if voted else 1)


async def test_a_query_is_mended_three_times_each_with_its_own_error(kit: ModuleType) -> None:
    done = await kit.solve(
        decide=kit.turns(kit.ENHANCE, _solve_with("```words\nA\n```")),
        repair=lambda asked: f"```words\n{'BCDEFGHIJKLMNOP'[asked.number - 1]}\n```",
        retrieve=GOOD,
    )
    repairs = [asked.tail for asked in done.at("repair")]
    assert len(repairs) == 3
    for statement, tail in zip("ABC", repairs, strict=True):
        assert f'<failed_statement purpose="query">\n{statement}\n</failed_statement>' in tail
        assert f"unknown query '{statement}'" in tail
    assert "\nD\n" in done.at("retrieve")[0].tail and "it could not be run" in done.at("retrieve")[0].tail
    dropped = done.of("statement_dropped")
    assert [(record["statement"], record["error"]) for record in dropped] == [
        ("D", "line 1, column 1: unknown query 'D'")
    ]
    assert done.answer.how == "voted query"


async def test_the_same_error_for_the_same_statement_is_never_bought_twice(kit: ModuleType) -> None:
    decide = kit.turns(kit.ENHANCE, _solve_with("```words\nA\n```"))
    done = await kit.solve(decide=decide, repair=kit.turns("```words\nB\n```", "```words\nA\n```"), retrieve=GOOD)
    assert done.stages.count("repair") == 2
    same = await kit.solve(decide=decide, repair="```words\nA\n```", retrieve=GOOD)
    assert same.stages.count("repair") == 1
    none = await kit.solve(decide=decide, settings={"loop.max_query_fixing_retry": 0}, retrieve=GOOD)
    assert "repair" not in none.stages and none.answer.how == "voted query"


async def test_a_repair_that_repeats_the_example_is_never_run(kit: ModuleType) -> None:
    store, example = kit.Words(), '```words\nGET "Grebe Ostrand" decks\n```'
    decide = kit.turns(kit.ENHANCE, _solve_with("```words\nA\n```"))
    done = await kit.solve(backend=store, decide=decide, repair=example, retrieve=GOOD)
    assert store.asked == ["A", 'GET "Veder" depth_m'] and done.stages.count("repair") == 1
    store, example = kit.Words(), f"```words\n{kit.DIALECT.write_examples[0]}\n```"
    settings = {"extract.form": "statements", "loop.max_iterations": 1}
    done = await kit.solve(
        backend=store, settings=settings, decide=kit.ENHANCE, extract="```words\nA\n```", repair=example
    )
    assert store.written == ["A"] and done.stages.count("repair") == 1


async def test_no_request_for_a_query_is_sent_twice(kit: ModuleType) -> None:
    for reply in (NO_QUERY, EMPTY, kit.cut("```words\nGET"), '```words\nGET "Grebe Ostrand" decks\n```'):
        done = await kit.solve(settings={"loop.max_iterations": 1}, decide=kit.ENHANCE, retrieve=reply)
        tails = [asked.tail for asked in done.at("retrieve")]
        assert 2 <= len(tails) <= 4 and len(set(tails)) == len(tails)
        assert done.answer.how == "fallback direct"


async def test_a_statement_that_failed_as_a_repair_is_not_run_again(kit: ModuleType) -> None:
    store = kit.Words()
    decide = kit.turns(kit.ENHANCE, _solve_with("```words\nA\n```"))
    done = await kit.solve(
        backend=store,
        decide=decide,
        repair=kit.turns("```words\nB\n```", '```words\nGET "Veder" colour\n```'),
        retrieve=kit.turns("```words\nB\n```", GOOD),
    )
    assert store.asked == ["A", "B", 'GET "Veder" colour', 'GET "Veder" depth_m']
    assert "tried already" in done.at("retrieve")[1].tail


async def test_a_solve_vote_without_a_query_still_counts(kit: ModuleType) -> None:
    done = await kit.solve(decide=kit.turns(kit.ENHANCE, "SOLVE\nEverything is there."), retrieve=GOOD)
    assert _outcome(done) == ("answered", "voted query", 1)
    assert done.stages.count("retrieve") == 1


async def test_a_direct_answer_that_cannot_be_read_is_asked_once_more(kit: ModuleType) -> None:
    settings = {"solver": ("direct",), "loop.max_iterations": 1}
    replies = kit.turns("```\n3\n```\nBASIS: Grebe Ostrand", "", "```\n61 metres\n```\nBASIS: Veder")
    done = await kit.solve(settings=settings, decide=kit.ENHANCE, direct=replies)
    assert _outcome(done) == ("answered", "forced direct", 1)
    tails = [asked.tail for asked in done.at("direct")]
    assert len(tails) == 3 and len(set(tails)) == 3 and "repeats the example" in tails[1]
    silent = await kit.solve(settings=settings, decide=kit.ENHANCE, direct="")
    assert _outcome(silent) == ("no_solution", "", 1) and silent.stages.count("direct") == 2


async def test_a_cut_direct_answer_is_no_answer(kit: ModuleType) -> None:
    settings = {"solver": ("direct",), "loop.max_iterations": 1}
    done = await kit.solve(
        settings=settings, decide=kit.ENHANCE, direct=kit.turns(kit.cut("```\n61 me"), "```\n61\n```")
    )
    assert done.answer.status == "answered" and done.stages.count("direct") == 2


@pytest.mark.parametrize("basis", ["", "BASIS: Ocean"])
async def test_an_answer_that_rests_on_nothing_counts_as_enhance_while_a_round_is_left(
    kit: ModuleType, basis: str
) -> None:
    decide = kit.turns(kit.ENHANCE, f"SOLVE\nI know it.\n```\n999 metres\n```\n{basis}")
    settings = {"solver": ("direct",), "loop.max_iterations": 3}
    done = await kit.solve(settings=settings, decide=decide)
    assert [record["choice"] for record in done.of("voted") if record["stage"] == "decide"] == [
        "enhance",
        "enhance",
        "solve",
    ]
    assert "an answer was given" not in "".join(asked.tail for asked in done.at("choose"))
    assert "999" not in "".join(asked.prompt for asked in done.asked if asked.stage not in ("compute", "parse"))
    assert _outcome(done) == ("answered", "voted direct", 2)


@pytest.mark.parametrize(
    "basis", ["Veder", "VEDER | nothing else", '"Veder" :Lake depth_m=61', "(Lake: Veder)", "veder.", "61"]
)
async def test_a_basis_is_found_however_it_is_written(kit: ModuleType, basis: str) -> None:
    decide = kit.turns(kit.ENHANCE, f"SOLVE\nIt is there.\n```\n61\n```\nBASIS: {basis}")
    done = await kit.solve(settings={"solver": ("direct",)}, decide=decide)
    assert _outcome(done) == ("answered", "voted direct", 1)


async def test_equal_direct_answers_are_one_and_their_bases_joined(kit: ModuleType) -> None:
    extract = f'```words r1\n{kit.LAKE}\nNODE River "Ulmet"\n```'
    votes = [
        f"SOLVE\nYes.\n```\n{text}\n```\nBASIS: {basis}"
        for text, basis in (
            ("60", "Veder"),
            ("61 Metres", "Veder"),
            ("61 metres.", "Ulmet"),
            ("62", "Veder"),
            ("63", "Veder"),
        )
    ]
    done = await kit.solve(settings={"solver": ("direct",)}, extract=extract, decide=kit.turns(kit.ENHANCE, votes))
    assert "61 Metres" in done.at("parse")[0].tail
    assert [item.text.partition(" ")[0] for item in done.answer.evidence] == ['"Veder"', '"Ulmet"']


async def test_a_model_that_fails_for_good_ends_the_run_cleanly(kit: ModuleType) -> None:
    from kgot_core.errors import ModelError

    done = await kit.solve(retrieve=GOOD, decide=ModelError("the key was refused"))
    assert _outcome(done) == ("failed", "", 0)
    assert done.answer.reason == "the key was refused"
