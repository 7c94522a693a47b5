"""Lines of the fact language as models write them."""

import datetime

import pytest

from kgot_core.graph.facts import (
    EdgeFact,
    Fact,
    Mention,
    NodeFact,
    PropertyFact,
    RemoveNode,
    RemoveProperty,
)
from kgot_core.reading.facts import read_facts


def plain(fact: Fact) -> tuple[object, ...]:
    """Gives a fact without its line, and things as label and name."""

    def thing(mention: Mention) -> str:
        return f"{mention.label}:{mention.name}"

    match fact:
        case NodeFact():
            return ("node", thing(fact.node))
        case PropertyFact():
            return (thing(fact.node), fact.key, fact.value)
        case EdgeFact():
            return (thing(fact.source), fact.type, thing(fact.target), *sorted(fact.properties.items()))
        case RemoveNode():
            return ("remove", thing(fact.node))
        case RemoveProperty():
            return ("remove", thing(fact.node), fact.key, fact.value)
    return ("remove", thing(fact.source), fact.type, thing(fact.target))


def read(text: str) -> list[tuple[object, ...]]:
    reading = read_facts(text)
    assert reading.problems == ()
    return [plain(fact) for fact in reading.facts]


FILM, BRANDT = "Film:The Lantern", "Person:Ola Brandt"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("(Film: The Lantern)", ("node", FILM)),
        ("(Film: The Lantern) year = 1952", (FILM, "year", 1952)),
        ("(film: The  Lantern) Release Year: 1952.", (FILM, "release_year", 1952)),
        ("(Film: The Lantern).runningTime = 95.5", (FILM, "running_time", 95.5)),
        ("(Film: The Lantern) - color = true", (FILM, "color", True)),
        ('(Film: The Lantern) {year: "1952"}', (FILM, "year", "1952")),
        ("(Film: The Lantern) -[YEAR]-> 1952", (FILM, "year", 1952)),
        ("1. **(Film: The Lantern)** year = 1952", (FILM, "year", 1952)),
        ("• `(Film: The Lantern) year = 1952`", ("Film:The Lantern", "year", 1952)),
        ("Film: The Lantern, year = 1952", (FILM, "year", 1952)),
        ("The Lantern | year | 1952", (":The Lantern", "year", 1952)),
        ('"The Lantern" year = 1952', (":The Lantern", "year", 1952)),
        ("SET (Film: The Lantern) year = 1952", (FILM, "year", 1952)),
        ("(Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern)-[:DIRECTED_BY]->(Person: Ola Brandt).", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) -[directed by]-> (Ola Brandt)", (FILM, "DIRECTED_BY", ":Ola Brandt")),
        ("(The Lantern) -[directedBy]-> (Person: Ola Brandt)", (":The Lantern", "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) —[DIRECTED_BY]→ (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) −[DIRECTED_BY]− (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Person: Ola Brandt) <-[DIRECTED_BY]- (Film: The Lantern)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) -> directed by -> (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) --directed by--> (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) — directed by — (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) directed by (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("(Film: The Lantern) director = (Person: Ola Brandt)", (FILM, "DIRECTOR", BRANDT)),
        ("(Film: The Lantern) -[DIRECTED_BY-> (Person: Ola Brandt)", (FILM, "DIRECTED_BY", BRANDT)),
        ("Film: The Lantern -[DIRECTED_BY]-> Person: Ola Brandt", (FILM, "DIRECTED_BY", BRANDT)),
        ("The Lantern -> directed by -> Ola Brandt", (":The Lantern", "DIRECTED_BY", ":Ola Brandt")),
        ("| The Lantern | directed by | Ola Brandt |", (":The Lantern", "DIRECTED_BY", ":Ola Brandt")),
        ('("The Lantern", "directed by", "Ola Brandt")', (":The Lantern", "DIRECTED_BY", ":Ola Brandt")),
        (
            '(Film: The Lantern) -[STARRING role="lead, twice", from=1902 to=1919]-> (Person: Ola Brandt)',
            (FILM, "STARRING", BRANDT, ("from", 1902), ("role", "lead, twice"), ("to", 1919)),
        ),
        (
            "(Film: The Lantern) -[:STARRING {role: 'lead'}]-> (Person: Ola Brandt)  # from result 1",
            (FILM, "STARRING", BRANDT, ("role", "lead")),
        ),
        ("(Film: Alien (1979)) year = 1979", ("Film:Alien (1979)", "year", 1979)),
        ("(Film: Star Wars: A New Hope) year = 1977", ("Film:Star Wars: A New Hope", "year", 1977)),
        ('(Song: "Heroes" by Bowie) year = 1977', ('Song:"Heroes" by Bowie', "year", 1977)),
        ('(Song: "He(ro") year = 1977', ("Song:He(ro", "year", 1977)),
        ("(Film: Movie :( ) year = 1977", ("Film:Movie :(", "year", 1977)),
        ("(Page: https://a.example/x?y=1) lang = en", ("Page:https://a.example/x?y=1", "lang", "en")),
        ("(Film: Rubik's Cube) size = 17\"", ("Film:Rubik's Cube", "size", '17"')),
        ("(Film: 千と千尋) 公開年 = 2001", ("Film:千と千尋", "公開年", 2001)),
        ("(f:Film {title: 'The Lantern'})", ("node", FILM)),
        ("DELETE (Film: The Lantern)", ("remove", FILM)),
        ("Remove: (Film: The Lantern) year", ("remove", FILM, "year", None)),
        ("DELETE (Film: The Lantern) year = 1952", ("remove", FILM, "year", 1952)),
        ("DELETE (Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)", ("remove", FILM, "DIRECTED_BY", BRANDT)),
        ("delete (Film: The Lantern) -> (Person: Ola Brandt)", ("remove", FILM, "", BRANDT)),
    ],
)
def test_one_fact(line: str, expected: tuple[object, ...]) -> None:
    assert read(line) == [expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "(Film: X) year = 1952, genre = Drama, Crime; note = so",
            [("Film:X", "year", 1952), ("Film:X", "genre", "Drama, Crime"), ("Film:X", "note", "so")],
        ),
        (
            "(Film: X) -[STARRING]-> (Person: A), (Person: B) and (C)",
            [("Film:X", "STARRING", "Person:A"), ("Film:X", "STARRING", "Person:B"), ("Film:X", "STARRING", ":C")],
        ),
        (
            "(Film: X) -[BY]-> (Person: A) -[BORN_IN]-> (Town: T)",
            [("Film:X", "BY", "Person:A"), ("Person:A", "BORN_IN", "Town:T")],
        ),
        (
            "(Film: X) -[BY]-> (Person: A), (Film: Y) year = 1",
            [("Film:X", "BY", "Person:A"), ("Film:Y", "year", 1)],
        ),
        ("(Film: X {year: 1952})", [("Film:X", "year", 1952), ("node", "Film:X")]),
        (
            "(Film: X) url = https://a.example/?y=1, n = 2",
            [("Film:X", "url", "https://a.example/?y=1"), ("Film:X", "n", 2)],
        ),
    ],
)
def test_several_facts_on_a_line(line: str, expected: list[tuple[object, ...]]) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1952", 1952),
        ("-3", -3),
        ("0", 0),
        ("007", "007"),
        ("+4912345", "+4912345"),
        ("1.50", 1.5),
        ("2e-3", 0.002),
        ("1,234,567", 1234567),
        ("1,234.50", 1234.5),
        ("1,234", "1,234"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("1952-03-04", datetime.date(1952, 3, 4)),
        ("1952-13-04", "1952-13-04"),
        ("1952-03-04T05:06:07", datetime.datetime(1952, 3, 4, 5, 6, 7)),
        ("1952-03-04T05:06:07Z", datetime.datetime(1952, 3, 4, 5, 6, 7, tzinfo=datetime.UTC)),
        ("05:06:07", datetime.time(5, 6, 7)),
        ("TRUE", True),
        ("'1952'", "1952"),
        ('"say \\"so\\"\\n"', 'say "so"\n'),
        ("“quoted”", "quoted"),
        ("Paris, France", "Paris, France"),
        ("Brandt Inc.", "Brandt Inc."),
        ("a sentence.", "a sentence."[:-1]),
        ("[Drama, 'Crime, real', 3]", ("Drama", "Crime, real", 3)),
        ("1952 # says the page", 1952),
        ("Symphony # 5", "Symphony # 5"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert read(f"(Film: X) v = {text}") == [("Film:X", "v", value)]


@pytest.mark.parametrize(
    "line",
    [
        "(Label: name) -[RELATION]-> (Label: name)",
        "(Label: name) key = value",
        "(Film: <title>) year = <year>",
        "(Film: X) year = <year>",
        "(Film: X) -[RELATION key=value]-> (Film: Y)",
        "(Film: ...) year = 1952",
        "subject | relation | object",
        "(Film: X) director = unknown",
        "(Film: X) director =",
        "The film was directed by Ola Brandt in 1952.",
        "Here are the facts that I found:",
        "The film - a drama - was made (in Oslo) by him.",
        "(Note: this is only what the text says.)",
        "(see above)",
        "(Film: X) was made by (Person: Y) in 1952 in the town of Oslo.",
        "(Film: X) --> (Person: Y)",
        "(Film: X) -[BY]-> ",
        "(Film: X) -[BY]-> (Person: Y) year = 1952",
        "(Film: X",
        "()",
        "year = 1952",
        "MERGE (f)-[:STARRING]->(a1)",
        "INSERT DATA { :a :b :c }",
        "G.add_node('The Lantern', label='film')",
        "--- | --- | ---",
        "SOLVE",
    ],
)
def test_what_is_no_fact_is_reported(line: str) -> None:
    reading = read_facts(f"(Film: A) year = 1\n{line}\n(Film: B) year = 2")
    assert [plain(fact)[0] for fact in reading.facts] == ["Film:A", "Film:B"]
    if not line.startswith("---"):
        assert [(problem.line, problem.text) for problem in reading.problems] == [(2, line.strip())]
        assert reading.problems[0].reason


def test_fences_lines_and_numbers() -> None:
    reading = read_facts("Here:\n(Film: Z) year = 3\n```facts result-1\n# notes\n(Film: A) year = 1\nprose\n```\nDone.")
    assert [plain(fact) for fact in reading.facts] == [("Film:A", "year", 1)]
    assert [fact.line for fact in reading.facts] == [5]
    assert [problem.line for problem in reading.problems] == [6]


def test_bare_lines_count_where_no_fence_holds_facts() -> None:
    assert read("(Film: A) year = 1\n```\n```") == [("Film:A", "year", 1)]
    assert read("```(Film: A) year = 1```") == [("Film:A", "year", 1)]
    assert read("<think>(Film: B) year = 2</think>(Film: A) year = 1") == [("Film:A", "year", 1)]
    assert read("NOTHING") == []


def test_the_last_line_of_a_cut_reply_is_dropped() -> None:
    text = "(Film: A) year = 1\n(Film: B) year = 19"
    assert len(read_facts(text).facts) == 2
    cut = read_facts(f"```facts\n{text}", cut=True)
    assert [plain(fact) for fact in cut.facts] == [("Film:A", "year", 1)]
    assert "cut off" in cut.problems[0].reason
    assert len(read_facts(f"```facts\n{text}\n```\nAnd then", cut=True).facts) == 2


def test_a_dash_deletes_only_beside_lines_without_one() -> None:
    assert read("(Film: A) year = 1\n- (Film: B) year = 2") == [("Film:A", "year", 1), ("remove", "Film:B", "year", 2)]
    assert read("- (Film: A) year = 1\n- (Film: B) year = 2") == [("Film:A", "year", 1), ("Film:B", "year", 2)]
    assert read("(Film: A)\n- (Film: A) year = 1\n- (Film: A) length = 2")[1:] == [
        ("Film:A", "year", 1),
        ("Film:A", "length", 2),
    ]
    assert read("- DELETE (Film: A)\n- (Film: B) year = 2") == [("remove", "Film:A"), ("Film:B", "year", 2)]
