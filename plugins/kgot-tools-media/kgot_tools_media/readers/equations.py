"""Equations of Word documents as text in one line, in the manner of LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lxml import etree

from kgot_tools_media.readers.xml import parser

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def equations_as_text(document: bytes) -> bytes:
    """Puts a run of text in the place of each equation of a ``document.xml``."""
    if b"oMath" not in document:
        return document
    root = etree.fromstring(document, parser())
    for equation in list(root.iter(f"{_M}oMath")):
        run = etree.Element(f"{_W}r")
        text = etree.SubElement(run, f"{_W}t")
        text.text = f" ${_written(equation)}$ "
        text.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
        parent = equation.getparent()
        outer = parent.getparent() if parent is not None and parent.tag == f"{_M}oMathPara" else None
        place, old = (parent, equation) if outer is None else (outer, parent)
        if place is None or old is None:
            continue
        if place.tag != f"{_W}p":
            paragraph = etree.Element(f"{_W}p")
            paragraph.append(run)
            run = paragraph
        run.tail = old.tail
        if outer is not None and len(parent) > 1:
            old.addprevious(run)
            parent.remove(equation)
        else:
            place.replace(old, run)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def _written(element: etree._Element) -> str:
    name = etree.QName(element).localname if isinstance(element.tag, str) else ""
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    form = _FORMS.get(name)
    return form(element) if form else "".join(map(_written, element))


def _part(element: etree._Element, name: str) -> str:
    found = element.find(f"{_M}{name}")
    return "" if found is None else "".join(map(_written, found))


def _root(element: etree._Element) -> str:
    degree = _part(element, "deg")
    return f"\\sqrt[{degree}]{{{_part(element, 'e')}}}" if degree else f"\\sqrt{{{_part(element, 'e')}}}"


def _sum(element: etree._Element) -> str:
    sign = element.find(f"{_M}naryPr/{_M}chr")
    shown = sign.get(f"{_M}val") if sign is not None else "∫"
    return f"{shown}_{{{_part(element, 'sub')}}}^{{{_part(element, 'sup')}}} {_part(element, 'e')}"


def _fence(element: etree._Element) -> str:
    inside = ", ".join("".join(map(_written, found)) for found in element.findall(f"{_M}e"))
    opening, closing = (element.find(f"{_M}dPr/{_M}{name}") for name in ("begChr", "endChr"))
    left = opening.get(f"{_M}val", "") if opening is not None else "("
    right = closing.get(f"{_M}val", "") if closing is not None else ")"
    return f"{left}{inside}{right}"


def _matrix(element: etree._Element) -> str:
    rows = [
        " & ".join("".join(map(_written, found)) for found in line.findall(f"{_M}e"))
        for line in element.findall(f"{_M}mr")
    ]
    return "[" + " \\\\ ".join(rows) + "]"


_FORMS: Mapping[str, Callable[[etree._Element], str]] = MappingProxyType(
    {
        "f": lambda found: f"({_part(found, 'num')})/({_part(found, 'den')})",
        "sSup": lambda found: f"{_part(found, 'e')}^{{{_part(found, 'sup')}}}",
        "sSub": lambda found: f"{_part(found, 'e')}_{{{_part(found, 'sub')}}}",
        "sSubSup": lambda found: f"{_part(found, 'e')}_{{{_part(found, 'sub')}}}^{{{_part(found, 'sup')}}}",
        "rad": _root,
        "nary": _sum,
        "d": _fence,
        "m": _matrix,
    }
)
