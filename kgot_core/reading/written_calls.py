"""Reads calls in the form of a program: ``name(argument="value")`` at the beginning of a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kgot_core.graph.values import JsonValue
from kgot_core.reading.blocks import read_parts
from kgot_core.reading.scanner import Scanner
from kgot_core.reading.strings import ScanError

_CALL = re.compile(
    r"(?:[A-Za-z_]\w{0,60}\s{0,4}=\s{0,4})?(?:await\s{1,4})?(?:print\(\s{0,4})?([A-Za-z_][\w.-]{0,100})\("
)
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")


@dataclass(slots=True)
class WrittenCall:
    """A call with the arguments that have a name, and those that have none."""

    name: str
    named: dict[str, JsonValue] = field(default_factory=dict)
    unnamed: list[JsonValue] = field(default_factory=list)


def read_written_calls(text: str, is_known: Callable[[str], bool]) -> Iterator[WrittenCall]:
    """Finds calls of known names, each alone on its lines; any name counts where the text is nothing but the call."""
    parts = [part.text.strip("`") for part in read_parts(text)]
    for part in parts:
        at = 0
        while at < len(part):
            while at < len(part) and part[at] in " \t`":
                at += 1
            start = at
            match = _CALL.match(part, at)
            if match and (is_known(match[1]) or (len(parts) == 1 and not start)):
                call = WrittenCall(match[1])
                end = _read_arguments(part, match.end(), call)
                if end and (is_known(call.name) or not part[end:].strip(" )`;.\n")):
                    yield call
                    at = end
            end = part.find("\n", at)
            at = end + 1 if end >= 0 else len(part)


def _read_arguments(text: str, at: int, call: WrittenCall) -> int:
    """Reads the arguments into a call; gives the place behind it, 0 where they cannot be read or text follows."""
    scanner = Scanner(text)
    try:
        at = scanner.skip(at)
        while not text.startswith(")", at):
            keyword = _KEYWORD.match(text, at)
            value, at = scanner.value(keyword.end() if keyword else at, ",)")
            if keyword:
                call.named[keyword[1]] = value
            else:
                call.unnamed.append(value)
            at = scanner.skip(at)
            if text.startswith(",", at):
                at = scanner.skip(at + 1)
            elif not text.startswith(")", at):
                return 0
    except ScanError:
        return 0
    return 0 if text[at + 1 :].partition("\n")[0].strip(" )`;.") else at + 1
