"""The library where others run the event loop: in a Jupyter kernel, and in FastAPI under uvicorn."""

from __future__ import annotations

import json
import os
import queue
import runpy
import socket
import sys
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "library"
_story = runpy.run_path(str(FIXTURES / "story.py"))
Story, quick, opened, heights = _story["Story"], _story["quick"], _story["opened"], _story["heights"]
QUESTION, ANSWER, NO_CONFIG = _story["QUESTION"], _story["ANSWER"], _story["NO_CONFIG"]


class Notebook:
    """A running Jupyter kernel."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def cell(self, code: str) -> str:
        """Runs a cell and gives what it printed."""
        asked = self.client.execute(code)
        printed: list[str] = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != asked:
                continue
            content = message["content"]
            if message["msg_type"] == "stream":
                printed.append(content["text"])
            elif message["msg_type"] == "error":
                raise AssertionError("\n".join(content["traceback"]))
            elif message["msg_type"] == "status" and content["execution_state"] == "idle":
                return "".join(printed)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    from jupyter_client.manager import KernelManager

    folder = tmp_path_factory.mktemp("notebook")
    manager = KernelManager()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FIXTURES), *sys.path])}
    manager.start_kernel(cwd=str(folder), env={**env, "IPYTHONDIR": str(folder), "JUPYTER_RUNTIME_DIR": str(folder)})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_solve_in_notebook_cells(notebook: Notebook) -> None:
    notebook.cell("import asyncio, kgot_core\nfrom story import NO_CONFIG, QUESTION, heights, opened, quick")
    cell = (
        "asyncio.get_running_loop()\n"
        "answer = kgot_core.solve(QUESTION, models={'graph': quick().model()}, tools=[heights],\n"
        "    settings={'sandbox': 'monty'}, env=NO_CONFIG, runs=None)\nprint(answer.text)"
    )
    assert notebook.cell(cell) == f"{ANSWER}\n"
    assert notebook.cell(cell) == f"{ANSWER}\n"


def test_a_session_and_a_stream_in_a_notebook_cell(notebook: Notebook) -> None:
    cell = (
        "import asyncio\nfrom story import QUESTION, opened\n"
        "async with opened() as session:\n"
        "    both = await asyncio.gather(session.solve(QUESTION), session.solve(QUESTION))\n"
        "    print([answer.status for answer in both])\n"
        "    async for event in session.stream(QUESTION):\n        pass\n"
        "    print(event.kind, event.answer['text'])"
    )
    assert notebook.cell(cell) == f"['answered', 'answered']\nrun_finished {ANSWER}\n"


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """A FastAPI application under uvicorn, on loopback."""
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import StreamingResponse

    import kgot_core

    app = FastAPI()

    @app.get("/session")
    async def session() -> dict[str, Any]:
        async with opened() as session:
            answer = await session.solve(QUESTION)
        return {"text": answer.text, "requests": answer.usage.requests}

    @app.get("/solve")
    def solve() -> dict[str, str]:
        answer = kgot_core.solve(
            QUESTION,
            models={"graph": quick().model()},
            tools=[heights],
            settings={"sandbox": "monty"},
            env=NO_CONFIG,
            runs=None,
        )
        return {"text": answer.text}

    @app.get("/solve-in-a-coroutine")
    async def solve_in_a_coroutine() -> dict[str, str]:
        return solve()

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        async def lines() -> Any:
            async with opened() as session:
                async for event in session.stream(QUESTION):
                    yield event.kind + "\n"

        return StreamingResponse(lines())

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    ready: queue.Queue[None] = queue.Queue()
    started = server.startup

    async def startup(*arguments: Any, **named: Any) -> None:
        await started(*arguments, **named)
        ready.put(None)

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        ready.get(timeout=30)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as response:
        text: str = response.read().decode()
        return text


@pytest.mark.parametrize("path", ["session", "solve", "solve-in-a-coroutine"])
def test_in_a_handler(web: str, path: str) -> None:
    assert json.loads(fetch(f"{web}/{path}"))["text"] == ANSWER


def test_in_several_handlers_at_once(web: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = [json.loads(text) for text in pool.map(fetch, [f"{web}/session", f"{web}/solve"] * 2)]
    assert {answer["text"] for answer in answers} == {ANSWER}
    assert {answer["requests"] for answer in answers if "requests" in answer} == {6}


def test_a_stream_in_a_handler(web: str) -> None:
    kinds = fetch(f"{web}/stream").split()
    assert kinds[0] == "run_started" and kinds[-1] == "run_finished" and "graph_written" in kinds
