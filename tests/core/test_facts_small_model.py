"""Facts as small models write them, and lines that are odd on purpose."""

from kgot_core.reading.facts import read_facts

SMALL_MODEL = """
Based on the text, here are the facts:

(Film: The Lantern) -[DIRECTED_BY]-> (Person: Ola Brandt)
(Film: The Lantern) -[STARRING]-> (Nora Vale)
(Film: The Lantern) -[STARRING]-> (Ida Moss)
(The Lantern) -[RELEASED year=1952]-> (Country: Norway)
(Film: The Lantern) year = 1952
(The Lantern) running time = 95 minutes
(Film: The Lantern) budget = 1,200,000
(Film: The Lantern) -[LANGUAGE]-> Norwegian
The Lantern | set in | Bergen
The film was a success in Norway and abroad.
(Label: name) key = value
(Person: Nora Vale) born = 1920-05-17
(Film: The Lantern) -[STARR
"""


def test_most_lines_of_a_small_model_are_usable() -> None:
    reading = read_facts(SMALL_MODEL, cut=True)
    assert len(reading.facts) == 10
    assert [problem.line for problem in reading.problems] == [2, 13, 14, 16]


def test_odd_lines_end_soon() -> None:
    lines = ["(" * 7000, '(Film: "' + ':"' * 3000, "(A) " + ", x" * 2500 + " = 1", "(A: b) -[" + "[" * 7000, "|" * 7000]
    lines += ["(A) x = " + "[1," * 2500, "(A) r" + " -" * 3500, "- " * 3500, "(A) " + "k " * 3500 + "= 1"]
    lines += [":“" * 3500, "(A" + " " * 7000]
    for line in lines:
        reading = read_facts("\n".join([line] * 20))
        assert len(reading.facts) + len(reading.problems) <= 20
    assert read_facts("(Film: X) text = " + "a" * 10_000).problems[0].reason == "the line is too long"
