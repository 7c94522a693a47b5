"""What a backend's plugin knows of its servers, so that a pool can start one for each of its slots (paper, 3.4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgot_core.providers import Problem


@dataclass(frozen=True)
class ServerPlan:
    """What a server of a pool is made with.

    Attributes:
        folder: An empty folder of its own, removed after it.
        common: A folder that all servers of the pool share, removed after the last one.
        password: The password of the pool: what may be asked of its servers is for those only who know it.
        port: A free port on loopback on which it is to listen, and nowhere else: for a process, and for a container
            that has the network of its host. 0 for a container with a network of its own, whose recipe names the port.
    """

    folder: Path
    common: Path
    password: str = field(repr=False)
    port: int = 0


@dataclass(frozen=True)
class ContainerRecipe:
    """A server in a container.

    Attributes:
        image: The image; fetched where the engine does not have it.
        port: The port on which it listens inside.
        environment: Variables; nobody but the engine is told them.
        command: What runs instead of what the image says.
        memory_mb: Memory that it may use, in MiB, where the engine can limit it.
        folders: Folders inside in which it stores what it holds, where an engine keeps none for it.
    """

    image: str
    port: int
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    command: Sequence[str] = ()
    memory_mb: int = 2_048
    folders: Sequence[str] = ()


@dataclass(frozen=True)
class ProcessRecipe:
    """A server as a plain process.

    Attributes:
        command: Its command line; holds no secret, since others can see it.
        environment: Variables beside those that any program needs.
        logs: Files in which it writes down what it does, beside what it prints.
        stop_seconds: How long it may take to end when it is told to.
    """

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    logs: Sequence[Path] = ()
    stop_seconds: float = 20.0


class Servers(ABC):
    """The servers of a backend. Stateless; ``settings`` are those of the backend."""

    @abstractmethod
    def container(self, settings: Any, plan: ServerPlan) -> ContainerRecipe:
        """Says how a server is started in a container.

        Raises:
            UsageError: The settings name nothing that could be started.
        """

    @abstractmethod
    def process(self, settings: Any, plan: ServerPlan) -> ProcessRecipe:
        """Says how a server is started as a process; may write its files into the folders of the plan.

        Raises:
            UsageError: The settings name nothing that could be started, or it is not installed.
        """

    @abstractmethod
    def address(self, port: int) -> str:
        """Gives the address of a server that listens on a port of this machine."""

    @abstractmethod
    def reached(self, settings: Any, address: str, password: str | None) -> Any:
        """Gives the settings with which a run reaches a server.

        Args:
            settings: The settings that the user made.
            address: Its address.
            password: That of a server which the pool has started, and which holds nothing that would have to be kept.
                ``None`` for one that was there: what the user set for it holds, and what it holds is not touched.
        """

    @abstractmethod
    def answers(self, settings: Any) -> Problem | None:
        """Asks a server once, also while a run uses it, whether it works; waits for a few seconds at most."""
