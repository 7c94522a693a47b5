"""A real Neo4j for tests and measurements: fetched through Maven once, started once a test run on a free port.

``shared()`` gives the server of this test run to every process of it, and ``alone()`` its one database to one of them
at a time. A keeper process owns it and ends it as soon as no process that asked for it is alive any more, so that
nothing stays behind whatever becomes of the test run.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_jars = runpy.run_path(str(Path(__file__).with_name("neo4j_jars.py")))
NotHere, missing, locked = _jars["NotHere"], _jars["missing"], _jars["locked"]
jars, newer_java, cypher_shell = _jars["jars"], _jars["newer_java"], _jars["cypher_shell"]
admin, password_file, PASSWORD = _jars["admin"], _jars["password_file"], _jars["PASSWORD"]
pool_settings = _jars["pool_settings"]
JAVA = [
    "java", "-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8",
    "-Dlog4j2.disable.jmx=true", "-Dio.netty.tryReflectionSetAccessible=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
]  # fmt: skip
CONF = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=128m
server.directories.import=import
db.tx_log.preallocate=false
dbms.usage_report.enabled=false
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
"""
START_SECONDS = 120


@dataclass
class Neo4jServer:
    """One server with a folder of its own.

    Attributes:
        home: Its folder; what it stores survives ``kill`` and ``start``.
        apoc: With APOC core.
        newest: Of the newest version instead of 5, on a Java of its own.
        port: Port of Bolt.
    """

    home: Path
    apoc: bool = False
    newest: bool = False
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        """The address for a driver."""
        return f"bolt://127.0.0.1:{self.port}"

    def start(self) -> Neo4jServer:
        """Starts it and waits until it answers.

        Raises:
            NotHere: It cannot be had, or does not start; the message ends with its log.
        """
        lib = jars("newest", "newest-pom.xml") if self.newest else jars()
        self._prepare(lib)
        main = "org.neo4j.server.Neo4jCommunity" if self.newest else "org.neo4j.server.CommunityEntryPoint"
        command = [newer_java() if self.newest else JAVA[0], *JAVA[1:], "-cp", f"{lib}/*", main]
        command += [f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"]
        with (self.home / "logs" / "out.log").open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self._wait()
        return self

    def load(self, folder: Path) -> None:
        """Fills its database from ``nodes.csv`` and ``edges.csv`` by ``neo4j-admin``, before its first start.

        Raises:
            NotHere: Neo4j does not take them; the message ends with its words.
        """
        lib = jars()
        self._prepare(lib)
        tables = f"--nodes={folder / 'nodes.csv'}", f"--relationships={folder / 'edges.csv'}"
        admin(lib, self.home, "database", "import", "full", "neo4j", *tables, "--multiline-fields=true")

    def _prepare(self, lib: Path) -> None:
        for name in ("conf", "data/dbms", "logs", "plugins", "import"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        conf = CONF.format(port=self.port)
        if self.apoc:
            conf += "dbms.security.procedures.unrestricted=apoc.*\n"
            (self.home / "conf" / "apoc.conf").write_text(
                "apoc.import.file.enabled=true\napoc.export.file.enabled=true\n"
            )
            for jar in lib.glob("apoc-core-*.jar"):
                shutil.copy(jar, self.home / "plugins")
        (self.home / "conf" / "neo4j.conf").write_text(conf)
        if not (self.home / "data" / "databases").exists():
            shutil.copy(password_file(jars()), self.home / "data" / "dbms" / "auth.ini")

    def _wait(self) -> None:
        from neo4j import GraphDatabase
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        assert self.process is not None
        with GraphDatabase.driver(self.uri, auth=("neo4j", PASSWORD)) as driver:
            for _ in range(START_SECONDS * 5):
                if self.process.poll() is not None:
                    raise NotHere(f"Neo4j ended while it started: {self._log()}")
                try:
                    # Not by execute_query, which waits longer and longer between its tries.
                    with driver.session(database="neo4j") as session:
                        session.run("RETURN 1").consume()
                    return
                except AuthError as error:
                    self.kill()
                    raise NotHere(f"another server answers on port {self.port}: {error.message}") from None
                except (DriverError, Neo4jError):
                    time.sleep(0.2)
        self.kill()
        raise NotHere(f"Neo4j did not start within {START_SECONDS} seconds: {self._log()}")

    def _log(self) -> str:
        files = [self.home / "logs" / name for name in ("out.log", "neo4j.log")]
        return " | ".join(file.read_text(errors="replace").strip()[-800:] for file in files if file.is_file())

    def stop(self) -> None:
        """Ends it in good order, by force after 20 seconds."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def kill(self) -> None:
        """Ends it as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def shared(apoc: bool = False) -> str:
    """Gives the address of this test run's server, which the first process that asks starts.

    Raises:
        NotHere: It cannot be had here.
    """
    folder = _folder(apoc)
    users, told = folder / "users", folder / "told.json"
    users.mkdir(parents=True, exist_ok=True)
    (users / str(os.getpid())).touch()
    with locked(folder / "lock"):
        if not told.is_file():
            jars()
            command = [sys.executable, str(Path(__file__)), str(folder), *(["apoc"] if apoc else [])]
            keeper = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL)
            for _ in range((START_SECONDS + 60) * 10):
                if told.is_file() or keeper.poll() is not None:
                    break
                time.sleep(0.1)
        if not told.is_file():
            raise NotHere("the keeper of the Neo4j server ended before it said anything")
        answer = json.loads(told.read_text())
    if reason := answer.get("reason"):
        raise NotHere(reason)
    return str(answer["uri"])


def alone(apoc: bool = False) -> contextlib.AbstractContextManager[None]:
    """Holds the shared server's one database against the other processes of this test run."""
    return locked(_folder(apoc) / "database.lock")


def import_folder(apoc: bool = False) -> Path:
    """Gives the folder from which the shared server reads files."""
    return _folder(apoc) / "home" / "import"


def _folder(apoc: bool) -> Path:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"pid-{os.getpid()}")
    return Path(tempfile.gettempdir()) / f"kgot-neo4j-{os.getuid()}-{run}{'-apoc' if apoc else ''}"


def keep(folder: Path, apoc: bool) -> None:
    """Owns a server until no process that uses it is alive."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = Neo4jServer(folder / "home", apoc)
    try:
        try:
            answer = {"uri": server.start().uri}
        except NotHere as error:
            answer = {"reason": str(error)}
        (folder / "told.part").write_text(json.dumps(answer))
        (folder / "told.part").rename(folder / "told.json")
        while any(_alive(int(user.name)) for user in (folder / "users").iterdir()):
            time.sleep(0.2)
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        if not Path("/proc/self/stat").exists():
            return True
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


if __name__ == "__main__":
    keep(Path(sys.argv[1]), "apoc" in sys.argv[2:])
