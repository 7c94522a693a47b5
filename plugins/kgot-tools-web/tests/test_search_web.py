"""``search_web``: each engine, what is said where one fails, and how many sub-questions find their page."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import logging
import re
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from ddgs.engines.duckduckgo import Duckduckgo

from kgot_core.errors import KgotError, TransientToolError
from kgot_tools_web.dates import Span
from kgot_tools_web.net.guard import Guard
from kgot_tools_web.plugin import check_search
from kgot_tools_web.search.corpus import Corpus
from kgot_tools_web.search.duckduckgo import DuckDuckGo
from kgot_tools_web.search.services import SerpApi
from kgot_tools_web.search.stored import StoredPages
from kgot_tools_web.session import WebSession
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.tools.search_web import search, written

GOAL = 0.9
KEY = "sk-test-ABC123DEF456"


def sub_questions(kit: ModuleType) -> Iterator[tuple[str, str]]:
    """Gives each sub-question, earlier answers filled in, with the page that supports it."""
    whole = kit.SHARED / "questions.jsonl"
    lines = (whole if whole.is_file() else kit.DATA / "questions.jsonl").read_text("utf-8").splitlines()
    for item in map(json.loads, lines):
        answers = [step["answer"] for step in item.get("decomposition") or ()]
        for step in item.get("decomposition") or ():
            filled = re.sub(r"#(\d+)", lambda found, known=answers: known[int(found[1]) - 1], step["question"])
            yield filled, step.get("page") or item["context_pages"][step["paragraph_support_idx"]]


async def test_sub_questions_find_their_page_among_the_first_ten(web_kit: ModuleType, capsys: Any) -> None:
    whole = web_kit.SHARED / "pages.jsonl.gz"
    engine = StoredPages(Corpus(whole if whole.is_file() else web_kit.DATA / "pages.jsonl"))
    asked = list(sub_questions(web_kit))
    found = 0
    for question, page in asked:
        results = await engine.search(question, 10, Span())
        found += any(result.url == f"pages:{page}" for result in results.found)
    with capsys.disabled():
        sys.stdout.write(f"\nsub-questions whose page is among the first ten: {found} of {len(asked)}\n")
    assert found >= GOAL * len(asked)


def test_stored_pages_are_searched_and_read_offline(
    call: Callable[..., Any], web: Any, web_kit: Any, tmp_path: Path
) -> None:
    packed = tmp_path / "stored.jsonl.gz"
    packed.write_bytes(gzip.compress((web_kit.DATA / "pages.jsonl").read_bytes()))
    more = {"search": (f"pages:{packed}",)}
    result = call("search_web", more=more, query="which band made the album Maiden Japan")
    assert "1. Maiden Japan" in result.text and 'engine="pages"' in result.text
    first = result.artifact.sources[0]
    assert first.title == "Maiden Japan" and first.address.startswith("pages:p")
    page = call("visit_page", more=more, url=first.address)
    assert "live EP" in page.text and not web.seen
    none = call("search_web", more=more, query="zzzz")
    assert not none.failed and "no results for 'zzzz'" in none.text


def test_the_dates_of_stored_pages_are_looked_at(call: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "dated.jsonl"
    lines = [
        {"title": f"Fair {year}", "text": "the fair of Orm", "date": f"{year}-05-01"} for year in (2014, 2015, 2016)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    result = call("search_web", more={"pages": str(file)}, query="fair", since="2015", until="2015-05")
    assert "Fair 2015 (2015-05-01)" in result.text and "Fair 2014" not in result.text and "2016" not in result.text
    wrong = call("search_web", more={"pages": str(file)}, query="fair", since="lately")
    assert wrong.failed and "write 2015, 2015-03 or 2015-03-14" in wrong.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read"),
        ("{}\nnonsense\n", "line 2 of the stored pages"),
        ("[1]\n", "line 1 of the stored pages"),
    ],
)
def test_a_bad_file_of_pages_is_said(call: Callable[..., Any], tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "bad.jsonl"
    if text is not None:
        file.write_text(text)
    result = call("search_web", more={"pages": str(file)}, query="fair")
    assert result.failed and words in result.text and str(tmp_path) not in result.text


def test_searxng_is_asked(call: Callable[..., Any], web: Any) -> None:
    result = call("search_web", more={"searxng_url": web.url, "allow_hosts": ()}, query="Maiden Japan")
    # Its host is open to the search alone: results on it are as private as anything on this machine.
    assert web.seen["/search"] == 1 and "no results" in result.text
    result = call("search_web", more={"searxng_url": web.url}, query="Maiden Japan")
    assert 'engine="searxng"' in result.text and web.page_url("Maiden Japan") in result.text


def test_a_searxng_without_json_is_told(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    web.paths["/search"] = web_kit.Answer(b"<p>Forbidden</p>", status=403)
    result = call("search_web", more={"search": ("searxng",), "searxng_url": web.url}, query="x")
    assert result.failed and "json among the search.formats" in result.text


def test_serpapi_errors_and_odd_items(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    """Case D38."""
    more = {"serpapi_key": KEY, "serpapi_url": f"{web.url}/serp"}

    def says(**data: Any) -> Any:
        web.paths["/serp"] = web_kit.Answer(json.dumps(data).encode(), "application/json")
        return call("search_web", more={**more, "cache_hours": 0.0}, query="ships")

    wrong = says(error="Invalid API key.")
    assert wrong.failed and "Invalid API key" in wrong.text and web.seen["/serp"] == 1
    assert "no results" in says(search_metadata={"status": "Success"}).text
    good = {"title": "Ships", "link": "https://ships.example/", "snippet": "Three ships."}
    mixed = says(organic_results=[good, {"title": "no link"}, {"link": "https://b.example/"}, "odd"])
    assert "https://ships.example/" in mixed.text and "https://b.example/" in mixed.text
    web.paths["/serp"] = web_kit.Answer(f"no such key {KEY}".encode(), status=401)
    refused = call("search_web", more=more, query="ships")
    assert refused.failed and "tools.web.serpapi_key" in refused.text
    for result in (wrong, mixed, refused):
        assert "ABC123DEF456" not in str(result)


def test_the_search_key_is_nowhere_to_be_read(
    run_tool: Callable[..., Any], web: Any, web_kit: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Case D47: the key of SerpApi, which stands in the address, with every log on."""
    caplog.set_level(logging.DEBUG)
    web.paths["/serp"] = web_kit.Answer(f"no such key {KEY}".encode(), status=401)
    ended = run_tool("search_web", more={"serpapi_key": KEY, "serpapi_url": f"{web.url}/serp"}, query="ships")
    assert ended.result.failed and web.seen["/serp"] == 1
    assert "ABC123DEF456" not in f"{ended.result} {ended.records} {ended.requests}"
    with contextlib.closing(socket.socket()) as closed:
        closed.bind(("127.0.0.1", 0))  # and never listens
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/serp"
        # The engine by itself: a run would try again, with pauses.
        engine = SerpApi(WebSession(WebSettings(serpapi_key=KEY, serpapi_url=nobody)))
        with pytest.raises(TransientToolError) as told:
            asyncio.run(engine.search("ships", 5, Span()))
    assert "ABC123DEF456" not in "".join(traceback.format_exception(told.value))
    shown = "\n".join(f"{record.getMessage()} {record.exc_text} {record.__dict__}" for record in caplog.records)
    assert "ABC123DEF456" not in shown
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert all(b"ABC123DEF456" not in file.read_bytes() for file in written)


def test_dates_reach_serpapi(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    asked: list[Any] = []

    def answer(query: Any) -> Any:
        asked.append(query)
        return web_kit.Answer(b"{}", "application/json")

    web.paths["/serp"] = answer
    more = {"serpapi_key": KEY, "serpapi_url": f"{web.url}/serp"}
    call("search_web", more=more, query="ships", since="2015-02", until="2015-02")
    assert asked[0]["tbs"] == "cdr:1,cd_min:02/01/2015,cd_max:02/28/2015"


def test_no_key_is_kept_on_disk(call: Callable[..., Any], web: Any, web_kit: Any, own_cache: Path) -> None:
    web.paths["/serp"] = web_kit.Answer(b"{}", "application/json")
    call("search_web", more={"serpapi_key": KEY, "serpapi_url": f"{web.url}/serp"}, query="ships")
    kept = [file for file in own_cache.rglob("*") if file.is_file()]
    assert kept and all(b"ABC123DEF456" not in file.read_bytes() for file in kept)


SNIPPET = "<div class=body><h2><a>{title}</a></h2><a href='{url}'>{text}</a></div>"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, SNIPPET.format(title="Ships", url="https://ships.example/", text="Three."), "https://ships.example/"),
        (200, SNIPPET.format(title="odd", url="javascript:x()", text="x"), "no results for 'ships'"),
        (200, "<p>Nothing here</p>", "no results for 'ships'"),
        (200, "", "DuckDuckGo"),
        (202, "<p>Are you a robot?</p>", "DuckDuckGo refuses the search"),
        (403, "<p>No</p>", "DuckDuckGo refuses the search"),
    ],
)
async def test_what_duckduckgo_gives(
    web: Any, web_kit: Any, monkeypatch: pytest.MonkeyPatch, status: int, body: str, words: str
) -> None:
    """The library with its own requests, whose address alone is that of the loopback web."""
    monkeypatch.setattr(Duckduckgo, "search_url", f"{web.url}/html/")
    asked: list[Mapping[str, str]] = []

    def answer(query: Mapping[str, str]) -> Any:
        asked.append(query)
        return web_kit.Answer(body.encode(), status=status)

    web.paths["/html/"] = answer
    try:
        _, results = await search([DuckDuckGo(WebSettings())], "ships", 5, Span(), Guard())
    except KgotError as error:
        assert words in str(error)
    else:
        assert words in written("ships", "duckduckgo", results)
    assert len(asked) == 1


async def test_a_duckduckgo_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Duckduckgo, "search_url", "http://127.0.0.1:1/html/")
    with pytest.raises(TransientToolError, match="cannot be reached"):
        await DuckDuckGo(WebSettings()).search("ships", 5, Span())


def test_wikipedia_is_searched_without_any_key(call: Callable[..., Any], web: Any) -> None:
    result = call("search_web", more={"search": ("wikipedia",)}, query="Maiden Japan")
    assert 'engine="wikipedia"' in result.text and web.page_url("Maiden Japan") in result.text


def test_the_next_engine_answers_where_the_first_fails(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    web.paths["/search"] = web_kit.Answer(status=500)
    result = call("search_web", more={"search": ("searxng", "wikipedia"), "searxng_url": web.url}, query="Alps")
    assert not result.failed and 'engine="wikipedia"' in result.text and "error of its own (500)" in result.text


def test_results_on_blocked_hosts_are_left_out(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    items = [{"title": name, "url": f"https://{name}.example/", "content": "the answer"} for name in ("good", "bad")]
    web.paths["/search"] = web_kit.Answer(json.dumps({"results": items}).encode(), "application/json")
    result = call("search_web", more={"searxng_url": web.url, "block_hosts": ("bad.example",)}, query="x")
    assert "good.example" in result.text and "bad" not in result.text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"search": ("serpapi",)}, "tools.web.serpapi_key"),
        ({"search": ("searxng",)}, "tools.web.searxng_url"),
        ({"search": ("pages",)}, "tools.web.pages"),
        ({"search": ("duckduckgo",), "block_hosts": ("*.DuckDuckGo.com",)}, "tools.web.block_hosts"),
        ({"search": ("wikipedia",), "block_hosts": ("https://en.wikipedia.org/wiki/",)}, "tools.web.block_hosts"),
        ({"search": ("altavista",)}, "pages, searxng, serpapi, duckduckgo, wikipedia"),
    ],
)
def test_what_to_set_is_said(given: dict[str, Any], words: str) -> None:
    problem = check_search(WebSettings(**given))
    assert problem is not None and words in problem.hint
    assert check_search(WebSettings()) is None
