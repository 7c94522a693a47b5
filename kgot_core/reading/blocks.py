"""Finds the fenced blocks of a reply, and the prose around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgot_core.reading.reasoning import blank_reasoning, strip_reasoning

__all__ = ["Block", "Prose", "read_blocks", "read_parts", "strip_reasoning"]

# Words after a fence that name a language even where more text follows on the line.
_LANGUAGES = frozenset({
    "cypher", "sparql", "turtle", "ttl", "rdf", "python", "py", "python3", "networkx", "json", "jsonc", "json5",
    "jsonl", "javascript", "js", "sql", "facts", "fact", "graph", "text", "txt", "plain", "plaintext", "markdown",
    "md", "xml", "yaml", "yml", "html", "bash", "sh", "shell", "tool_code", "tool_call", "answer", "query",
    "result", "output"
})  # fmt: skip
_NESTING = frozenset({"markdown", "md"})
_JSON = frozenset({"json", "jsonc", "json5", "jsonl", "javascript", "js"})
_PYTHON = frozenset({"python", "py", "python3", "networkx", "tool_code"})
_RUN = re.compile(r"`{3,}|~{3,}")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+|\d{1,3}[.)]\s+)?")
_WORD = re.compile(r"[A-Za-z][\w+#.-]*")
# How far a fence inside an open string is followed before it is taken as the block's end after all.
_LOOK_AHEAD = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        language: First word after the fence, in lower case; empty where there is none.
        info: Everything after the fence on its line.
        text: The content without its fences.
        closed: The closing fence was there.
        line: Number of the opening fence's line in the reply, from 1.
        end: Number of the last line that belongs to the block, its closing fence included.
    """

    language: str
    info: str
    text: str
    closed: bool
    line: int
    end: int = 0


@dataclass(frozen=True, slots=True)
class Prose:
    """Text outside of fences; ``line`` is the number of its first line, from 1."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _Opening:
    fence: str
    rest: str
    before: str
    indent: int
    whole: bool = False


def read_blocks(text: str) -> tuple[Block, ...]:
    """Finds the fenced blocks of a reply; reasoning is left out first."""
    return tuple(part for part in read_parts(text) if isinstance(part, Block))


def read_parts(text: str) -> tuple[Block | Prose, ...]:
    """Splits a reply into fenced blocks and the prose around them, in order; reasoning is left out first."""
    lines = blank_reasoning(text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    parts: list[Block | Prose] = []
    prose: list[str] = []
    prose_line = 1
    at = 0
    while at < len(lines):
        opening = _opening(lines[at])
        if opening is None:
            prose.append(lines[at])
            at += 1
            continue
        if opening.before:
            prose.append(opening.before)
        if "".join(prose).strip():
            parts.append(Prose("\n".join(prose), prose_line))
        block, rest, after = _read_block(lines, at, opening)
        if block.closed or block.text.strip() or block.language:
            parts.append(block)
        prose, prose_line = ([rest], after) if rest else ([], after + 1)
        at = after
    if "".join(prose).strip():
        parts.append(Prose("\n".join(prose), prose_line))
    return tuple(parts)


def _opening(line: str) -> _Opening | None:
    run = _RUN.search(line)
    if run is None:
        return None
    fence, before, rest = run.group(), line[: run.start()], line[run.end() :].strip()
    marker = _MARKER.fullmatch(before)
    before = "" if marker else before.strip()
    inner = rest[: -len(fence)] if rest.endswith(fence) else ""
    if inner.strip() and fence not in inner:
        return _Opening(fence, inner.strip(), before, 0, whole=True)
    if fence[:3] in rest:
        return None
    if before and not (before.endswith(":") or _is_info(rest)):
        return None
    return _Opening(fence, rest, before, run.start())


def _is_info(rest: str) -> bool:
    word = _WORD.match(rest)
    if word is None:
        return False
    return word.end() == len(rest) or word.group().lower() in _LANGUAGES


def _split_info(rest: str) -> tuple[str, str, str]:
    """Splits what follows an opening fence into language, info, and content that began on the same line."""
    if rest[:1] in set("{[(\"'"):
        return "", "", rest
    word = _WORD.match(rest)
    if word is None:
        return "", rest, ""
    language = word.group().lower()
    tail = rest[word.end() :].strip()
    if language in _JSON and tail[:1] in {"{", "["}:
        return language, word.group(), tail
    return language, rest, ""


def _read_block(lines: list[str], start: int, opening: _Opening) -> tuple[Block, str, int]:
    """Reads one block; gives it, prose that stood behind its closing fence, and the index of the next line."""
    if opening.whole:
        word = _WORD.match(opening.rest)
        named = word is not None and word.group().lower() in _LANGUAGES and word.end() < len(opening.rest)
        language = word.group() if word and named else ""
        text = opening.rest[len(language) :].strip()
        return Block(language.lower(), language, text, True, start + 1, start + 1), "", start + 1
    language, info, first = _split_info(opening.rest)
    content = [first] if first else []
    strings = _Strings(language, first)
    depth, doubtful = 0, -1
    kept = 0
    for at in range(start + 1, len(lines)):
        line = lines[at]
        stripped = line.strip()
        run = _RUN.match(stripped)
        fits = run is not None and run.group()[0] == opening.fence[0] and len(run.group()) >= len(opening.fence)
        if run is not None and fits:
            rest = stripped[run.end() :].strip()
            opens = _is_info(rest)
            if not opens and depth:
                depth -= 1
            elif not opens and not strings.open:
                return _make(language, info, content, True, start, at), rest, at + 1
            elif not opens and not rest and doubtful < 0:
                doubtful, kept = at, len(content)
            elif opens and language in _NESTING:
                depth += 1
            elif opens and not strings.open:
                return _make(language, info, content, False, start, at - 1), "", at
        elif not depth and stripped.endswith(opening.fence) and opening.fence not in stripped[: -len(opening.fence)]:
            before = line.rstrip()[: -len(opening.fence)]
            strings.feed(before)
            if not strings.open:
                content.append(_dedent(before, opening.indent))
                return _make(language, info, content, True, start, at), "", at + 1
            line = line.rstrip()[-len(opening.fence) :]
        if doubtful >= 0 and at - doubtful > _LOOK_AHEAD:
            break
        strings.feed(line)
        content.append(_dedent(lines[at], opening.indent))
    if doubtful >= 0:
        return _make(language, info, content[:kept], True, start, doubtful), "", doubtful + 1
    return _make(language, info, content, False, start, len(lines) - 1), "", len(lines)


def _make(language: str, info: str, content: list[str], closed: bool, start: int, end: int) -> Block:
    return Block(language, info, "\n".join(content), closed, start + 1, end + 1)


def _dedent(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


class _Strings:
    """Tells whether a string that may run over several lines is open, in the languages that have them."""

    def __init__(self, language: str, first: str) -> None:
        self._language = language
        self._quotes = 0
        self._triple = {'"""': 0, "'''": 0}
        self._json: bool | None = language in _JSON or (None if not language else False)
        if first:
            self.feed(first)

    @property
    def open(self) -> bool:
        if self._json:
            return self._quotes % 2 == 1
        return any(count % 2 for count in self._triple.values())

    def feed(self, line: str) -> None:
        if self._json is None and line.strip():
            self._json = line.lstrip()[0] in "{["
        if self._json:
            self._quotes += len(re.sub(r"\\.", "", line).split('"')) - 1
        elif self._language in _PYTHON:
            for mark in self._triple:
                self._triple[mark] += line.count(mark)
