"""Times one Enhance step with independent page visits beside the same visits one after the other.

A web on loopback answers each page after a pause, as a server far away does. The model's replies are scripted: it asks
for all pages in one Enhance step. What is measured is the wall time from the first visit's start to the last one's end,
as the events tell it, with everything between: guard, cache, fetching, reading, journal.

    python benchmarks/tools.py [--visits 8] [--pause 0.3]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import kgot_core
from kgot_core.sinks.memory import MemorySink
from kgot_core.testing.scripted_model import Asked, Say, ScriptedModel


@dataclass(frozen=True)
class Measured:
    """Seconds of wall time, pages that were read, and the most that were open at once."""

    seconds: float
    read: int
    at_once: int


class SlowWeb:
    """Pages that come after a pause.

    Args:
        pause: Seconds.

    Attributes:
        most: The most requests that were open at once.
    """

    def __init__(self, pause: float) -> None:
        self._open = 0
        self.most = 0
        lock = threading.Lock()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with lock:
                    web._open += 1
                    web.most = max(web.most, web._open)
                time.sleep(pause)
                with lock:
                    web._open -= 1
                text = f"Page {self.path} says that ship {self.path[2:]} is of 1952."
                body = f"<title>{self.path}</title><p>{text}</p>".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def place(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server.server_port}"


@contextmanager
def serving(pause: float) -> Iterator[SlowWeb]:
    """Runs the web."""
    web = SlowWeb(pause)
    thread = threading.Thread(target=web.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.server.shutdown()
        web.server.server_close()
        thread.join()


def script(calls: Sequence[Say]) -> Any:
    """Scripts a model that makes each of the replies' calls in an Enhance step of its own, then solves."""
    left = list(calls)

    def reply(asked: Asked) -> Any:
        prompt = asked.prompt
        if asked.tools or "Call the tools that bring this information now." in prompt:
            return left.pop(0)
        if "Write into the graph what the new information says" in prompt:
            return '```python r1\nG.add_node("ship", label="Ship", name="ship", year=1952)\n```'
        if "You give the final answer to a task" in prompt:
            return "VALUE: 1952\n1952"
        if "You check whether a partial answer still needs a calculation." in prompt:
            return "NO"
        if not left:
            return 'SOLVE\nThe answer is there.\n```python\nresult = G.nodes["ship"]["year"]\n```'
        return "ENHANCE\nThe pages have not been read."

    return reply


async def measure(visits: int, pause: float, together: bool) -> Measured:
    """Runs a task whose tools visit pages, all in one Enhance step or each in one of its own."""
    with serving(pause) as web:
        asked = [("visit_page", {"url": f"http://{web.place}/p{number}"}) for number in range(visits)]
        calls = [Say("", asked)] if together else [Say("", [call]) for call in asked]
        settings = {
            "backend": "networkx",
            "tools.enabled": ["visit_page"],
            "tools.web.allow_hosts": [web.place],
            "tools.web.cache_hours": 0,
            "tools.web.per_second": 1_000,
            "loop.max_iterations": visits + 1,
        }
        sink = MemorySink()
        models = {"graph": ScriptedModel(script(calls))}
        async with kgot_core.open(settings, models=models, runs=None, sinks=[sink]) as session:
            await session.solve("Of which year is the ship?")
        events = [record for record in sink.records if record["kind"] == "tool_called"]
        read = sum(not record["failed"] and "is of 1952" in str(record["text"]) for record in events)
        if together:
            begun = min(float(record["started"]) for record in events)
            seconds = max(float(record["started"]) + float(record["seconds"]) for record in events) - begun
        else:
            seconds = sum(float(record["seconds"]) for record in events)
        return Measured(seconds, read, web.most)


def main() -> int:
    """Measures both and prints them; 1 where a page was not read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds that each page takes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KGOT_CACHE_DIR"] = folder
        one_step = asyncio.run(measure(given.visits, given.pause, together=True))
        in_turn = asyncio.run(measure(given.visits, given.pause, together=False))
    print(f"{given.visits} visits of {given.pause:g} s")
    print(f"in one Enhance step: {one_step.seconds:.2f} s, {one_step.at_once} at once")
    print(f"one after the other: {in_turn.seconds:.2f} s, {in_turn.at_once} at once")
    print(f"ratio: {in_turn.seconds / one_step.seconds:.1f}")
    return int(one_step.read != given.visits or in_turn.read != given.visits)


if __name__ == "__main__":
    sys.exit(main())
