"""Settings of the backend ``neo4j``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Existing: TypeAlias = Literal["refuse", "keep", "replace"]
Tls: TypeAlias = Literal["uri", "off", "on", "unverified"]


@dataclass(frozen=True)
class Neo4jSettings:
    """How a Neo4j server is reached and used; one run owns one database."""

    uri: str = field(
        default="bolt://localhost:7687",
        metadata={"help": "Address: bolt://, neo4j://, and +s or +ssc for TLS", "trusted": True, "matters": False},
    )
    user: str = field(
        default="neo4j",
        metadata={"help": "User; empty for a server without authentication", "trusted": True, "matters": False},
    )
    password: str = field(
        default="", repr=False, metadata={"help": "Password", "secret": True, "trusted": True, "matters": False}
    )
    database: str = field(
        default="",
        metadata={"help": "Database; empty for the user's home database", "trusted": True, "matters": False},
    )
    tls: Tls = field(
        default="uri",
        metadata={
            "help": "uri: as its scheme says; on, off, unverified: any certificate",
            "trusted": True,
            "matters": False,
        },
    )
    trust: str = field(
        default="",
        metadata={"help": "File of certificates to trust instead of the system's", "trusted": True, "matters": False},
    )
    existing: Existing = field(
        default="refuse",
        metadata={
            "help": "A database that holds what kgot did not make: refuse, keep (go on with it), replace",
            "trusted": True,
            "matters": False,
        },
    )
    concurrency: int = field(default=8, metadata={"help": "Independent writes that may run at once"})
    pool_size: int = field(default=20, metadata={"help": "Connections at most", "matters": False})
    query_seconds: float = field(
        default=120.0, metadata={"help": "Most time for one statement, in seconds", "matters": False}
    )
    start_seconds: float = field(
        default=30.0, metadata={"help": "How long to wait for a server that is starting, in seconds", "matters": False}
    )
    lease_seconds: float = field(
        default=30.0,
        metadata={
            "help": "After how long without a sign of life a run's hold on a database ends",
            "trusted": True,
            "matters": False,
        },
    )
    image: str = field(
        default="neo4j:5.26-community",
        metadata={"help": "Image of the containers of a pool", "trusted": True, "matters": False},
    )
    home: str = field(
        default="",
        metadata={
            "help": "Folder of an unpacked Neo4j, with lib in it, of which a pool starts processes",
            "trusted": True,
            "matters": False,
            "path": True,
        },
    )
    heap_mb: int = field(default=512, metadata={"help": "Java's heap in a server of a pool, in MiB", "matters": False})
    cache_mb: int = field(default=128, metadata={"help": "Its page cache, in MiB", "matters": False})
