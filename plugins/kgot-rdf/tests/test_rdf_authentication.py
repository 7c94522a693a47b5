"""Servers that ask who is there: Fuseki with users of its own, and Oxigraph behind a proxy that wants a token."""

from __future__ import annotations

import base64
import logging
import runpy
import traceback
from pathlib import Path
from typing import Any

import pytest

from kgot_core.contracts.backend import Call, GraphScope, OpenContext
from kgot_core.errors import KgotError, QueryError, Refused
from kgot_core.sinks.memory import MemorySink
from kgot_rdf.plugin import check_remote, open_remote_backend
from kgot_rdf.settings import RemoteSettings

pytestmark = pytest.mark.xdist_group("sparql")
STORY = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "fixtures" / "library" / "story.py"))
MARK = "ABC123DEF456"
SECRET = f"sk-test-{MARK}"
WRITE = "INSERT DATA { :Ulmet_Bridge a :Bridge ; :opened 1911 }"


@pytest.fixture(params=["basic", "bearer"])
def guarded(request: pytest.FixtureRequest, sparql: Any, sparql_servers: Any, front: Any) -> tuple[Any, Any]:
    """A server that asks for authentication, and the right credentials."""
    if request.param == "basic":
        server = sparql_servers("fuseki-guarded")
        assert sparql.USERS["ada"] == SECRET
        return front(server), {"user": "ada", "password": SECRET}
    return front(sparql_servers("oxigraph"), SECRET), {"token": SECRET}


def settings(proxy: Any, **credentials: str) -> RemoteSettings:
    return RemoteSettings(query_url=proxy.query_url, update_url=proxy.update_url, **credentials)


def opened(proxy: Any, mode: Any = "new", **credentials: str) -> Any:
    return open_remote_backend(settings(proxy, **credentials), OpenContext(GraphScope("guarded", mode), None))  # type: ignore[arg-type]


def hidden(*texts: object) -> bool:
    """Nothing of the credentials is in any of the texts, neither as they are nor as they are sent."""
    sent = base64.b64encode(f"ada:{SECRET}".encode()).decode()
    return not any(mark in str(text) for text in texts for mark in (MARK, sent, sent[:20]))


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))


def test_the_right_credentials_open_write_and_ask(guarded):
    proxy, right = guarded
    assert check_remote(settings(proxy, **right)) is None
    backend = opened(proxy, **right)
    assert backend.write(WRITE, Call("1")).added
    assert backend.query("SELECT ?y { :Ulmet_Bridge :opened ?y }", Call("2")) == [{"y": 1911}]
    backend.close()
    assert {status for _, status in proxy.seen} <= {200, 204}
    assert hidden(repr(settings(proxy, **right)), repr(backend), vars(backend))


@pytest.mark.parametrize("wrong", [{}, {"user": "ada", "password": "wrong"}, {"token": f"{SECRET}x"}])
def test_wrong_or_missing_credentials_are_one_clear_line_and_not_tried_again(guarded, wrong, caplog):
    proxy, _ = guarded
    caplog.set_level(logging.DEBUG)
    problem = check_remote(settings(proxy, **wrong))
    assert problem is not None and "(401)" in problem.message and "\n" not in problem.message
    assert "KGOT_BACKENDS__RDF_REMOTE__PASSWORD" in problem.hint
    assert proxy.seen == [("/query", 401)]
    with pytest.raises(Refused, match=r"refuses the user, password or token, or asks for one \(401\)") as caught:
        opened(proxy, **wrong)
    assert proxy.seen == [("/query", 401), ("/update", 401)]
    assert hidden(problem, shown(caught.value), caplog.text) and "\n" not in str(caught.value)


def test_a_user_who_may_only_ask_cannot_write_and_is_told_once(sparql, sparql_servers, front):
    proxy = front(sparql_servers("fuseki-guarded"))
    reader = {"user": "reader", "password": sparql.USERS["reader"]}
    reading = opened(proxy, "read_only", **reader)
    assert reading.query("ASK { ?s ?p ?o }", Call("1"))
    reading.close()
    proxy.seen.clear()
    with pytest.raises(Refused, match=r"does not allow this user to do this \(403\)") as caught:
        opened(proxy, **reader)
    assert proxy.seen == [("/update", 403)] and "update_url" in caught.value.hint


def test_rights_that_are_taken_away_meanwhile_change_nothing(sparql_servers, front):
    proxy = front(sparql_servers("oxigraph"), SECRET)
    backend = opened(proxy, token=SECRET)
    backend.write(WRITE, Call("1"))
    before, proxy.token = backend.snapshot(), "another"
    proxy.seen.clear()
    for call in (
        lambda: backend.write("INSERT DATA { :a :n 1 }", Call("2")),
        lambda: backend.query("ASK {}", Call("3")),
    ):
        with pytest.raises(Refused, match="401") as caught:
            call()
        assert hidden(shown(caught.value))
    assert backend.snapshot() == before and len(proxy.seen) == 2
    proxy.token = SECRET
    backend.write("INSERT DATA { :a :n 1 }", Call("2"))
    assert backend.query("SELECT ?n { :a :n ?n }", Call("4")) == [{"n": 1}]
    backend.close()


def test_a_server_that_repeats_what_it_was_sent(guarded):
    proxy, right = guarded
    backend = opened(proxy, **right)
    for call in (lambda: backend.write('INSERT DATA { :a :n "repeat" }', Call("1")),
                 lambda: backend.query('ASK { :a :n "repeat" }', Call("2"))):  # fmt: skip
        with pytest.raises(QueryError, match=r"no good: .*\[secret\]") as caught:
            call()
        assert hidden(shown(caught.value))
    backend.close()


def test_an_address_with_a_user_in_it_is_refused_without_the_password():
    problem = check_remote(RemoteSettings(query_url=f"http://ada:{SECRET}@127.0.0.1:9/query"))
    assert problem is not None and "holds a user" in problem.message and "PASSWORD" in problem.hint and hidden(problem)


@pytest.mark.parametrize("right", [True, False])
async def test_a_run_leaves_no_secret_anywhere(guarded, tmp_path, caplog, capsys, right):
    proxy, credentials = guarded
    caplog.set_level(logging.DEBUG)
    told = {"query_url": proxy.query_url, "update_url": proxy.update_url, **credentials}
    secret = "token" if "token" in credentials else "password"
    env = {**STORY["NO_CONFIG"], f"KGOT_BACKENDS__RDF_REMOTE__{secret.upper()}": told.pop(secret) + "0" * (not right)}
    told = {"backend": "rdf-remote", **{f"backends.rdf-remote.{name}": value for name, value in told.items()}}
    sink = MemorySink()
    if right:
        async with STORY["opened"](STORY["knowing"]("sparql"), told, runs=tmp_path, env=env, sinks=[sink]) as session:
            answer = await session.solve(STORY["QUESTION"])
        assert answer.text == STORY["ANSWER"] and {status for _, status in proxy.seen} <= {200, 204}
    else:
        with pytest.raises(KgotError, match="401") as caught:
            async with STORY["opened"](
                STORY["knowing"]("sparql"), told, runs=tmp_path, env=env, sinks=[sink]
            ) as session:
                await session.solve(STORY["QUESTION"])
        assert proxy.seen == [("/query", 401)] and "\n" not in str(caught.value) and hidden(shown(caught.value))
    files = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert hidden(caplog.text, *capsys.readouterr(), sink.records, *files) and bool(files) == right
