"""What the tools are tried with by ``kgot plugins check``: a little web on loopback, and no other."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kgot_core.contracts.trial import Trial
from kgot_tools_web.settings import WebSettings

TITLE = "Skerry Point"
TEXT = "The lighthouse of Skerry Point was first lit in 1952."
PAGE = f"<!doctype html><title>{TITLE}</title><main><h1>{TITLE}</h1><p>{TEXT}</p></main>"


@contextlib.contextmanager
def trial(settings: WebSettings, folder: Path) -> Iterator[Trial]:
    """Serves a page and a wiki, and gives stored pages to search in; nothing of it is kept on disk."""
    stored = folder / "pages.jsonl"
    stored.write_text(json.dumps({"title": TITLE, "text": TEXT}) + "\n", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    place = f"127.0.0.1:{server.server_port}"
    try:
        yield Trial(
            replace(
                settings,
                allow_hosts=(place,),
                block_hosts=(),
                search=("pages",),
                pages=str(stored),
                wikipedia_url=f"http://{place}/w/api.php",
                cache_hours=0.0,
                browser="never",
            ),
            calls={"visit_page": {"url": f"http://{place}/ships.html"}},
            bad_calls={
                "visit_page": {"url": "http://169.254.169.254/"},
                "wikipedia": {"title": "x", "language": "no such"},
            },
            reply='{"name": "final_answer", "arguments": {"answer": "1952"}}',
            untried={"youtube_transcript": "it reaches www.youtube.com alone"},
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        wiki = parts.path == "/w/api.php"
        body = json.dumps(_wiki(asked)) if wiki else PAGE
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if wiki else "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments: Any) -> None:
        """Says nothing."""


def _wiki(asked: Mapping[str, str]) -> Mapping[str, Any]:
    if asked.get("action") == "parse":
        return {"parse": {"text": f"<p>{TEXT}</p>"}}
    if asked.get("list") == "search":
        return {"query": {"search": []}}
    return {"query": {"pages": [{"title": asked.get("titles", TITLE)}]}}
