"""Charts of Office files: the data that they show, read from the chart itself and never from a library's idea of it."""

from __future__ import annotations

from lxml import etree

from kgot_tools_media.markdown import table

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def chart_text(root: etree._Element) -> str:
    """Gives a chart's kind, title and data as a table.

    Args:
        root: The element ``chartSpace``, or one that holds it.

    Returns:
        Markdown; a point that is no number stands as it is, and is named below.
    """
    kinds = [etree.QName(found).localname for found in root.iter() if _is_plot(found)]
    title = root.find(f".//{_C}chart/{_C}title")
    words = "".join(run.text or "" for run in title.iter(f"{_A}t")) if title is not None else ""
    series = [_series(found, number) for number, found in enumerate(root.iter(f"{_C}ser"), 1)]
    labels = dict[int, str]()
    for _, categories, _ in series:
        labels.update(categories)
    places = sorted({place for _, categories, values in series for place in (*categories, *values)})
    rows = [["", *(name for name, _, _ in series)]]
    rows += [
        [labels.get(place, str(place + 1)), *(values.get(place, "") for _, _, values in series)] for place in places
    ]
    shown = f"Chart ({', '.join(dict.fromkeys(kinds)) or 'kind unknown'})" + (f": {words}" if words else "")
    bad = [
        f"{name}, {labels.get(place, place + 1)}: {value}"
        for name, _, values in series
        for place, value in sorted(values.items())
        if not _is_number(value)
    ]
    note = f"\nThese points are no numbers: {'; '.join(bad[:20])}" if bad else ""
    return f"{shown}\n\n{table(rows) if places else '(it holds no data)'}{note}"


def _series(found: etree._Element, number: int) -> tuple[str, dict[int, str], dict[int, str]]:
    name = "".join(found.xpath("./*[local-name()='tx']//*[local-name()='v']/text()")) or f"series {number}"
    categories = _points(found, "cat") or _points(found, "xVal")
    return name, categories, _points(found, "val") or _points(found, "yVal")


def _points(found: etree._Element, name: str) -> dict[int, str]:
    points: dict[int, str] = {}
    for point in found.iterfind(f"./{_C}{name}//{_C}pt"):
        value = point.find(f"{_C}v")
        index = point.get("idx", "")
        if value is not None and index.isdecimal() and len(index) < 10:
            # A category of several levels has several texts at one place.
            points[int(index)] = " / ".join(filter(None, [points.get(int(index)), _plain(value.text or "")]))
    return points


def _plain(text: str) -> str:
    """Takes the ``.0`` off a whole number."""
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def _is_plot(found: etree._Element) -> bool:
    return isinstance(found.tag, str) and found.tag.startswith(_C) and found.tag.endswith("Chart")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
