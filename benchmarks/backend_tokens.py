"""Counts what a run sends to the model, for each backend and solver: one task, one knowledge, scripted replies.

Two rounds write five elements, the second corrects the first; then the run solves, calculates and parses. Tokens are
counted with the tokenizer o200k_base over the messages of every request, ``n`` samples of one request once. Of
``rdf-remote`` there is no row: what it shows to the model is what ``rdf`` shows.

    python benchmarks/backend_tokens.py [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import runpy
import tempfile
from pathlib import Path
from typing import Any

import bpe_openai

from kgot_core.sinks.memory import MemorySink

TESTS = Path(__file__).parents[1] / "tests"
STORY = runpy.run_path(str(TESTS / "fixtures" / "library" / "story.py"))
LANGUAGES = {"networkx": "python", "neo4j": "cypher", "rdf": "sparql"}


async def measure(backend: str, solver: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Runs the task once."""
    sink = MemorySink()
    told = {"backend": backend, "solver": solver, "sandbox": "auto", **settings}
    async with STORY["opened"](STORY["knowing"](LANGUAGES[backend], solver), told, sinks=[sink]) as session:
        answer = await session.solve(STORY["QUESTION"])
    assert answer.status == "answered", answer
    encoding = bpe_openai.get_encoding("o200k_base")
    asked = [record for record in sink.records if record["kind"] == "model_called"]
    texts = ["\n".join(message["text"] for message in record["messages"]) for record in asked]
    return {
        "backend": backend,
        "solver": solver,
        "requests": len(asked),
        "prompt_tokens": sum(len(encoding.encode(text)) for text in texts),
        "longest_prompt_tokens": max(len(encoding.encode(text)) for text in texts),
    }


def main() -> None:
    """Prints the table, or rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one array of rows and nothing else")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        kit = runpy.run_path(str(TESTS / "servers" / "neo4j_server.py"))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kgot-neo4j-"))
        server = kit["Neo4jServer"](Path(folder)).start()
        stack.callback(server.kill)
        neo4j = {"backends.neo4j.uri": server.uri, "backends.neo4j.password": kit["PASSWORD"]}
        rows = [
            asyncio.run(measure(backend, solver, neo4j if backend == "neo4j" else {}))
            for backend in LANGUAGES
            for solver in ("query", "direct")
        ]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print("  ".join(f"{key}={value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
