"""HTML to Markdown: the main text, with tables, lists and links kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag
from markdownify import MarkdownConverter as _Untyped

from kgot_tools_web.net.urls import joined
from kgot_tools_web.reading.tables import spread_out

_SILENT = "script, style, noscript, template, svg, canvas, button, input, select, textarea, dialog, object, embed"
_AROUND = (
    "nav, aside, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=dialog],"
    " [role=alertdialog], .mw-editsection, .navbox, .noprint, .mw-jump-link"
)
_MAIN = ("main", "[role=main]", "#mw-content-text", "article", "#content", "#main", ".content")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])")
_ENOUGH = 0.5
"""Part of a page's text that its main element has to hold to be taken for all of it."""

_DEEPEST = 150
"""Levels of elements within each other that are read as such."""

MarkdownConverter: Any = _Untyped  # its methods are found by their names, which its types do not know


@dataclass(frozen=True)
class Html:
    """A page that was read.

    Attributes:
        title: Its title.
        text: Its main text as Markdown.
        scripted: Scripts may write more of it.
        moves_to: Where a meta element sends the reader on; empty where there is none.
        crowded: Its tables claim so many places that cells are not repeated in all those which they span.
    """

    title: str
    text: str
    scripted: bool
    moves_to: str = ""
    crowded: bool = False


def read_html(html: str, url: str, whole: bool = False) -> Html:
    """Reads a page.

    Args:
        html: The page.
        url: Its address, from which its links start.
        whole: Everything in it is main text: a part of a page that an interface gave.
    """
    soup = BeautifulSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", html), "lxml")
    _flatten(soup)
    base = soup.find("base", href=True)
    start = (joined(url, str(base["href"])) if isinstance(base, Tag) else "") or url
    scripted = bool(soup.find("script"))
    title, moves_to = _title(soup), _moves_to(soup, start)
    _tidy(soup)
    root = soup.body or soup
    if not whole:
        root = _main(root)
    _links(root, start)
    crowded = not spread_out(root)
    converter = _Converter(
        heading_style="ATX", bullets="-", escape_misc=False, escape_underscores=False, escape_asterisks=False
    )
    text = str(converter.convert_soup(root))
    text = re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{3,}", "\n\n", text)).strip()
    return Html(title, text, scripted, moves_to, crowded)


class _Converter(MarkdownConverter):  # type: ignore[misc]
    """Markdown whose table cells keep to one line and to their column."""

    def convert_td(self, el: Any, text: str, parent_tags: Any) -> str:
        cell = " ".join(text.split()).replace("|", "\\|")
        return f" {cell} |"

    convert_th = convert_td

    def convert_img(self, el: Any, text: str, parent_tags: Any) -> str:
        described, source = " ".join((el.get("alt") or "").split()), el.get("src") or ""
        if not described or not source.startswith("http"):
            return f"[image: {described}]" if described else ""
        return f"![{described}]({source})"

    def convert_math(self, el: Any, text: str, parent_tags: Any) -> str:
        return str(el.get("alttext") or text)


def _title(soup: BeautifulSoup) -> str:
    if soup.title and (title := soup.title.get_text(" ", strip=True)):
        return " ".join(title.split())
    heading = soup.find("h1")
    return " ".join(heading.get_text(" ", strip=True).split()) if heading else ""


def _moves_to(soup: BeautifulSoup, url: str) -> str:
    for meta in soup.find_all("meta", attrs={"http-equiv": re.compile("refresh", re.IGNORECASE)}):
        found = re.match(
            r"\s*(\d{1,9})\s*[;,]\s*url\s*=\s*[\"']?([^\"']+)", str(meta.get("content", "")), re.IGNORECASE
        )
        if found and int(found[1]) <= 10:
            return joined(url, found[2].strip())
    return ""


def _flatten(soup: BeautifulSoup) -> None:
    """Makes text of what lies too deep: a converter goes down level by level, and some pages have thousands."""
    depths = {id(soup): 0}
    deepest = []
    for element in soup.descendants:
        if isinstance(element, Tag) and (depth := depths.get(id(element.parent))) is not None:
            if depth < _DEEPEST:
                depths[id(element)] = depth + 1
            else:
                deepest.append(element)
    for element in deepest:
        element.string = element.get_text(" ", strip=True)


def _tidy(soup: BeautifulSoup) -> None:
    """Takes away what no reader sees, and what stands around the text on every page of a site."""
    for remark in soup.find_all(string=lambda text: isinstance(text, Comment)):
        remark.extract()
    for frame in soup.select("iframe[src]"):
        frame.name = "a"
        frame["href"] = frame["src"]
        frame.string = f"embedded: {frame.get('title') or frame['src']}"
    for element in [*soup.select(_SILENT), *soup.select(_AROUND)]:
        if element.find("main") is None:
            element.decompose()
    for element in soup.find_all(True):
        if element.attrs is not None and _is_hidden(element):
            element.decompose()
    for element in soup.find_all("ol", start=True):
        if not re.fullmatch(r"[0-9]{1,9}", str(element["start"])):
            del element["start"]
    if soup.title:
        soup.title.decompose()


def _is_hidden(element: Tag) -> bool:
    if element.name in ("html", "body"):
        return False
    style = str(element.get("style", "")).lower()
    return element.has_attr("hidden") or bool(_HIDDEN.search(style)) or element.get("aria-hidden") == "true"


def _main(body: Tag) -> Tag:
    """Finds the element with the main text; the whole body where none holds most of it."""
    everything = len(body.get_text(" ", strip=True))
    for selector in _MAIN:
        found = body.select(selector)
        if len(found) == 1 and len(found[0].get_text(" ", strip=True)) >= _ENOUGH * everything:
            return found[0]
    # Without one, at least what frames the page goes.
    for element in body.select("body > header, body > footer, footer"):
        if len(element.get_text(" ", strip=True)) < _ENOUGH * everything:
            element.decompose()
    return body


def _links(root: Tag, url: str) -> None:
    """Makes links whole; those that lead nowhere become plain text."""
    for link in root.find_all("a"):
        href = str(link.get("href", "")).strip()
        whole = joined(url, href)
        if not whole.startswith(("http://", "https://")) or href.startswith("#") or not link.get_text(strip=True):
            link.unwrap()
        else:
            link["href"] = whole.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
            link.attrs.pop("title", None)
    for image in root.find_all("img"):
        image["src"] = joined(url, str(image.get("src", "")))
