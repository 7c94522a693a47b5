"""What ``/w/api.php`` of a MediaWiki gives, as far as the tools ask it: search, facts, revisions, parsed pages."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

REDIRECTS = {"Iron maiden": "Iron Maiden", "Marlune Lake": "Marlune"}
OPTIONS = {
    "Kestrel": {
        "Kestrel (bird)": "a small falcon",
        "Kestrel (rocket)": "an invented rocket of 1952",
        "Kestrel (ship)": "an invented ship of Orm",
    }
}
OWN = {
    "Marlune": "Marlune is an invented lake. It is 61 metres deep.",
    "Marine": "Marine is a word for the sea.",
    "Kestrel (rocket)": "The Kestrel is an invented rocket with a payload of 41 kg.",
    "Orm": "Orm is an invented harbour.",
}
TABLE = """<h2>Ships</h2><p>Ships of Orm by year:</p><table class="wikitable"><caption>Ships</caption>
<tr><th rowspan="2">Year</th><th colspan="2">Ships</th></tr><tr><th>Sail</th><th>Steam</th></tr>
<tr><td rowspan="2">1952</td><td>3</td><td>5</td></tr>
<tr><td>4</td><td><a href="/wiki/Kestrel_(ship)">Kestrel</a></td></tr>
</table><h3>Later</h3><p>In 1960 there were none.</p><h2>Trade</h2><p>Herring was sold.</p>"""
REVISIONS = {
    "Orm": [
        (30, "2020-06-01T10:00:00Z", "<p>Orm is an invented harbour with 900 people.</p>" + TABLE),
        (20, "2015-03-01T10:00:00Z", "<p>Orm is an invented harbour with 700 people.</p>"),
        (10, "2010-01-01T10:00:00Z", "<p>Orm is a place.</p>"),
    ]
}
SUGGESTED = {"marlune": "marine"}


def answer(web: Any, query: Mapping[str, str]) -> Any:
    """Answers a request in format version 2."""
    if query.get("action") == "parse":
        return _parsed(web, query)
    if query.get("list") == "search":
        return _searched(web, query)
    return _facts(web, query)


def _known(web: Any) -> set[str]:
    return {*web.pages, *OPTIONS, *OWN}


def _searched(web: Any, query: Mapping[str, str]) -> Any:
    asked = query["srsearch"].lower()
    own = [title for title in (*OWN, *OPTIONS) if set(asked.split()) & set(title.lower().split())]
    own.sort(key=lambda title: title.lower() != asked)
    found = [(title, OWN.get(title, "")) for title in own] + [(page.title, page.text) for page in web.search(asked)]
    results = [{"title": title, "snippet": html.escape(text[:100]), "pageid": 1} for title, text in found]
    info = {"searchinfo": {"suggestion": SUGGESTED[asked]}} if asked in SUGGESTED else {}
    return {"query": {**info, "search": results[: int(query.get("srlimit", "10"))]}}


def _facts(web: Any, query: Mapping[str, str]) -> Any:
    title = query["titles"]
    redirects = [{"from": title, "to": REDIRECTS[title]}] if title in REDIRECTS else []
    title = REDIRECTS.get(title, title)
    if title not in _known(web):
        return {"query": {"redirects": redirects, "pages": [{"title": title, "missing": True}]}}
    page: dict[str, Any] = {"title": title, "pageid": 1, "fullurl": web.page_url(title)}
    if title in OPTIONS:
        page["pageprops"] = {"disambiguation": ""}
    if "rvstart" in query:
        older = [item for item in REVISIONS.get(title, []) if item[1] <= query["rvstart"]]
        page["revisions"] = [{"revid": number, "timestamp": at} for number, at, _ in older[:1]]
    return {"query": {"redirects": redirects, "pages": [page]}}


def _parsed(web: Any, query: Mapping[str, str]) -> Any:
    if "oldid" in query:
        for title, revisions in REVISIONS.items():
            for number, _, text in revisions:
                if str(number) == query["oldid"]:
                    return {"parse": {"title": title, "revid": number, "text": text}}
        return {"error": {"code": "nosuchrevid", "info": "There is no such revision."}}
    title = query["page"]
    if title in OPTIONS:
        items = "".join(
            f'<li><a href="/wiki/{name.replace(" ", "_")}">{name}</a>, {what}</li>'
            for name, what in OPTIONS[title].items()
        )
        text = f"<p><b>{title}</b> may refer to:</p><ul>{items}</ul>"
    elif title in REVISIONS:
        text = REVISIONS[title][0][2]
    elif title in web.pages:
        text = web.html_of(web.pages[title])
    elif title in OWN:
        text = f"<p>{OWN[title]}</p>"
    else:
        return {"error": {"code": "missingtitle", "info": "The page you specified doesn't exist."}}
    return {"parse": {"title": title, "revid": 30, "text": re.sub(r"\n", "", text)}}
