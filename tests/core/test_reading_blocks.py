"""Fenced blocks and reasoning in replies."""

import pytest

from kgot_core.reading.blocks import Block, Prose, read_blocks, read_parts, strip_reasoning


def blocks(text: str) -> list[tuple[str, str, bool]]:
    return [(block.language, block.text, block.closed) for block in read_blocks(text)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("```cypher\nRETURN 1\n```", [("cypher", "RETURN 1", True)]),
        ("~~~\na\n~~~", [("", "a", True)]),
        ("````json\n```\nx\n```\n````", [("json", "```\nx\n```", True)]),
        ("```Python\nx = 1", [("python", "x = 1", False)]),
        ("```RETURN 1```", [("", "RETURN 1", True)]),
        ("```cypher RETURN 1```", [("cypher", "RETURN 1", True)]),
        ("Here it is: ```cypher\nRETURN 1\n```", [("cypher", "RETURN 1", True)]),
        ("SOLVE ```cypher\nRETURN 1\n``` and so on", [("cypher", "RETURN 1", True)]),
        ("- ```json\n  {}\n  ```", [("json", "{}", True)]),
        ("```cypher\nRETURN 1```\nmore", [("cypher", "RETURN 1", True)]),
        ("```cypher\nA\n```cypher\nB\n```", [("cypher", "A", False), ("cypher", "B", True)]),
        ("```a\r\nx\r\n```", [("a", "x", True)]),
        ('```{"a": 1}\n```', [("", '{"a": 1}', True)]),
        ('```json {"a":\n1}\n```', [("json", '{"a":\n1}', True)]),
        ("no fence, only ``code`` and ```a``` within a line.", []),
        ("RETURN 1\n```", []),
        ("```\n```", [("", "", True)]),
    ],
)
def test_fences(reply: str, expected: list[tuple[str, str, bool]]) -> None:
    assert blocks(reply) == expected


def test_info_and_line_numbers_are_kept() -> None:
    first, second = read_blocks("x\n```facts result-2\na\nb\n```\n\n~~~cypher task\nc\n~~~")
    assert (first.language, first.info, first.line, first.end) == ("facts", "facts result-2", 2, 5)
    assert (second.language, second.info, second.line, second.end) == ("cypher", "cypher task", 7, 9)


def test_fences_inside_a_json_string_belong_to_it() -> None:
    inner = '{"query": "// run\n```\nMATCH (n)\n```", "note": "ok"}'
    assert blocks(f"Here:\n```json\n{inner}\n```\nbye") == [("json", inner, True)]


def test_fences_inside_a_python_string_belong_to_it() -> None:
    inner = 'text = """\n```cypher\nRETURN 1\n```\n"""\nresult = text'
    assert blocks(f"```python\n{inner}\n```") == [("python", inner, True)]


def test_an_open_string_does_not_swallow_the_next_block() -> None:
    assert blocks('```json\n{"a": "x\n```\nprose\n') == [("json", '{"a": "x', True)]


def test_nested_fences_in_markdown() -> None:
    assert blocks("```markdown\n```cypher\nA\n```\n```") == [("markdown", "```cypher\nA\n```", True)]


def test_parts_hold_the_prose_around_blocks_in_order() -> None:
    parts = read_parts("SOLVE\nwhy\n```\nx\n```\nBASIS: a")
    assert parts == (Prose("SOLVE\nwhy", 1), Block("", "", "x", True, 3, 5), Prose("BASIS: a", 6))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<think>a</think>b", "b"),
        ("<thinking>\na\n</thinking>\n\nb", "b"),
        ("a that began before</think>\nb", "b"),
        ("<think>one</think> two </think>\nb", "b"),
        ("<think>never closed\nSOLVE", ""),
        ("a <think>x</think> b", "a  b"),
        ('{"reason": "the page said <think>x</think>"}', '{"reason": "the page said <think>x</think>"}'),
        ('{"reason": "the page said <think>x</think>",}', '{"reason": "the page said <think>x</think>",}'),
        ("[THINK]a[/THINK]b", "b"),
        ("the tag `<think>` opens", "the tag `<think>` opens"),
        ("plain", "plain"),
    ],
)
def test_reasoning(reply: str, expected: str) -> None:
    assert strip_reasoning(reply) == expected


def test_blocks_in_reasoning_are_left_out_and_lines_keep_their_numbers() -> None:
    reply = "<think>\n```cypher\nDECOY\n```\n</think>\n```cypher\nREAL\n```"
    assert [(block.text, block.line) for block in read_blocks(reply)] == [("REAL", 6)]
