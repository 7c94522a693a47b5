"""One spelling for labels, relation types and property keys, and one test of when two names are the same."""

from __future__ import annotations

import re
import unicodedata

THING = "Thing"
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLACEHOLDER = re.compile(r"<[^<>]*>|\{[^{}]*\}|\$\{?\w+\}?|\.{3}|…|_+|\?+")
_FORM_LABELS = frozenset({"label", "nodelabel", "entitytype", "nodetype", "kind", "type", "class", "label1", "label2"})
_FORM_NAMES = frozenset(
    {"name", "nodename", "entity", "entityname", "subject", "object", "name1", "name2", "entity1", "entity2", "source",
     "target", "thing"}
)  # fmt: skip
_FORM_RELATIONS = frozenset(
    {"RELATION", "REL", "RELATION_TYPE", "RELATIONSHIP", "EDGE_TYPE", "EDGE", "TYPE", "PREDICATE"}
)


def same_name(name: str) -> str:
    """Gives what two spellings of one name have in common: case, width and white space do not count."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def same_label(label: str) -> str:
    """Gives what two spellings of one label, key or type have in common: ``Film director`` is ``FilmDirector``."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", label).casefold() if letter.isalnum())


def label_name(text: str) -> str:
    """Spells a label: words joined, each with a capital (``film director`` becomes ``FilmDirector``)."""
    words = re.split(r"[^\w]+|_+", text.strip())
    return "".join(word[:1].upper() + word[1:] for word in words if word)


def key_name(text: str) -> str:
    """Spells a property key: lower case, words joined by ``_``."""
    return "_".join(_words(text)).lower()


def relation_name(text: str) -> str:
    """Spells a relation type: upper case, words joined by ``_``."""
    return "_".join(_words(text)).upper()


def is_placeholder(text: str) -> bool:
    """Tells whether a text only holds the place of another, as in the pattern of a form."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_form(label: str, name: str) -> bool:
    """Tells whether a node is the pattern ``(Label: name)`` itself, not a thing."""
    plain = same_label(name)
    return (
        is_placeholder(name)
        or is_placeholder(label)
        or plain in {"name", "entityname", "nodename"}
        or (same_label(label) in _FORM_LABELS and plain in _FORM_NAMES)
        or (not label and plain in _FORM_NAMES - {"thing", "source", "target"})
    )


def is_form_relation(relation: str) -> bool:
    """Tells whether a relation is the word of the pattern, not a relation."""
    return relation in _FORM_RELATIONS


def _words(text: str) -> list[str]:
    spaced = _CAMEL.sub(" ", text) if not text.isupper() else text
    return [word for word in re.split(r"[\W_]+", spaced) if word]
