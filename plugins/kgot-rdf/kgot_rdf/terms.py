"""RDF terms as text in the form of N-Triples, and what they are as values of the neutral graph."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

from kgot_core.graph.values import Iri, LangText, Scalar, TypedText, decode, encode

Term: TypeAlias = str
Triple: TypeAlias = tuple[Term, Term, Term]

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# A value that RDF has no literal for, such as a date with seconds in its offset, as JSON text.
OTHER = "urn:kgot:value"

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?', re.DOTALL)
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f]')
_NAMED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
_LANGUAGE = re.compile(r"[a-z]{2,8}(-[a-z0-9]{1,8})*")
# The most frequent literal but plain text, told without taking it apart.
_PLAIN_INTEGER = re.compile(rf'"(?:0|-?[1-9]\d{{0,17}})"\^\^<{re.escape(XSD)}integer>')
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"
_TIME = r"\d\d:\d\d:\d\d(?:\.\d{1,6})?"
_TEMPORAL: dict[str, tuple[re.Pattern[str], Callable[[str], Scalar]]] = {
    "dateTime": (re.compile(rf"\d{{4}}-\d\d-\d\dT{_TIME}{_ZONE}"), datetime.datetime.fromisoformat),
    "date": (re.compile(r"\d{4}-\d\d-\d\d"), datetime.date.fromisoformat),
    "time": (re.compile(_TIME + _ZONE), datetime.time.fromisoformat),
}
_SPECIAL = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
# Longer numbers than Python turns into text by default stay text.
_MOST_DIGITS = 4_000


def is_literal(term: Term) -> bool:
    """Tells a literal from an IRI or a blank node."""
    return term[0] == '"'


def iri(value: str) -> Term:
    """Gives the term of an IRI."""
    return f"<{value}>"


def is_iri_text(value: str) -> bool:
    """Tells whether a text is an absolute IRI that every store takes."""
    return _IRI.fullmatch(value) is not None


def literal(text: str, *, datatype: str = "", language: str = "") -> Term:
    """Gives the term of a literal."""
    escaped = _UNSAFE.sub(_escape, text) if _UNSAFE.search(text) else text
    if language:
        return f'"{escaped}"@{language.lower()}'
    return f'"{escaped}"^^<{datatype}>' if datatype and datatype != f"{XSD}string" else f'"{escaped}"'


def read_literal(term: Term) -> tuple[str, str, str]:
    """Gives a literal's text, its language and its datatype; the latter two may be empty.

    Raises:
        ValueError: The term is no literal.
    """
    found = _LITERAL.fullmatch(term)
    if found is None:
        raise ValueError(f"not a literal: {term[:80]}")
    text = found[1]
    if "\\" in text:
        text = _ESCAPED.sub(_unescape, text)
    return text, (found[2] or "").lower(), found[3] or ""


def canonical(term: Term) -> Term:
    """Gives the one form of a term, whatever form a store or a statement gives it: ``"01"`` is ``"1"``."""
    if term[0] != '"' or (term[-1] == '"' and "\\" not in term) or _PLAIN_INTEGER.fullmatch(term):
        return term
    text, language, datatype = read_literal(term)
    if datatype.startswith(XSD):
        text = _canonical_text(text, datatype[len(XSD) :])
    return literal(text, datatype=datatype, language=language)


def to_term(value: Scalar) -> Term:
    """Gives the literal of a value. Every value has one; an IRI becomes an ``xsd:anyURI``.

    Raises:
        ValueError: The text holds characters that no encoding has.
    """
    term = _to_term(value)
    try:
        term.encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character (a lone surrogate)") from None
    back = from_term(term)
    if isinstance(value, LangText) and isinstance(back, LangText):
        return term  # languages are told apart without case
    if back != value and not (isinstance(value, float) and math.isnan(value)):
        return literal(json.dumps(encode(value)), datatype=OTHER)
    return term


def from_term(term: Term) -> Scalar:
    """Gives the value of a literal."""
    text, language, datatype = read_literal(term)
    if language:
        return LangText(text, language)
    if not datatype:
        return text
    if datatype == OTHER:
        try:
            other = decode(json.loads(text))
        except (ValueError, KeyError):
            return TypedText(text, datatype)
        return TypedText(text, datatype) if isinstance(other, tuple) else other
    if not datatype.startswith(XSD):
        return TypedText(text, datatype)
    value = _xsd_value(text, datatype[len(XSD) :])
    return TypedText(text, datatype) if value is None else value


def _to_term(value: Scalar) -> Term:
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, bool):
        return literal("true" if value else "false", datatype=f"{XSD}boolean")
    if isinstance(value, int):
        if value.bit_length() > 3 * _MOST_DIGITS:
            return literal("", datatype=OTHER)
        return literal(str(value), datatype=f"{XSD}integer")
    if isinstance(value, float):
        return literal(_double_text(value), datatype=f"{XSD}double")
    if isinstance(value, datetime.datetime):
        return canonical(literal(value.isoformat(), datatype=f"{XSD}dateTime"))
    if isinstance(value, datetime.date):
        return literal(value.isoformat(), datatype=f"{XSD}date")
    if isinstance(value, datetime.time):
        return canonical(literal(value.isoformat(), datatype=f"{XSD}time"))
    if isinstance(value, Iri):
        return literal(value.value, datatype=f"{XSD}anyURI")
    if isinstance(value, LangText):
        return literal(value.text, language=value.language if _LANGUAGE.fullmatch(value.language.lower()) else "")
    return literal(value.text, datatype=value.datatype if is_iri_text(value.datatype) else "")


def _xsd_value(text: str, kind: str) -> Scalar | None:
    if kind == "string":
        return text
    if kind == "anyURI":
        return Iri(text)
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text)
    if kind == "integer":
        return int(text) if _INTEGER.fullmatch(text) and len(text) <= _MOST_DIGITS else None
    if kind == "double":
        return _SPECIAL[text] if text in _SPECIAL else float(text) if _DOUBLE.fullmatch(text) else None
    if kind == "decimal" and _DECIMAL.fullmatch(text) and len(text) <= _MOST_DIGITS:
        number = float(text)
        return number if math.isfinite(number) and Decimal(repr(number)) == Decimal(text) else None
    if kind in _TEMPORAL and _TEMPORAL[kind][0].fullmatch(text):
        try:
            return _TEMPORAL[kind][1](text)
        except ValueError:
            return None
    return None


def _canonical_text(text: str, kind: str) -> str:
    if kind == "decimal" and _DECIMAL.fullmatch(text) and len(text) <= _MOST_DIGITS:
        shown = format(Decimal(text), "f")
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
        return "0" if shown == "-0" else shown
    if kind in ("dateTime", "time"):
        head, dot, tail = text.partition(".")
        if dot and (found := re.fullmatch(r"(\d+?)0*(\D.*)?", tail)):
            fraction = found[1].rstrip("0")
            text = head + (f".{fraction}" if fraction else "") + (found[2] or "")
        return re.sub(r"[+-]00:00$", "Z", text)
    value = _xsd_value(text, kind)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double_text(value)
    return str(value) if isinstance(value, int) else text


def _double_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else ("INF" if value > 0 else "-INF")


def _escape(found: re.Match[str]) -> str:
    return _SHOWN.get(found[0]) or f"\\u{ord(found[0]):04X}"


def _unescape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code:
        return chr(int(code, 16))
    return _NAMED.get(found[3], found[3])
