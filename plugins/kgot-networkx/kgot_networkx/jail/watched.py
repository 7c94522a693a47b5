"""Dictionaries and lists that note what is changed through them, so that a change costs its own size.

Reading is as fast as with plain ones: nothing that only reads is slowed down. A mark is the node ``(key,)``, the
pair ``(source, target)``, or ``()`` where anything may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kgot_networkx.jail.report import kg_again

Mark = tuple[Any, ...]
Marks = dict[Mark, None]
Copy = dict[Any, Any]
Kind = TypeVar("Kind", bound=type)

DICT_CHANGES = ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update")
LIST_CHANGES = (
    *("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear"),
    *("extend", "insert", "pop", "remove", "reverse", "sort"),
)


def marking(base: type, names: tuple[str, ...]) -> Callable[[Kind], Kind]:
    """Makes the named methods of a class mark its owner before they do what they do in ``base``."""

    def wrapped(name: str) -> Callable[..., Any]:
        original = getattr(base, name)

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            self.mark()
            return original(self, *args, **kwargs)

        return method

    def decorate(kind: Kind) -> Kind:
        for name in names:
            setattr(kind, name, wrapped(name))
        return kind

    return decorate


@marking(list, LIST_CHANGES)
class Items(list[Any]):
    """A list that is a property's value."""

    __slots__ = ("marks", "owner")

    def __init__(self, items: list[Any], marks: Marks | None, owner: Mark) -> None:
        super().__init__(items)
        self.marks = marks
        self.owner = owner

    def mark(self) -> None:
        """Notes that the owner was touched."""
        if self.marks is not None:
            self.marks[self.owner] = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)


@marking(dict, DICT_CHANGES)
class Watched(dict[Any, Any]):
    """A dictionary of the graph. Its owner is the mark that a change of it leaves."""

    __slots__ = ("marks", "owner")

    def __init__(self, content: Any = (), marks: Marks | None = None, owner: Mark = ()) -> None:
        super().__init__(content)
        self.marks = marks
        self.owner = owner

    def mark(self) -> None:
        """Notes that the owner was touched."""
        self.note(self.owner)

    def note(self, mark: Mark) -> None:
        """Leaves a mark."""
        if self.marks is not None:
            self.marks[mark] = None

    def bind(self, marks: Marks | None, owner: Mark) -> None:
        """Takes a place in the watched graph."""
        self.marks = marks
        self.owner = owner

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)


def same(attributes: dict[Any, Any], copy: Copy | None) -> bool:
    """Tells whether attributes hold the very values of their copy; lists, the very values in them."""
    if copy is None or len(attributes) != len(copy):
        return False
    for name, value in attributes.items():
        old = copy.get(name, copy)
        if value is old:
            continue
        if not isinstance(value, list) or type(old) is not list or len(value) != len(old):
            return False
        if any(new is not item for new, item in zip(value, old, strict=True)):
            return False
    return True


class Attributes(Watched):
    """The attributes of a node or an edge. ``settled``: it was there before the running script."""

    __slots__ = ("settled",)

    def __init__(self, content: Any = (), marks: Marks | None = None, owner: Mark = ()) -> None:
        super().__init__(content, marks, owner)
        self.settled = False

    def settle(self) -> Copy:
        """Makes the lists in it note their changes, too; gives a copy to compare with later."""
        self.settled = True
        copy = dict(self)
        for name, value in copy.items():
            if type(value) is list:
                dict.__setitem__(self, name, Items(value, self.marks, self.owner))
        return copy

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Takes attributes in; networkx calls it for a node that is added again."""
        new = dict(*args, **kwargs)
        if len(self.owner) == 1:
            new = kg_again(str(self.owner[0]), self, new)
        self.mark()
        dict.update(self, new)


class Parallel(Watched):
    """The edges of one pair by key. An edge is also found by its type, where no key is equal to that."""

    __slots__ = ()

    def find(self, key: Any) -> Any:
        """Gives the key of the edge that is meant."""
        if isinstance(key, str) and not dict.__contains__(self, key):
            for known, attributes in self.items():
                if attributes.get("type") == key:
                    return known
        return key

    def __missing__(self, key: Any) -> Any:
        known = self.find(key)
        if known is key:
            raise KeyError(key)
        return self[known]

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, self.find(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """Gives an edge's attributes by key or type."""
        return dict.get(self, self.find(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.mark()
        if isinstance(value, Attributes):
            value.bind(self.marks, self.owner)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key: Any) -> None:
        self.mark()
        dict.__delitem__(self, self.find(key))

    def pop(self, key: Any, *default: Any) -> Any:
        """Takes an edge out by key or type."""
        self.mark()
        return dict.pop(self, self.find(key), *default)

    def bind(self, marks: Marks | None, owner: Mark) -> None:
        """Takes a place in the watched graph, with the attributes of its edges."""
        super().bind(marks, owner)
        for value in self.values():
            if isinstance(value, Attributes):
                value.bind(marks, owner)


class Neighbours(Watched):
    """One node's neighbours, forwards or backwards. The owner is the node as ``(key,)``."""

    __slots__ = ("backwards",)

    def __init__(self, content: Any = (), marks: Marks | None = None, owner: Mark = ()) -> None:
        super().__init__(content, marks, owner)
        self.backwards = False

    def mark(self) -> None:
        """Notes that anything may have changed: only the two methods below know what."""
        self.note(())

    def pair(self, other: Any) -> Mark:
        """Gives the mark of the edges to, or from, another node."""
        return (other, *self.owner) if self.backwards else (*self.owner, other)

    def __setitem__(self, other: Any, edges: Any) -> None:
        self.note(self.pair(other))
        if isinstance(edges, Watched):
            edges.bind(self.marks, self.pair(other))
        dict.__setitem__(self, other, edges)

    def __delitem__(self, other: Any) -> None:
        self.note(self.pair(other))
        dict.__delitem__(self, other)


class Adjacency(Watched):
    """The neighbours of every node, forwards or backwards."""

    __slots__ = ("backwards",)

    def __init__(self, marks: Marks, backwards: bool) -> None:
        super().__init__((), marks)
        self.backwards = backwards

    def __setitem__(self, node: Any, neighbours: Any) -> None:
        if isinstance(neighbours, Neighbours) and not neighbours and node not in self:
            neighbours.backwards = self.backwards
            neighbours.bind(self.marks, (node,))
        else:
            self.mark()
        dict.__setitem__(self, node, neighbours)

    def __delitem__(self, node: Any) -> None:
        for other in self[node]:
            self.note((other, node) if self.backwards else (node, other))
        dict.__delitem__(self, node)


class Nodes(Watched):
    """The attributes of every node."""

    __slots__ = ()

    def __setitem__(self, node: Any, attributes: Any) -> None:
        self.note((node,))
        if isinstance(attributes, Attributes):
            attributes.bind(self.marks, (node,))
        dict.__setitem__(self, node, attributes)

    def __delitem__(self, node: Any) -> None:
        self.note((node,))
        dict.__delitem__(self, node)
