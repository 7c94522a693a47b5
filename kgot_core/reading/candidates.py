"""Finds everything in a reply that may be the JSON value it was asked for, and everything that is a damaged one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kgot_core.graph.values import JsonValue
from kgot_core.reading.blocks import Block, read_blocks
from kgot_core.reading.reasoning import TAG
from kgot_core.reading.scanner import Scanner
from kgot_core.reading.strings import ScanError, unescape_once
from kgot_core.reading.surroundings import check_surroundings, line_before

_START = re.compile(r"[{\[<]")
_FENCE = re.compile(r"`{3}|~{3}")
_ASSIGNED = re.compile(r"\s*(?:(?://|#)[^\n]*\n\s*)*(?:[A-Za-z_]\w{0,40}\s{0,4}=\s{0,4})?[{\[]")
_PLACEHOLDER = re.compile(r"<[^<>:/]{1,80}>|\.{3}|…")
# Brackets in prose that begin no value: so many are looked at; one that is followed to the end counts for many.
_MOST_FAILURES = 10_000
_COST_OF_END = 200
_MOST_DAMAGES = 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that was read.

    Attributes:
        value: The value.
        fenced: It stands in a fenced block.
        placeholder: It only shows a form: ``<name>`` or dots stand for a text.
        omission: Dots stand for something left out.
    """

    value: JsonValue
    fenced: bool
    placeholder: bool = False
    omission: bool = False


@dataclass(frozen=True, slots=True)
class Damage:
    """A value that could not be read; ``ended`` where the text stopped within it."""

    message: str
    position: int
    fenced: bool
    ended: bool


@dataclass(slots=True)
class Findings:
    """What a reply holds. ``loose_end``: it stops where a value may just have begun."""

    candidates: list[Candidate] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    loose_end: bool = False


@dataclass(frozen=True, slots=True)
class _Fence:
    start: int
    end: int
    closed: bool
    data: bool


def find_values(text: str) -> Findings:
    """Looks through a reply once, from its beginning to its end; reasoning and code in fences are passed over."""
    return _Search(text).run()


class _Search:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found = Findings()
        self._fences = list(self._fence_places(read_blocks(text)))
        self._begin = len(text) - len(text.lstrip())
        self._next_fence = 0
        self._failures = 0
        self._unescaped = False
        self._more_tags = True

    def run(self) -> Findings:
        at = 0
        while match := _START.search(self.text, at):
            at = match.start()
            fence = self._fence(at)
            if fence is not None and not fence.data:
                at = max(fence.end, at + 1)
            elif self.text[at] == "<" or TAG.match(self.text, at):
                at = self._tag(at)
            else:
                at = self._attempt(at, fence)
        return self.found

    def _fence_places(self, blocks: tuple[Block, ...]) -> Iterator[_Fence]:
        starts = [0]
        while (end := self.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        starts.append(len(self.text))
        for block in blocks:
            data = _ASSIGNED.match(block.text) is not None
            line, end = (starts[min(number, len(starts) - 1)] for number in (block.line - 1, block.end))
            run = _FENCE.search(self.text, line, end)
            place = _Fence(run.start() if run else line, end, block.closed, data)
            if not data and (value := _plain_value(block)) is not _NOTHING:
                self.found.candidates.append(Candidate(value, True))  # type: ignore[arg-type]
            yield place

    def _fence(self, at: int) -> _Fence | None:
        while self._next_fence < len(self._fences) and self._fences[self._next_fence].end <= at:
            self._next_fence += 1
        if self._next_fence < len(self._fences) and self._fences[self._next_fence].start <= at:
            return self._fences[self._next_fence]
        return None

    def _tag(self, at: int) -> int:
        """Passes over a reasoning block; one that only ends here began with the reply."""
        tag = TAG.match(self.text, at)
        if tag is None:
            return at + 1
        if tag["close"] or tag["close2"]:
            self.found = Findings()
            return tag.end()
        others = TAG.finditer(self.text, tag.end()) if self._more_tags else ()
        for other in others:
            if other["close"] or other["close2"]:
                return other.end()
        self._more_tags = False
        self.found.loose_end = True
        return len(self.text) if at <= self._begin else tag.end()

    def _attempt(self, at: int, fence: _Fence | None) -> int:
        """Reads one value; gives the place where the search goes on."""
        source, start = self.text, at
        scanner = Scanner(source)
        if scanner.escaped_twice(at) and not self._unescaped and line_before(source, at).strip() in {"", '"'}:
            self._unescaped = True
            limit = fence.end if fence else len(self.text)
            source, start = unescape_once(self.text[at:limit]), 0
            scanner = Scanner(source)
        try:
            value, end = scanner.value(start, "")
            check_surroundings(scanner, start, end)
        except ScanError as error:
            position = error.position if source is self.text else len(self.text)
            return self._failed(error, scanner, at, position, fence)
        form = scanner.omission or _shows_form(value)
        self.found.candidates.append(Candidate(value, fence is not None, form, scanner.omission))
        if source is not self.text:
            return fence.end if fence else len(self.text)
        return end

    def _failed(self, error: ScanError, scanner: Scanner, at: int, position: int, fence: _Fence | None) -> int:
        ended = error.ended and not (fence is not None and fence.closed)
        if scanner.committed:
            self.found.damages.append(Damage(error.message, position, fence is not None, ended))
            enough = len(self.found.damages) > _MOST_DAMAGES
            return len(self.text) if enough else max(fence.end if fence else position, at + 1)
        self.found.loose_end = self.found.loose_end or ended
        self._failures += _COST_OF_END if ended else 1
        return at + 1 if self._failures < _MOST_FAILURES else len(self.text)


_NOTHING = object()


def _plain_value(block: Block) -> object:
    """Gives the text, number or truth value that a block marked as JSON holds alone."""
    if block.language != "json" or not block.closed:
        return _NOTHING
    try:
        return json.loads(block.text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NOTHING


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a JSON value")


def _shows_form(value: JsonValue) -> bool:
    if isinstance(value, str):
        return _PLACEHOLDER.fullmatch(value.strip()) is not None
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_shows_form(item) for item in items)
