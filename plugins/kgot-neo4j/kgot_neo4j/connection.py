"""The driver, opened so that each thing that can be wrong gives one clear line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from kgot_core.errors import Refused, StoreUnavailable, UsageError
from kgot_neo4j.faults import first_line, translated
from kgot_neo4j.settings import Neo4jSettings

if TYPE_CHECKING:
    from neo4j import Driver, Session

PASSWORD_HINT = "set KGOT_BACKENDS__NEO4J__USER and KGOT_BACKENDS__NEO4J__PASSWORD"
_NOT_STARTING = ("Cannot resolve", "looks like HTTP", "SSL", "certificate", "TLS")


class WrongPassword(Refused):
    """The server refuses user or password."""


class Connection:
    """A driver and the database that is used.

    Args:
        settings: Address, user and limits.
        holder: Who uses it; its transactions carry this, so that they can be ended.

    Raises:
        UsageError: The address or the certificates make no sense.
    """

    def __init__(self, settings: Neo4jSettings, holder: str) -> None:
        self.settings = settings
        self.holder = holder
        self.database = settings.database
        self.driver = _driver(settings)
        self._closed = False

    def session(self, *, write: bool = False, rows: int = 1_000) -> Session:
        """Opens a session; it is used by one thread and closed by it."""
        return self.driver.session(
            database=self.database or None,
            default_access_mode="WRITE" if write else "READ",
            fetch_size=rows,
            bookmark_manager=self._bookmarks,
        )

    def limits(self, seconds: float) -> dict[str, Any]:
        """Gives what a transaction is begun with."""
        return {"timeout": min(seconds, self.settings.query_seconds), "metadata": {"kgot": self.holder}}

    def ready(self) -> None:
        """Waits until the database answers.

        Raises:
            Refused: The password is wrong (which is never tried again), or the database does not exist.
            StoreUnavailable: No server answers in time.
        """
        from neo4j import GraphDatabase
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        self._bookmarks = GraphDatabase.bookmark_manager()
        until = time.monotonic() + self.settings.start_seconds
        while True:
            try:
                with self.session() as session:
                    self.database = str(session.run("CALL db.info() YIELD name").single(strict=True)[0])
                return
            except AuthError as error:
                raise WrongPassword(f"{self.where}: {translated(error).message}", hint=PASSWORD_HINT) from None
            except Neo4jError as error:
                problem: Any = translated(error)
                if not isinstance(problem, StoreUnavailable):
                    raise Refused(f"{self.where}: {problem.message}", hint=problem.hint) from None
            except (DriverError, OSError, ValueError) as error:
                problem = error
                if any(mark in str(error) for mark in _NOT_STARTING):
                    break
            if time.monotonic() >= until:
                break
            time.sleep(0.25)
        raise StoreUnavailable(
            f"no Neo4j answers at {self.where}: {first_line(problem)}",
            hint="start it (docker compose up; kgot doctor shows the command), or set backends.neo4j.uri",
        )

    @property
    def where(self) -> str:
        """The address for messages, without a password that stands in it."""
        return self.settings.uri.rpartition("@")[2] if "@" in self.settings.uri else self.settings.uri

    def terminate(self) -> None:
        """Ends all transactions of this holder; running calls raise at once."""
        with self.session() as session:
            found = session.run("SHOW TRANSACTIONS YIELD transactionId, metaData").values()
            for name in [row[0] for row in found if row[1].get("kgot") == self.holder]:
                session.run("TERMINATE TRANSACTION $name", name=name).consume()

    def close(self) -> None:
        """Gives the connections back. Idempotent."""
        if not self._closed:
            self._closed = True
            self.driver.close()


def _driver(settings: Neo4jSettings) -> Driver:
    from neo4j import GraphDatabase, TrustAll, TrustCustomCAs, TrustSystemCAs
    from neo4j.exceptions import ConfigurationError, DriverError

    options: dict[str, Any] = {}
    if settings.tls != "uri":
        options["encrypted"] = settings.tls != "off"
    if settings.tls == "unverified":
        options["trusted_certificates"] = TrustAll()
    elif settings.trust:
        options["trusted_certificates"] = TrustCustomCAs(settings.trust)
    elif settings.tls == "on":
        options["trusted_certificates"] = TrustSystemCAs()
    try:
        return GraphDatabase.driver(
            settings.uri,
            auth=(settings.user, settings.password) if settings.user else None,
            max_connection_pool_size=max(settings.pool_size, settings.concurrency + 2),
            connection_timeout=min(10.0, max(settings.start_seconds, 1.0)),
            connection_acquisition_timeout=60.0,
            liveness_check_timeout=30.0,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="kgot-neo4j",
            **options,
        )
    except (ConfigurationError, DriverError, ValueError, OSError) as error:
        raise UsageError(f"backends.neo4j.uri or its TLS settings cannot be used: {first_line(error)}") from None
