"""Starts real SPARQL servers for tests: RDF4J and Fuseki from Maven, Oxigraph from PyPI.

Each server listens on a free port of the loopback address and lives as long as the ``with`` block around it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent / "sparql"
NAMES = ("oxigraph", "fuseki", "rdf4j")
# Who may use the server "fuseki-guarded": the first may do all, the second only ask.
USERS = {"ada": "sk-test-ABC123DEF456", "reader": "another word"}
_START_SECONDS = 90.0
_GRACE_SECONDS = 3.0
_JARS = ("webapp-runner.jar", "rdf4j-http-server.war", "jena-fuseki-server.jar")
_REPOSITORY = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rep: <http://www.openrdf.org/config/repository#> .
@prefix sr: <http://www.openrdf.org/config/repository/sail#> . @prefix sail: <http://www.openrdf.org/config/sail#> .
@prefix ns: <http://www.openrdf.org/config/sail/native#> .
[] a rep:Repository ; rep:repositoryID "kgot" ; rdfs:label "kgot" ; rep:repositoryImpl [
  rep:repositoryType "openrdf:SailRepository" ;
  sr:sailImpl [ sail:sailType "openrdf:NativeStore" ; ns:tripleIndexes "spoc,posc,cspo" ] ] .
"""


class Missing(Exception):
    """What a server needs is not on this machine."""


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        name: Which one.
        query_url: Address for queries.
        update_url: Address for updates.
        process: Its process, for tests that end it.
    """

    name: str
    query_url: str
    update_url: str
    process: subprocess.Popen[bytes]


def free_port() -> int:
    """Gives a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def need_java() -> str:
    """Gives the ``java`` program, with the servers' files fetched through Maven.

    Raises:
        Missing: Java or Maven is not here, or Maven could not fetch the files.
    """
    java, maven = shutil.which("java"), shutil.which("mvn")
    if java is None:
        raise Missing("needs Java 17 or later (Debian and Ubuntu: apt install openjdk-17-jre-headless)")
    if all((HERE / "lib" / jar).is_file() for jar in _JARS):
        return java
    if maven is None:
        raise Missing("needs Maven (Debian and Ubuntu: apt install maven)")
    lock = HERE / ".fetching"
    with _alone(lock):
        if not all((HERE / "lib" / jar).is_file() for jar in _JARS):
            done = subprocess.run(
                [maven, "-B", "-ntp", "-q", "generate-resources"], cwd=HERE, capture_output=True, text=True, timeout=600
            )
            if done.returncode:
                raise Missing(f"Maven could not fetch the servers: {done.stdout.strip()[-300:]}")
    return java


_GUARDED = """\
@prefix fuseki: <http://jena.apache.org/fuseki#> . @prefix ja: <http://jena.hpl.hp.com/2005/11/Assembler#> .
[] a fuseki:Server ; fuseki:passwd "passwd" ; fuseki:auth "basic" ; fuseki:services ( <#ds> ) .
<#ds> a fuseki:Service ; fuseki:name "ds" ; fuseki:allowedUsers "ada", "reader" ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "query" ] ;
  fuseki:endpoint [ fuseki:operation fuseki:update ; fuseki:name "update" ; fuseki:allowedUsers "ada" ] ;
  fuseki:dataset [ a ja:MemoryDataset ] .
"""


@contextlib.contextmanager
def running(name: str, port: int = 0, location: Path | None = None, heap_mb: int = 512) -> Iterator[Server]:
    """Runs a server for the time of the block.

    Args:
        name: One of ``NAMES``, or ``fuseki-guarded``, which asks for one of ``USERS``.
        port: Its port; a free one where none is given.
        location: Where Oxigraph keeps its data; in memory where it is not given.
        heap_mb: Memory of a server in Java, in MiB.

    Raises:
        Missing: It cannot run on this machine.
    """
    with tempfile.TemporaryDirectory(prefix=f"kgot-{name}-", ignore_cleanup_errors=True) as folder:
        port = port or free_port()
        command, env, alive = _command(name, port, Path(folder), heap_mb)
        if location is not None:
            command += ["--location", str(location)]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            _wait(name, process, alive, Path(folder) / "log")
            yield _server(name, port, process)
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a server: it is asked first, and killed after a grace period, since a query may go on burning time."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def _server(name: str, port: int, process: subprocess.Popen[bytes]) -> Server:
    root = f"http://127.0.0.1:{port}"
    if name == "oxigraph":
        return Server(name, f"{root}/query", f"{root}/update", process)
    if name.startswith("fuseki"):
        return Server(name, f"{root}/ds/query", f"{root}/ds/update", process)
    place = f"{root}/rdf4j-server/repositories/kgot"
    request = urllib.request.Request(place, _REPOSITORY.encode(), {"Content-Type": "text/turtle"}, method="PUT")
    with urllib.request.urlopen(request, timeout=30):
        return Server(name, place, f"{place}/statements", process)


def _command(name: str, port: int, folder: Path, heap_mb: int) -> tuple[list[str], dict[str, str], str]:
    env = dict(os.environ)
    root = f"http://127.0.0.1:{port}"
    if name == "oxigraph":
        program = Path(sys.executable).parent / "oxigraph"
        found = str(program) if program.is_file() else shutil.which("oxigraph")
        if found is None:
            raise Missing("needs the Oxigraph server: pip install oxigraph")
        # Without a limit of its own it goes on with a query whose client has left, and takes a whole processor.
        command = [found, "serve", "--bind", f"127.0.0.1:{port}", "--timeout-s", "15"]
        return command, env, f"{root}/query?query=ASK%7B%7D"
    java = [need_java(), f"-Xmx{heap_mb}m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    lib = HERE / "lib"
    if name.startswith("fuseki"):
        env["FUSEKI_BASE"] = str(folder / "base")
        jar = ["-jar", str(lib / "jena-fuseki-server.jar"), "--localhost", "--ping", "--port", str(port)]
        if name == "fuseki":
            return [*java, *jar, "--mem", "/ds"], env, f"{root}/$/ping"
        (folder / "config.ttl").write_text(_GUARDED)
        (folder / "passwd").write_text("".join(f"{user}: {password}\n" for user, password in USERS.items()))
        return [*java, *jar, "--config", "config.ttl"], env, f"{root}/$/ping"
    runner = [
        "-Dtomcat.util.scan.StandardJarScanFilter.jarsToSkip=*.jar",
        f"-Dorg.eclipse.rdf4j.appdata.basedir={folder / 'data'}",
        "-jar",
        str(lib / "webapp-runner.jar"),
        *("--port", str(port), "--path", "/rdf4j-server", "--temp-directory", str(folder / "tomcat")),
        *("-Aaddress=127.0.0.1", "-AmaxHttpHeaderSize=65536", str(lib / "rdf4j-http-server.war")),
    ]
    return [*java, *runner], env, f"{root}/rdf4j-server/protocol"


def _wait(name: str, process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit:
        # A server that was left over from another time would answer as well.
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                if answer.status == 200:
                    return
        except (OSError, urllib.error.URLError):
            time.sleep(0.05)
    tail = log.read_text("utf-8", "replace")[-500:]
    raise RuntimeError(f"{name} did not start (exit code {process.poll()}): {tail}")


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Lets one process at a time fetch files; a lock that is older than a fetch may take counts no more."""
    _until(lambda: _taken(lock), 700)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _taken(lock: Path) -> bool:
    with contextlib.suppress(OSError):
        if time.time() - lock.stat().st_mtime > 600:
            lock.unlink(missing_ok=True)
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _until(done: Callable[[], bool], seconds: float) -> None:
    limit = time.monotonic() + seconds
    while not done():
        if time.monotonic() > limit:
            raise Missing("another process has been fetching the servers for too long")
        time.sleep(0.2)
