"""What a format could not carry: counted by kind, with the first example, so that nothing is lost silently."""

from __future__ import annotations

from kgot_core.graph.elements import Element, Node
from kgot_core.graph.values import plain_text
from kgot_core.graph.visible import visible

_MOST = 60


class Losses:
    """Losses of one reading or writing; one that had none is false."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, what: str, where: str = "") -> None:
        """Notes one loss.

        Args:
            what: What happens, the same words for all of its kind, for example ``a date is text``.
            where: The place, for example what :func:`place` gives.
        """
        count, first = self._found.get(what, (0, where))
        self._found[what] = (count + 1, first)

    def lines(self) -> list[str]:
        """Gives one line for each kind of loss."""
        return [
            what + (f" ({count} times, first {first})" if count > 1 else f" ({first})") if first else what
            for what, (count, first) in self._found.items()
        ]


def place(element: Element, name: str = "") -> str:
    """Names an element, or one of its properties, for a message."""
    if isinstance(element, Node):
        called = element.properties.get("name", element.key)
        shown = f'the node "{plain_text(called)[:_MOST]}"' if called else f"the node {element.id}"
    else:
        shown = f"an edge {element.type[:_MOST]}"
    return visible(f"{name[:_MOST]} of {shown}" if name else shown).replace("\n", " ")
