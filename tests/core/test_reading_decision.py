"""Decisions as models write them."""

import pytest

from kgot_core.errors import Unreadable
from kgot_core.reading.decision import Decision, read_decision

QUERY = "MATCH (n) RETURN n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f"SOLVE\nThe edge is there.\n```cypher\n{QUERY}\n```", Decision("solve", "The edge is there.", QUERY)),
        ("enhance\nThe capital is missing.", Decision("enhance", "The capital is missing.")),
        ("**ENHANCE**\n\nReason: the capital is missing", Decision("enhance", "the capital is missing")),
        (f"Decision: solve\n{QUERY}", Decision("solve", "", QUERY)),
        (f"## Decision\n\nSOLVE\n```\n{QUERY}\n```", Decision("solve", "", QUERY)),
        ("ENHANCE: we cannot SOLVE yet", Decision("enhance", "we cannot SOLVE yet")),
        ("ENHANCE because the year is missing", Decision("enhance", "because the year is missing")),
        ("1. SOLVE\n2. It is there.", Decision("solve", "It is there.")),
        ("`ENHANCE`", Decision("enhance", "")),
        ("SOLVE", Decision("solve", "")),
        ("The year is missing.\n\nENHANCE\n", Decision("enhance", "The year is missing.")),
        ("My decision: **Enhance**.", Decision("enhance", "")),
        ("<think>SOLVE? I say SOLVE</think>ENHANCE\nx is missing", Decision("enhance", "x is missing")),
        (f"```\nSOLVE\nIt is there.\n```cypher\n{QUERY}\n```\n```", Decision("solve", "It is there.", QUERY)),
        (f"SOLVE ```cypher\n{QUERY}\n```", Decision("solve", "", QUERY)),
        (
            f"SOLVE\nIt is there.\n```facts\n(City: Lyon)\n```\n```cypher\n{QUERY}\n```",
            Decision("solve", "It is there.", QUERY),
        ),
        ('{"decision": "ENHANCE", "reason": "x is missing"}', Decision("enhance", "x is missing")),
        (f'```json\n{{"query_type": "RETRIEVE", "query": "{QUERY}"}}\n```', Decision("solve", "", QUERY)),
        ("{'query_type': 'INSERT', 'reason': None,}", Decision("enhance", "")),
        (f'I give: {{"decision": "SOLVE", "query": "{QUERY}"}}', Decision("solve", "", QUERY)),
        ("I choose SOLVE, the edge is there.", Decision("solve", "I choose SOLVE, the edge is there.")),
        ("It is not in the graph, so ENHANCE.", Decision("enhance", "It is not in the graph, so ENHANCE.")),
        ("Next step: enhance", Decision("enhance", "")),
    ],
)
def test_a_verdict_is_read(reply: str, expected: Decision) -> None:
    assert read_decision(reply, "query") == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "SOLVE\nIt is there.\nENHANCE\nIt is missing.",
        "SOLVE or ENHANCE",
        "SOLVE / ENHANCE",
        "SOLVE, no wait, ENHANCE",
        "To solve this we must find the capital.",
        "We need to solve this step by step.",
        "We cannot SOLVE yet.",
        "Not SOLVE.",
        "SOLVE is not possible yet.",
        "Should we SOLVE?",
        "Enhance the picture and solve the puzzle.",
        "The capital is Paris.",
        '{"decision": "ENHANCE"}\n{"decision": "SOLVE"}',
        '{"decision": "maybe"}',
        '{"answer": "Paris"}',
        "<think>SOLVE</think>",
        "INSERT DATA { :a :b :c }",
    ],
)
def test_no_verdict_is_guessed(reply: str) -> None:
    with pytest.raises(Unreadable, match=r"SOLVE|empty|different"):
        read_decision(reply, "query")


@pytest.mark.parametrize("reply", ["<think>SOLVE", '{"decision": "SOL', '{"decision": "SOLVE", "query": "MATCH'])
def test_cut_off_decisions_are_told(reply: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_decision(reply, "query")
    assert caught.value.truncated


def test_a_cut_query_or_answer_is_never_used() -> None:
    reply = "SOLVE\nIt is there.\n```cypher\nMATCH (n {name: 'Ly"
    assert read_decision(reply, "query").payload == "MATCH (n {name: 'Ly"
    for form, text in (
        ("query", reply),
        ("direct", "SOLVE\nIt is there.\n```\nPar"),
        ("direct", "SOLVE\nThe answer is Par"),
    ):
        with pytest.raises(Unreadable) as caught:
            read_decision(text, form, cut=True)  # type: ignore[arg-type]
        assert caught.value.truncated
    assert read_decision("ENHANCE\nThe capital is mis", "direct", cut=True).verdict == "enhance"


@pytest.mark.parametrize(
    ("reply", "answer", "basis"),
    [
        ("SOLVE\nIt is there.\n```\nParis\n```\nBASIS: France | Paris", "Paris", ("France", "Paris")),
        ("SOLVE\nParis\nBASIS: (Country: France) | (City: Paris)", "Paris", ("France", "Paris")),
        ("SOLVE\nIt is there.\nAnswer: Paris\n**Basis:** `France`", "Paris", ("France",)),
        ("SOLVE\nIt is there.\n```\nParis\nBASIS: France\n```", "Paris", ("France",)),
        ("SOLVE\n```Paris```\nBASIS:\n- France\n- Paris\n", "Paris", ("France", "Paris")),
        ("SOLVE\n```\nD.C.\n```\nBASIS: Washington, D.C.", "D.C.", ("Washington, D.C", "Washington", "D.C")),
        ("SOLVE\n```\nx\n```\nBASIS: (Country: France) -[CAPITAL]-> (City: Paris)", "x", ("France", "Paris")),
        ('{"decision": "solve", "answer": 42, "basis": ["France"]}', "42", ("France",)),
        ("SOLVE\nParis", "Paris", ()),
    ],
)
def test_a_direct_solve_gives_its_answer_and_its_basis(reply: str, answer: str, basis: tuple[str, ...]) -> None:
    decision = read_decision(reply, "direct")
    assert (decision.verdict, decision.payload, decision.basis) == ("solve", answer, basis)


@pytest.mark.parametrize(
    "reply", ["SOLVE", "SOLVE\nBASIS: France", "SOLVE\n" + "long text " * 100, '{"decision": "solve"}']
)
def test_a_direct_solve_without_an_answer_is_unreadable(reply: str) -> None:
    with pytest.raises(Unreadable, match="answer"):
        read_decision(reply, "direct")


def test_basis_lines_do_not_reach_the_reason() -> None:
    decision = read_decision("SOLVE\nThe edge says it.\n```\nParis\n```\nBASIS: France", "direct")
    assert decision.reason == "The edge says it."
