"""How a rank asks the desk: in its own process, or through Ray."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Protocol

from kgot_core.errors import KgotError
from kgot_ray.desk import Desk


class Line(Protocol):
    """Asks the desk; any thread may."""

    def ask(self, what: str, *arguments: Any) -> Any:
        """Calls a method of the desk and gives its result.

        Raises:
            KgotError: The desk is gone.
        """
        ...

    def close(self) -> None:
        """Gives back what it holds. Idempotent."""
        ...


class OwnLine:
    """A desk on an event loop of this process, for the only rank."""

    def __init__(self) -> None:
        self._desk = Desk()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="kgot-ray-desk")
        self._thread.start()

    def ask(self, what: str, *arguments: Any) -> Any:
        """Calls a method of the desk."""
        return asyncio.run_coroutine_threadsafe(getattr(self._desk, what)(*arguments), self._loop).result()

    def close(self) -> None:
        """Ends the loop."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class RayLine:
    """A desk that is an actor of Ray.

    Args:
        actor: The actor.
    """

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def ask(self, what: str, *arguments: Any) -> Any:
        """Calls a method of the actor."""
        import ray
        from ray.exceptions import RayError

        try:
            return ray.get(getattr(self._actor, what).remote(*arguments))
        except RayError as error:
            raise KgotError(
                f"the queue of the batch cannot be reached: {type(error).__name__}",
                hint="kgot resume goes on with the batch",
            ) from error

    def close(self) -> None:
        """Nothing: the actor is the launcher's."""
