"""Neo4j servers for the slots of a pool: as containers of the official image, or as Java processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kgot_core.contracts.servers import ContainerRecipe, ProcessRecipe, ServerPlan, Servers
from kgot_core.errors import KgotError, UsageError
from kgot_core.providers import Problem
from kgot_neo4j.settings import Neo4jSettings

BOLT = 7687
PASSWORD_SECONDS = 120
_MAIN = "org.neo4j.server.CommunityEntryPoint"
_OPENED = ("java.base/java.nio", "java.base/java.io", "java.base/sun.nio.ch", "java.base/java.util.concurrent")
# One import folder of its own: where none is set, LOAD CSV reads any file of the machine. Only loopback is listened on.
_CONF: Mapping[str, str] = {
    "server.default_listen_address": "127.0.0.1",
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "server.directories.import": "import",
    "db.tx_log.preallocate": "false",
    "dbms.usage_report.enabled": "false",
    "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
    # Nobody guesses the password of a pool, but anybody on the machine could lock the runs out by trying.
    "dbms.security.auth_max_failed_attempts": "0",
}
# What Java needs of the environment; no key is among it.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "JAVA_HOME")


class Neo4jServers(Servers):
    """How a pool starts Neo4j."""

    def container(self, settings: Neo4jSettings, plan: ServerPlan) -> ContainerRecipe:
        """Gives the recipe of a container; it may use twice the heap, and the page cache beside it."""
        environment = {
            "NEO4J_AUTH": f"neo4j/{plan.password}",
            "NEO4J_dbms_usage__report_enabled": "false",
            "NEO4J_dbms_security_auth__max__failed__attempts": "0",
            "NEO4J_server_memory_heap_max__size": f"{settings.heap_mb}m",
            "NEO4J_server_memory_pagecache_size": f"{settings.cache_mb}m",
        }
        memory = 2 * settings.heap_mb + settings.cache_mb
        if not plan.port:
            return ContainerRecipe(settings.image, BOLT, environment, memory_mb=memory)
        bolt = f"127.0.0.1:{plan.port}"
        environment |= {
            "NEO4J_server_default__listen__address": "127.0.0.1",
            "NEO4J_server_bolt_listen__address": bolt,
            "NEO4J_server_bolt_advertised__address": bolt,
            "NEO4J_server_http_enabled": "false",
            "NEO4J_server_https_enabled": "false",
        }
        return ContainerRecipe(settings.image, plan.port, environment, (), memory, ("/data", "/logs"))

    def process(self, settings: Neo4jSettings, plan: ServerPlan) -> ProcessRecipe:
        """Gives the recipe of a Java process, and writes its configuration and first password down.

        Raises:
            UsageError: ``backends.neo4j.home`` is no Neo4j, or there is no Java.
            KgotError: Neo4j's own command cannot set the password.
        """
        java, jars = _java(), _jars(settings)
        for name in ("conf", "data/dbms", "logs", "plugins", "import"):
            (plan.folder / name).mkdir(parents=True, exist_ok=True)
        bolt = f"127.0.0.1:{plan.port}"
        conf = {
            **_CONF,
            "server.bolt.listen_address": bolt,
            "server.bolt.advertised_address": bolt,
            "server.memory.pagecache.size": f"{settings.cache_mb}m",
        }
        text = "".join(f"{name}={value}\n" for name, value in conf.items())
        (plan.folder / "conf" / "neo4j.conf").write_text(text, encoding="utf-8")
        shutil.copy(_first_password(java, jars, plan), plan.folder / "data" / "dbms" / "auth.ini")
        command = [java, "-Xms256m", f"-Xmx{settings.heap_mb}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-Dfile.encoding=UTF-8", "-Dlog4j2.disable.jmx=true", "-Dio.netty.tryReflectionSetAccessible=true"]
        command += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
        command += ["-cp", jars, _MAIN, f"--home-dir={plan.folder}", f"--config-dir={plan.folder / 'conf'}"]
        return ProcessRecipe(command, logs=[plan.folder / "logs" / "neo4j.log"])

    def address(self, port: int) -> str:
        """Gives the address of Bolt on this machine."""
        return f"bolt://127.0.0.1:{port}"

    def reached(self, settings: Neo4jSettings, address: str, password: str | None) -> Neo4jSettings:
        """Gives the settings of a slot; what is in a server that the pool made itself may go."""
        if password is None:
            return replace(settings, uri=address)
        return replace(
            settings,
            uri=address,
            user="neo4j",
            password=password,
            database="",
            tls="uri",
            trust="",
            existing="replace",
        )

    def answers(self, settings: Neo4jSettings) -> Problem | None:
        """Asks for the name of its database."""
        from kgot_neo4j.connection import Connection

        connection = Connection(replace(settings, start_seconds=0.0), "kgot pool")
        try:
            connection.ready()
        except KgotError as error:
            return Problem(error.message, error.hint)
        finally:
            connection.close()
        return None


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if found is None:
        raise UsageError(
            "Neo4j needs Java, which is not here", hint="apt install openjdk-17-jre-headless, or JAVA_HOME"
        )
    return found


def _jars(settings: Neo4jSettings) -> str:
    folder = Path(settings.home) / "lib"
    if not settings.home or not any(folder.glob("neo4j-server-*.jar")):
        said = f"there is no Neo4j in {settings.home}" if settings.home else "there is no Neo4j to start as a process"
        raise UsageError(said, hint="set backends.neo4j.home to the folder of an unpacked Neo4j 5, with lib/ in it")
    return f"{folder}/*"


def _first_password(java: str, jars: str, plan: ServerPlan) -> Path:
    """Gives the file with the password that every server of the pool starts with, made once by Neo4j's own command.

    The password reaches it in a file that only the user can read: others can see the command line.
    """
    home = plan.common / "first-password"
    made = home / "data" / "dbms" / "auth.ini"
    if made.is_file():
        return made
    (home / "conf").mkdir(parents=True, exist_ok=True)
    (home / "conf" / "neo4j.conf").touch()
    secret = home / "arguments"
    with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(json.dumps(plan.password) + "\n")
    command = [java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", jars, "org.neo4j.cli.AdminTool"]
    command += ["dbms", "set-initial-password", f"@{secret}"]
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    env |= {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    try:
        # It leaves a report where it is called.
        done = subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, timeout=PASSWORD_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KgotError(f"neo4j-admin cannot set the password: {type(error).__name__}") from None
    finally:
        secret.unlink(missing_ok=True)
    if done.returncode or not made.is_file():
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["it said nothing"]
        raise KgotError(f"neo4j-admin cannot set the password: {last[0].replace(plan.password, '***')}")
    return made
