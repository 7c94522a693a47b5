"""What the Surfer can do, as it is offered to its model (paper, B.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgot_core.contracts.model import ToolSpec

FINAL = "final_answer"
OUTSIDE = ("search", "navigate", "visit_page", "find_archived", "wikipedia")
"""Actions that fetch something; several of them in one reply run at once."""


def _spec(name: str, description: str, required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name, description, schema)


def _text(description: str) -> Mapping[str, Any]:
    return {"type": "string", "description": description}


_ADDRESS = _text("Whole address, as a link or a result shows it")

ACTIONS: tuple[ToolSpec, ...] = (
    _spec(
        "search",
        "Searches the web; gives titles, addresses and snippets.",
        ("query",),
        query=_text("A few words that the page must hold"),
        since=_text("Only pages from this year, month or day on: 2015, 2015-03, 2015-03-14"),
        until=_text("Only pages up to this year, month or day"),
    ),
    _spec(
        "navigate",
        "Searches for a site or page by its name and opens the first result at once.",
        ("query",),
        query=_text("Name of the site or page"),
    ),
    _spec("visit_page", "Opens a page or file by its address.", ("url",), url=_ADDRESS),
    _spec("page_down", "Shows the next part of the open page."),
    _spec("page_up", "Shows the part before of the open page."),
    _spec(
        "find_on_page",
        "Goes to the first place on the open page with some words; * stands for anything, ? for one character.",
        ("pattern",),
        pattern=_text("One word or a few, such as population or popul*2020"),
    ),
    _spec("find_next", "Goes to the next such place on the open page."),
    _spec(
        "find_archived",
        "Opens a page as the web archive kept it near a date, also one that is gone now.",
        ("url", "date"),
        url=_ADDRESS,
        date=_text("2015, 2015-03 or 2015-03-14"),
    ),
    _spec("page_summary", "Reads the whole open page and sums up what matters for the task."),
    _spec(
        "wikipedia",
        "Opens a Wikipedia article by its title.",
        ("title",),
        title=_text("Exact title of the article"),
        date=_text("The article as it was then: 2015, 2015-03 or 2015-03-14"),
    ),
    _spec(
        FINAL,
        "Ends the search with a report.",
        ("answer",),
        answer=_text("What was found, with all names, numbers and dates; also what was not found"),
        passages={
            "type": "array",
            "description": "What it rests on: for each fact the page's address and the sentence or row, copied exactly",
            "items": {
                "type": "object",
                "properties": {"url": _ADDRESS, "text": _text("Copied word for word")},
                "required": ["url", "text"],
            },
        },
    ),
)
