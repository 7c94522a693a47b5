"""Generated damage to valid replies: nearly all of it is understood, none of it wrongly."""

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kgot_core.errors import Unreadable
from kgot_core.reading.json_reader import read_json

Damage = Callable[[Any, str, random.Random], str]
WORDS = (
    "MATCH (n:City {name: 'Lyon'}) RETURN n",
    "it's",
    "a, b; c",
    "C:\\temp\\new",
    'said "no" twice',
    "# not // a comment",
    "https://a.example/x//y?z=[1]",
    "line\nbreak\tand tab",
    "<think>x</think>",
    "```cypher\nRETURN 1\n```",
    "null",
    "True",
    "naïve 千 😀",
    '{"inner": [1, 2]}',
    "ends with \\",
    "",
    " spaced ",
    "x:y",
    "a} b] c",
    "None",
    "it\\'s",
    "/* open",
    "tags: [a, b]",
    "'quoted'",
    "“curly”",
    "1,234",
    "…",
    "...",
)
NAMES = ("decision", "reason", "queries", "value", "a b", "n", "ключ", "new_key", "it's", "tags")


def values(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if depth < 3 and kind < 0.2:
        return {rng.choice(NAMES): values(rng, depth + 1) for _ in range(rng.randint(0, 4))}
    if depth < 3 and kind < 0.4:
        return [values(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    if kind < 0.75:
        return rng.choice(WORDS) if rng.random() < 0.7 else " ".join(rng.choices(WORDS, k=2))
    return rng.choice([0, -7, 42, 1.5, 1e-7, True, False, None, 10**15])


def document(rng: random.Random) -> dict[str, Any]:
    """An object with at least one name, as every request for structured data asks for."""
    return {name: values(rng) for name in rng.sample(NAMES, rng.randint(1, 5))}


def outside(text: str) -> list[tuple[int, str]]:
    """Gives the places of a strict JSON text that stand outside of strings."""
    found, quoted, at = [], False, 0
    while at < len(text):
        if quoted and text[at] == "\\":
            at += 2
            continue
        if text[at] == '"':
            quoted = not quoted
        elif not quoted:
            found.append((at, text[at]))
        at += 1
    return found


def insert(text: str, where: str, what: str, rng: random.Random, share: float = 0.5) -> str:
    for at, letter in reversed(outside(text)):
        if letter in where and rng.random() < share:
            text = text[: at + 1] + what + text[at + 1 :]
    return text


def trailing_commas(value: Any, text: str, rng: random.Random) -> str:
    for at, letter in reversed(outside(text)):
        if letter in "}]" and text[:at].rstrip()[-1] not in "[{,":
            text = f"{text[:at]},{text[at:]}"
    return text


def decoy(value: Any) -> str:
    return json.dumps({next(iter(value)): "another value"})


DAMAGES: dict[str, Damage] = {
    "indented": lambda value, text, rng: json.dumps(value, indent=2, ensure_ascii=rng.random() < 0.5),
    "fence": lambda value, text, rng: f"```json\n{text}\n```",
    "bare fence": lambda value, text, rng: f"Sure!\n\n```\n{text}\n```\nI hope this helps.",
    "wrong language": lambda value, text, rng: f"~~~cypher\n{text}\n~~~",
    "fence not closed": lambda value, text, rng: f"Here it is:\n```json\n{text}",
    "prose": lambda value, text, rng: f"Of course, here is it [1]:\n{text}\nDo you need more?",
    "reasoning": lambda value, text, rng: f"<think>Maybe {decoy(value)}?\n</think>\n{text}",
    "reasoning without start": lambda value, text, rng: f"Maybe {decoy(value)}?\n</think>\n{text}",
    "python": lambda value, text, rng: repr(value),
    "python tuples": lambda value, text, rng: repr(
        {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    ),
    "trailing commas": trailing_commas,
    "line comments": lambda value, text, rng: insert(text, ",{[", ' // why: "so", {not}\n', rng),
    "hash comments": lambda value, text, rng: insert(text, ",{[", " # it's {a\n", rng),
    "block comments": lambda value, text, rng: insert(text, ",{[:", ' /* "a": } */ ', rng),
    "raw line breaks": lambda value, text, rng: (
        text.replace("\\n", "\n").replace("\\t", "\t") if "\\\\" not in text else text
    ),
    "escaped twice": lambda value, text, rng: json.dumps(text, ensure_ascii=False)[1:-1],
    "written into a string": lambda value, text, rng: json.dumps(text),
    "python fence": lambda value, text, rng: f"```python\nresult = {value!r}\n```",
    "given twice": lambda value, text, rng: f"{text}\n\n{text}",
    "form before it": lambda value, text, rng: (
        f"I use the form {json.dumps(dict.fromkeys(value, '<text>'))}\n```json\n{text}\n```"
    ),
    "line ends": lambda value, text, rng: json.dumps(value, indent=1).replace("\n", "\r\n"),
    "missing commas": lambda value, text, rng: missing_commas(value, rng),
    "double braces": lambda value, text, rng: f"{{{text}}}",
}


def missing_commas(value: Any, rng: random.Random) -> str:
    lines = json.dumps(value, indent=2).split("\n")
    at = [n for n, line in enumerate(lines) if line.startswith('  "') and line.endswith(",")]
    for number in rng.sample(at, min(1, len(at))):
        lines[number] = lines[number][:-1]
    return "\n".join(lines)


def damaged(rng: random.Random) -> tuple[Any, str, str]:
    value = document(rng)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    name = rng.choice(list(DAMAGES))
    return value, name, DAMAGES[name](value, text, rng)


def same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def test_at_least_95_of_100_damaged_replies_are_understood_and_none_wrongly() -> None:
    rng = random.Random(20240501)
    seen, missed = Counter[str](), Counter[str]()
    for _ in range(4000):
        value, name, reply = damaged(rng)
        seen[name] += 1
        try:
            read = read_json(reply)
        except Unreadable:
            missed[name] += 1
            continue
        assert same(read, value), (name, reply)
    assert missed.total() <= 0.05 * seen.total(), missed
    assert set(seen) == set(DAMAGES)


def test_damage_upon_damage_is_understood_and_never_wrongly() -> None:
    within = (
        "indented",
        "python",
        "trailing commas",
        "line comments",
        "block comments",
        "missing commas",
        "escaped twice",
    )
    around = ("fence", "bare fence", "wrong language", "prose", "reasoning", "given twice", "form before it")
    rng = random.Random(20240502)
    missed = 0
    for _ in range(1500):
        value = document(rng)
        text = DAMAGES[rng.choice(within)](value, json.dumps(value), rng)
        reply = DAMAGES[rng.choice(around)](value, text, rng)
        try:
            assert same(read_json(reply), value), reply
        except Unreadable:
            missed += 1
    assert missed <= 75


def test_lost_and_doubled_marks_are_never_understood_wrongly() -> None:
    """A quote, brace, colon or comma too few or too many must not give other data."""
    rng = random.Random(20240503)
    for _ in range(2500):
        value = document(rng)
        text = json.dumps(value)
        marks = [at for at, letter in outside(text) if letter in "{}[]:,"]
        marks += [at for at, letter in enumerate(text) if letter == '"' and text[at - 1 : at] != "\\"]
        at = rng.choice(marks)
        for damaged_text in (text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:]):
            for reply in (damaged_text, f"```json\n{damaged_text}\n```", f"Here: {damaged_text}"):
                try:
                    read = read_json(reply)
                except Unreadable:
                    continue
                assert same(read, value), reply


@given(st.randoms(use_true_random=False), st.data())
@settings(max_examples=300, deadline=None)
def test_a_reply_cut_anywhere_is_truncated(rng: random.Random, data: st.DataObject) -> None:
    value = document(rng)
    indent = rng.choice([None, 2])
    text = rng.choice([json.dumps(value, indent=indent), repr(value), f"```json\n{json.dumps(value, indent=indent)}"])
    at = data.draw(st.integers(text.index("{") + 1, len(text) - 1))
    try:
        read_json(text[:at])
    except Unreadable as error:
        assert error.truncated
    else:
        raise AssertionError(f"completed: {text[:at]!r}")
