"""Settings of the backends ``rdf`` and ``rdf-remote``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from kgot_rdf.names import DEFAULT_NAMESPACE


def _setting(default: Any, help: str, **marks: Any) -> Any:
    return field(default=default, repr=not marks.get("secret"), metadata={"help": help, **marks})


@dataclass(frozen=True)
class FormatSettings:
    """What the file formats have."""

    namespace: str = _setting(DEFAULT_NAMESPACE, "What the prefix : stands for: the start of names without an address")


@dataclass(frozen=True)
class GraphSettings:
    """What both backends have."""

    namespace: str = _setting(DEFAULT_NAMESPACE, "What the prefix : stands for")
    shapes: str = _setting(
        "", "File of SHACL shapes (Turtle) that every write has to obey; needs kgot-rdf[shacl]", path=True, trusted=True
    )
    inference: Literal["none", "rdfs", "owlrl"] = _setting(
        "none", "What is inferred after each write; needs kgot-rdf[owl]"
    )
    rules: str = _setting("", "File of CONSTRUCT rules that are run after each write", path=True, trusted=True)
    statement_chars: int = _setting(200_000, "Longest statement that is run, in characters")
    memory_mb: int = _setting(2_048, "Memory of the child process, in MiB", matters=False)
    load_seconds: float = _setting(
        60.0, "How long filling the store with a given graph may take, in seconds", matters=False
    )


@dataclass(frozen=True)
class RdfSettings(GraphSettings):
    """The embedded store."""

    folder: str = _setting(
        "", "Folder for the graphs on disk; in memory where empty", path=True, trusted=True, matters=False
    )


@dataclass(frozen=True)
class RemoteSettings(GraphSettings):
    """A SPARQL 1.1 server."""

    query_url: str = _setting("", "Address for queries", trusted=True, matters=False)
    update_url: str = _setting("", "Address for updates, query_url where empty", trusted=True, matters=False)
    user: str = _setting("", "User for basic authentication", trusted=True, matters=False)
    password: str = _setting("", "Password of the user", secret=True, trusted=True, matters=False)
    token: str = _setting("", "Token for bearer authentication", secret=True, trusted=True, matters=False)
    graph_prefix: str = _setting("urn:kgot:run:", "What the address of a run's graph begins with", trusted=True)
    keep: bool = _setting(False, "Leave the run's graph on the server when the run ends", trusted=True, matters=False)
    lease_seconds: float = _setting(
        30.0,
        "After how long without a sign of life a run's hold on a kept graph ends",
        trusted=True,
        matters=False,
    )
    connect_seconds: float = _setting(10.0, "How long connecting may take, in seconds", matters=False)
