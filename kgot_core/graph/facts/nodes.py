"""Reads a node as a fact names it, with or without its parentheses, its label or its quotes."""

from __future__ import annotations

import re

from kgot_core.graph.facts.assignments import read_map
from kgot_core.graph.facts.model import LineFault, Mention
from kgot_core.graph.facts.names import is_form, is_placeholder, label_name
from kgot_core.graph.facts.values import CLOSERS, read_quoted
from kgot_core.graph.values import Value

_LABEL = re.compile(r":?\s*([^\W\d][\w]*(?:[ _-][\w]+){0,3})\s*:(?!//)\s*")
_LABEL_QUOTED = re.compile(r":?\s*([^\W\d]\w*)\s+(?=[\"“„«])")
_CYPHER = re.compile(r"(?:[^\W\d]\w*)?\s*:\s*([^\W\d]\w*)\s*")
_LONGEST_NAME = 300
_TITLES = ("name", "title")

Map = dict[str, Value]


def read_node(text: str, at: int) -> tuple[Mention, Map, int]:
    """Reads a node in parentheses, or a name in quotes.

    Returns:
        The node, properties given in braces after its name, and the place behind it.

    Raises:
        LineFault: There is no node at this place, or it is only the pattern of one.
    """
    if text[at : at + 1] == "(":
        end = _closing(text, at)
        mention, properties = read_mention(text[at + 1 : end])
        return mention, properties, end + 1
    if text[at : at + 1] in {*CLOSERS} and (quoted := read_quoted(text, at)):
        return _checked(Mention(quoted[0]), text[at + 1 : quoted[1] - 1]), {}, quoted[1]
    raise LineFault("expected a thing in parentheses, like (City: Lyon)")


def read_mention(text: str) -> tuple[Mention, Map]:
    """Reads what stands between a node's parentheses, and properties in braces after it.

    Raises:
        LineFault: There is no name, or only the pattern of one.
    """
    text = text.strip()
    if text.startswith("(") and text.endswith(")") and _closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    properties: Map = {}
    if text.endswith("}") and (brace := text.find("{")) >= 0:
        properties = read_map(text[brace + 1 : -1])
        text = text[:brace].strip()
        cypher = _CYPHER.fullmatch(text)
        titles = [key for key in _TITLES if isinstance(properties.get(key), str)]
        if titles and (cypher or not text):
            title = str(properties.pop(titles[0]))
            return _checked(Mention(title, label_name(cypher[1]) if cypher else ""), title), properties
    if alone := _quoted(text):
        return _checked(Mention(alone), text[1:-1]), properties
    match = _LABEL.match(text) or _LABEL_QUOTED.match(text)
    if match is None or not text[match.end() :].strip():
        name = " ".join(text.strip(": ").split())
        return _checked(Mention(name), name), properties
    rest = text[match.end() :].strip()
    quoted = _quoted(rest)
    name = quoted or " ".join(rest.split())
    raw = rest[1:-1] if quoted else name
    whole = "" if quoted else " ".join(text.split())
    return _checked(Mention(name, label_name(match[1]), whole), raw, quoted=bool(quoted)), properties


def _quoted(text: str) -> str:
    if text[:1] in CLOSERS and (read := read_quoted(text, 0)) and read[1] == len(text):
        return read[0]
    return ""


def _checked(mention: Mention, raw: str, *, quoted: bool = False) -> Mention:
    if not mention.name.strip():
        raise LineFault("the thing has no name")
    if is_placeholder(raw) or (not quoted and is_form(mention.label, mention.name)) or is_placeholder(mention.label):
        raise LineFault("this is the pattern of a fact, not a fact")
    if len(mention.name) > _LONGEST_NAME:
        raise LineFault("the name is too long")
    return mention


def _closing(text: str, at: int) -> int:
    """Finds the parenthesis that closes the one at a place; quotes that begin a name protect what is in them."""
    depth = 0
    place = at
    while place < len(text):
        letter = text[place]
        if letter in '"“«' and text[at + 1 : place].rstrip()[-1:] in {"", ":", "("}:
            quoted = read_quoted(text, place)
            if quoted and text[quoted[1] :].lstrip()[:1] in {")", "{"}:
                place = quoted[1]
                continue
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return place
        place += 1
    last = _last_closing(text, at)
    if last < 0:
        raise LineFault("a parenthesis is not closed")
    return last


def _last_closing(text: str, at: int) -> int:
    """Finds the parenthesis that ends a name which holds an opening one too many."""
    for match in re.finditer(r"\)(?=\s*(?:-|–|—|<|→|=>|$|\w[\w ]{0,40}=))", text[at:]):
        return at + match.start()
    return -1
