"""The jars of Neo4j, fetched through Maven once, the Java that runs them, and Neo4j's own commands."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / "build" / "servers" / "neo4j"
PASSWORD = "correct horse"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


class NotHere(Exception):
    """The server cannot be had on this machine; the message says how to get it."""


def missing() -> str:
    """Tells what this machine lacks, with the way to get it; empty where it has all."""
    lacking = [program for program in ("java", "mvn") if shutil.which(program) is None]
    if not lacking:
        return ""
    return f"{' and '.join(lacking)} not found; Debian and Ubuntu: apt install openjdk-17-jre-headless maven"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock that ends with its process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def jars(name: str = "lib", pom: str = "pom.xml") -> Path:
    """Gives a folder of jars, filled through Maven the first time and whenever its list has changed.

    Raises:
        NotHere: Java or Maven is missing, or the jars cannot be fetched.
    """
    if reason := missing():
        raise NotHere(reason)
    folder, wanted = CACHE / name, (HERE / "neo4j" / pom).read_text()
    with locked(CACHE / f"{name}.lock"):
        stamp = folder / ".pom"
        if stamp.is_file() and stamp.read_text() == wanted:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        command = ["mvn", "-B", "-ntp", "-q", "-f", str(HERE / "neo4j" / pom), COPY]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode:
            raise NotHere(f"Maven could not fetch the jars: {done.stdout.strip()[-600:]}")
        stamp.write_text(wanted)
    return folder


def newer_java() -> str:
    """Gives a ``java`` of version 21 or later, for Neo4j 2025 and later: ``KGOT_TEST_JAVA21``, else any that is here.

    Raises:
        NotHere: There is none.
    """
    found = [os.environ.get("KGOT_TEST_JAVA21", ""), "java", *map(str, sorted(Path("/usr/lib/jvm").glob("*/bin/java")))]
    for java in filter(None, map(shutil.which, filter(None, found))):
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version[1]) >= 21:
            return java
    raise NotHere("Java 21 or later not found; name one: KGOT_TEST_JAVA21=/path/to/java")


def pool_settings() -> dict[str, Any]:
    """Gives the settings of a pool of small servers.

    Raises:
        NotHere: They cannot be had here.
    """
    return {
        "sandbox": "monty",
        "pool.servers": "process",
        "pool.start_seconds": 300,
        "pool.patience": 300,
        "backends.neo4j.home": jars().parent,
        "backends.neo4j.heap_mb": 256,
        "backends.neo4j.cache_mb": 32,
        "graph.seconds": 10,
    }


def cypher_shell(uri: str, file: Path) -> subprocess.CompletedProcess[str]:
    """Runs a file of statements with cypher-shell."""
    command = ["java", "-cp", f"{jars('shell', 'shell-pom.xml')}/*", "org.neo4j.shell.Main", "-a", uri]
    command += ["-u", "neo4j", "-p", PASSWORD, "-f", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def admin(lib: Path, home: Path, *arguments: str) -> None:
    """Runs a command of neo4j-admin on a folder."""
    command = ["java", "-Xmx512m", "-cp", f"{lib}/*", "org.neo4j.cli.AdminTool", *arguments]
    env = {**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": f"{home}/conf"}
    # It leaves a report where it is called.
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise NotHere(f"neo4j-admin {arguments[0]} {arguments[1]}: {(done.stderr or done.stdout).strip()[-600:]}")


def password_file(lib: Path) -> Path:
    """Gives the file that holds the first password; made by Neo4j's own command, once."""
    made = CACHE / "auth.ini"
    with locked(CACHE / "auth.lock"):
        if not made.is_file():
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "conf").mkdir()
                (Path(folder) / "conf" / "neo4j.conf").touch()
                admin(lib, Path(folder), "dbms", "set-initial-password", PASSWORD)
                shutil.copy(Path(folder) / "data" / "dbms" / "auth.ini", made)
    return made
