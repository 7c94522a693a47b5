"""From what the graph gave to the answer: the calculation, the parses, the form (case D40)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.run.stages.numbers import bare_number, same_number

SCHEMA = {
    "type": "object",
    "properties": {"depth": {"type": "integer"}},
    "required": ["depth"],
    "additionalProperties": False,
}


async def gaia(kit: ModuleType, parse: Any, **more: Any) -> Any:
    return await kit.solve(settings={"format": "gaia"}, parse=parse, **more)


async def test_no_calculation(kit: ModuleType) -> None:
    for reply in ("NO", "No.", "**NO**", "<think>Is there one?</think>\nNO", "NO\n```python\nprint(5)\n```"):
        done = await kit.solve(compute=reply)
        assert "Calculated" not in done.at("parse")[0].tail and not done.of("code_ran")
    assert '<partial_answer source="the task\'s knowledge graph">\ndepth_m: 61\n' in done.at("compute")[0].tail


async def test_a_calculation_is_added_to_what_the_graph_gave(kit: ModuleType) -> None:
    done = await kit.solve(compute="It does.\n```python\nprint('feet', 61 * 3.28)\n61 * 2\n```")
    found = "<findings>\ndepth_m: 61\n\nCalculated from this:\nfeet 200.07999999999998\n122\n</findings>"
    assert found in done.at("parse")[0].tail
    assert done.of("code_ran")[0]["stage"] == "compute"


async def test_a_calculation_that_fails_is_mended_three_times(kit: ModuleType) -> None:
    mend = kit.turns("```python\nprint(b)\n```", "```python\nc = 61\n```", "```python\nprint(61)\n```")
    done = await kit.solve(compute="```python\nprint(a)\n```", mend_code=mend)
    tails = [asked.tail for asked in done.at("mend_code")]
    assert "name 'a' is not defined" in tails[0] and "name 'b' is not defined" in tails[1]
    assert "printed nothing" in tails[2] and "Values: depth_m: 61" in tails[2]
    assert "Calculated from this:\n61" in done.at("parse")[0].tail
    never = await kit.solve(
        compute="```python\nprint(a)\n```", mend_code=lambda asked: f"```python\nprint(a{asked.number})\n```"
    )
    assert never.stages.count("mend_code") == 3 and "Calculated" not in never.at("parse")[0].tail
    assert never.answer.status == "answered"
    same = await kit.solve(compute="```python\nprint(a)\n```", mend_code="```python\nprint(a)\n```")
    assert same.stages.count("mend_code") == 1 and same.answer.status == "answered"


async def test_without_a_sandbox_the_partial_answer_stands(kit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgot_core.errors import SandboxError
    from kgot_core.run.desks.code import CodeDesk

    async def gone(*given: Any, **more: Any) -> None:
        raise SandboxError("the sandbox is gone")

    monkeypatch.setattr(CodeDesk, "run", gone)
    done = await kit.solve(compute="```python\nprint(5)\n```")
    assert done.notices == ["the calculation could not be run: the sandbox is gone"]
    assert done.answer.status == "answered" and "<findings>\ndepth_m: 61\n</findings>" in done.at("parse")[0].tail


@pytest.mark.parametrize(
    "parse",
    [
        "FINAL ANSWER: $1,234.50",
        "**1 234.50**",
        "The total is 1,234.50 USD.",
        "1234.50",
        "VALUE: 1234.50",
        "VALUE: `1,234.50 €`",
    ],
)
async def test_numbers_as_gaia_wants_them(kit: ModuleType, parse: str) -> None:
    assert (await gaia(kit, parse)).answer.text == "1234.50"


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        ("VALUE: Lisbon", "Lisbon"),
        ("```\nVALUE: Lisbon\n```", "Lisbon"),
        ("**VALUE:** Lisbon", "Lisbon"),
        ("VALUE:\nLisbon", "Lisbon"),
        ("<think>VALUE: Porto?</think>VALUE: Lisbon", "Lisbon"),
        ("Answer: it may be Porto, but no.\nVALUE: Lisbon", "Lisbon"),
        ("VALUE: Porto\nThat is wrong, it is the other.\nVALUE: Lisbon", "Lisbon"),
        ("VALUE: Lisbon\nAnswer: It is Lisbon.", "Lisbon"),
        ("Lisbon", "Lisbon"),
        ("VALUE: 17 hours", "17 hours"),
        ("VALUE: \u22125", "-5"),
        ("VALUE: 50%", "50"),
        ("VALUE: 007", "007"),
        ("VALUE: $5 million", "$5 million"),
        ("VALUE: 3, 5, 8", "3, 5, 8"),
        ("VALUE: 1812-09-07", "1812-09-07"),
        ("VALUE: 3:45", "3:45"),
    ],
)
async def test_other_values_stay_as_they_are(kit: ModuleType, parse: str, text: str) -> None:
    assert (await gaia(kit, parse)).answer.text == text


async def test_the_majority_of_the_parses_counts_over_normalised_values(kit: ModuleType) -> None:
    done = await gaia(kit, ["VALUE: 1,066", "VALUE: 1067", "VALUE: 1066.0"])
    assert done.answer.text == "1066" and done.answer.reason == "2 of 3 parses agree"
    assert done.of("voted")[-1]["counts"] == {"1066": 2, "1067": 1}
    done = await gaia(kit, ["VALUE: the Hague", "VALUE: Delft", "VALUE: The  Hague."])
    assert done.answer.text == "the Hague"
    done = await gaia(kit, ["VALUE: a", "VALUE: b", "VALUE: c"])
    assert done.answer.text == "a" and done.answer.reason == "1 of 3 parses agree"


async def test_prose_is_given_in_plain_form_and_counted_by_its_value(kit: ModuleType) -> None:
    parses = ["VALUE: 61\nDer See ist 61 m tief.", "VALUE: 62\nEr ist 62 m tief.", "VALUE: 61\nEs sind 61 Meter."]
    done = await kit.solve(parse=parses)
    assert done.answer.text == "Der See ist 61 m tief." and done.answer.value is None
    assert (await kit.solve(parse="VALUE: 61\nAnswer: The lake is 61 m deep.")).answer.text == "The lake is 61 m deep."
    assert (await kit.solve(parse="The lake is 61 metres deep.")).answer.text == "The lake is 61 metres deep."
    assert (await kit.solve(parse="VALUE: 61")).answer.text == "61"


async def test_a_parse_that_was_cut_off_counts_only_with_a_whole_value(kit: ModuleType) -> None:
    done = await kit.solve(parse=[kit.cut("VALUE: 6"), kit.cut("VALUE: 61\nThe lake is"), kit.cut("VALUE: 61\nThe l")])
    assert done.answer.text == "61" and done.of("voted")[-1]["counts"] == {"61": 2}


async def test_parses_that_cannot_be_read_leave_what_the_graph_gave(kit: ModuleType) -> None:
    done = await kit.solve(parse=kit.cut("VALUE: 6"))
    assert (done.answer.status, done.answer.text) == ("answered", "depth_m: 61")
    assert "could not be read" in done.answer.reason
    assert [asked.n for asked in done.at("parse")] == [3, 3]
    assert done.answer.evidence


@pytest.mark.parametrize("parse", ["NONE", "None.", "VALUE: NONE", "**NONE**"])
async def test_no_value(kit: ModuleType, parse: str) -> None:
    done = await gaia(kit, parse)
    assert (done.answer.status, done.answer.how, done.answer.text) == ("no_solution", "", "No solution found")
    assert (await gaia(kit, [parse, "VALUE: 5", "VALUE: 5"])).answer.text == "5"


async def test_the_number_of_parses_is_a_setting(kit: ModuleType) -> None:
    done = await kit.solve(settings={"loop.max_final_solution_parsing": 1})
    assert [asked.n for asked in done.at("parse")] == [1]
    one_by_one = await kit.solve(at_once=False, parse=kit.turns(["VALUE: 1", "VALUE: 2"], "VALUE: 2"))
    assert [asked.n for asked in one_by_one.at("parse")] == [2, 1] and one_by_one.answer.text == "2"


async def test_a_schema_gives_a_checked_value(kit: ModuleType) -> None:
    replies = ['```json\n{"depth": 61}\n```', '{"depth": "deep"}', "{'depth': 61,}"]
    done = await kit.solve(schema=SCHEMA, parse=replies)
    assert done.answer.value == {"depth": 61} and done.answer.text == '{"depth": 61}'
    assert '"required": ["depth"]' in done.at("parse")[0].tail
    bad = await kit.solve(schema=SCHEMA, parse='{"depth": "deep"}')
    assert bad.answer.status == "failed" and bad.answer.value is None
    assert bad.answer.reason == "no reply obeyed the JSON schema: 'deep' is not of type 'integer'"
    none = await kit.solve(schema=SCHEMA, parse="NONE")
    assert none.answer.status == "no_solution"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$1,234.50", "1234.50"),
        ("1 234 567", "1234567"),
        ("1\u202f234", "1234"),
        ("12,5", "12,5"),
        ("\u22125", "-5"),
        ("+3", "+3"),
        ("50 %", "50"),
        ("3 of 4", "3 of 4"),
        ("five", "five"),
        ("00123", "00123"),
        ("0.5", "0.5"),
        ("It costs $20", "20"),
        ("It costs $20 a day", "It costs $20 a day"),
        ("$1.2bn", "$1.2bn"),
        ("USD 5 to 6", "USD 5 to 6"),
        ("B12 dollars", "B12 dollars"),
        ("", ""),
    ],
)
def test_bare_numbers(text: str, number: str) -> None:
    assert bare_number(text) == number


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=3))
def test_a_number_is_the_same_however_it_is_grouped(number: Any) -> None:
    plain = same_number(format(number, "f"))
    assert same_number(f"{number:,f}") == plain == same_number(f"${number:,f}") == same_number(plain)


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    assert bare_number(bare_number(text)) == bare_number(text)
    same_number(text)
