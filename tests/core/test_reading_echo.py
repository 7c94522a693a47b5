"""Replies that repeat the examples of their prompt (D58)."""

import pytest

from kgot_core.reading.echo import repeats_example

DECISION = """SOLVE
The edge TENDED says that Odo Marsh kept the light of Skerry Point from 1902.
```
Odo Marsh
```
BASIS: Odo Marsh | Skerry Point"""
MISSING = """ENHANCE
The year in which Skerry Point was lit is missing."""
FACTS = """(Lighthouse: Skerry Point) height_m = 41, built = 1887
(Keeper: Odo Marsh) -[TENDED from=1902, to=1919]-> (Lighthouse: Skerry Point)
DELETE (Keeper: Odo Marsh) -[BORN_IN]-> (Town: Velby)"""
QUERY = "MATCH (k:Keeper {name: 'Odo Marsh'})-[:TENDED]->(l:Lighthouse) RETURN l.name AS name"
EXAMPLES = (DECISION, MISSING, FACTS, QUERY)


@pytest.mark.parametrize(
    "reply",
    [
        DECISION,
        MISSING,
        FACTS,
        "enhance\n**The year in which skerry point was lit is missing**",
        "ENHANCE\nReason: the year in which Skerry Point was lit is missing!",
        "ENHANCE\nThe year in which the Skerry Point was lit is still missing.",
        "SOLVE\nIt is there.\n```\nOdo Marsh\n```",
        "(Lighthouse: Skerry Point) height_m = 41, built = 1887",
        '- (lighthouse: "Skerry Point") height_m = 41; built = 1887.',
        f"```cypher\n{QUERY}\n```",
    ],
)
def test_a_copy_is_recognised(reply: str) -> None:
    assert repeats_example(reply, EXAMPLES)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "SOLVE",
        "ENHANCE",
        "solve\n```\nParis\n```\nBASIS: Paris | France",
        "ENHANCE\nThe year in which the Eiffel Tower was built is missing.",
        "SOLVE\nThe edge TENDED says that Ada Byron kept the light of Cape Wrath from 1902.",
        "(Lighthouse: Cape Wrath) height_m = 20, built = 1828",
        "(Keeper: Ada Byron) -[TENDED from=1850]-> (Lighthouse: Cape Wrath)",
        "MATCH (c:City {name: 'Paris'})-[:CAPITAL_OF]->(l:Country) RETURN l.name AS name",
        "NOTHING",
        "41",
    ],
)
def test_what_the_task_itself_brings_is_not(reply: str) -> None:
    assert not repeats_example(reply, EXAMPLES)


def test_generic_examples_never_tell() -> None:
    assert not repeats_example("SOLVE\nThe answer is there.", ("SOLVE\nThe answer is there.", "ENHANCE", "```"))
    assert not repeats_example("MATCH (n) RETURN n", ("MATCH (n) RETURN n",))


def test_reasoning_about_the_example_is_not_a_copy() -> None:
    assert not repeats_example(f"<think>{MISSING}</think>ENHANCE\nThe mayor is missing.", EXAMPLES)
