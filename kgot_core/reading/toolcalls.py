"""Reads tool calls that a model wrote into its text instead of making them."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgot_core.contracts.model import ToolCallRequest
from kgot_core.errors import Unreadable
from kgot_core.graph.values import JsonValue
from kgot_core.reading.blocks import Block, read_parts
from kgot_core.reading.json_reader import read_all_json, read_json
from kgot_core.reading.reasoning import strip_reasoning
from kgot_core.reading.written_calls import read_written_calls

_NAMES = ("name", "tool", "tool_name", "function_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "params", "kwargs")
_LISTS = ("tool_calls", "calls", "tools", "function_calls")
_TAG = re.compile(
    r"</?(?:tool_calls?|function_calls?|tool_use|tool_code|invoke)>|\[/?TOOL_CALLS\]|<\|(?:python_tag|tool_call)\|>",
    re.IGNORECASE,
)
_FUNCTION_TAG = re.compile(r"<function=([\w.-]{1,100})>")
_FUNCTION_END = re.compile(r"</function>")
_MOST_CALLS = 100


@dataclass(frozen=True, slots=True)
class UnknownTool:
    """A call of a tool that does not exist, and the nearest that does (empty where none is near)."""

    name: str
    suggestion: str


@dataclass(frozen=True, slots=True)
class ToolCallsReading:
    """The calls in a reply's text; both parts are empty where the text is no call."""

    calls: tuple[ToolCallRequest, ...] = ()
    unknown: tuple[UnknownTool, ...] = ()


def read_tool_calls(
    text: str, names: Collection[str], parameters: Mapping[str, Sequence[str]] | None = None
) -> ToolCallsReading:
    """Reads tool calls from a reply's text.

    Understood are JSON objects, in fences, tags, lists or one after another, with the usual names for name and
    arguments, and ``name(argument="value")`` at the beginning of a line. A JSON object is a call only where it names
    a known tool; an unknown name counts where the reply says in another way that it is a call, or is nothing else.

    Args:
        text: The reply.
        names: Names of the tools on offer.
        parameters: Names of each tool's parameters in order, for values that were given without a name.

    Raises:
        Unreadable: The reply is a call of a known tool that is damaged or cut off.
    """
    text = strip_reasoning(text)
    if not text or not names:
        return ToolCallsReading()
    return _Reader(names, parameters or {}).read(text)


def nearest(name: str, names: Collection[str]) -> str:
    """Finds the real name that a wrong one most likely means; empty where none is near."""
    plain = {_plain(other): other for other in sorted(names)}
    wanted = _plain(name[:200])
    found = difflib.get_close_matches(wanted, plain, n=1, cutoff=0.5)
    if found:
        return plain[found[0]]
    words = set(re.findall(r"[a-z]{3,}", name.lower()))
    sharing = [other for other in sorted(names) if words & set(re.findall(r"[a-z]{3,}", other.lower()))]
    return sharing[0] if sharing else ""


class _Reader:
    def __init__(self, names: Collection[str], parameters: Mapping[str, Sequence[str]]) -> None:
        self._names = names
        self._plain = {_plain(name): name for name in names}
        self._parameters = parameters
        self._calls: list[ToolCallRequest] = []
        self._unknown: dict[str, UnknownTool] = {}

    def read(self, text: str) -> ToolCallsReading:
        marked = _TAG.search(text) is not None or _FUNCTION_TAG.search(text) is not None
        self._read_function_tags(text)
        text = _TAG.sub("\n", text)
        if not self._calls:
            sure = marked or self._is_whole(text)
            for value in self._values(text)[:_MOST_CALLS]:
                self._take(value, sure)
        if not self._calls and not self._unknown:
            for call in read_written_calls(text, lambda name: bool(self._known(name))):
                if name := self._known(call.name):
                    self._add(name, {**dict(zip(self._places(name), call.unnamed, strict=False)), **call.named}, "")
                elif call.named:
                    self._add_unknown(call.name)
        return ToolCallsReading(tuple(self._calls), tuple(self._unknown.values()))

    def _values(self, text: str) -> tuple[JsonValue, ...]:
        try:
            return read_all_json(text)
        except Unreadable:
            if any(f'"{name}"' in text or f"'{name}'" in text for name in self._names):
                raise
            return ()

    @staticmethod
    def _is_whole(text: str) -> bool:
        """Tells whether a reply is data and nothing else."""
        parts = read_parts(text)
        prose = "".join(part.text for part in parts if not isinstance(part, Block)).strip()
        return not prose or (prose[0] in "{[" and prose[-1] in "}]")

    def _take(self, value: JsonValue, sure: bool, depth: int = 0) -> None:
        if depth > 4:
            return
        if isinstance(value, list):
            for item in value[:_MOST_CALLS]:
                self._take(item, sure, depth + 1)
        if not isinstance(value, dict):
            return
        for key in _LISTS:
            if isinstance(value.get(key), list):
                self._take(value[key], True, depth + 1)
                return
        if isinstance(value.get("function"), dict):
            inner = dict(value["function"])  # type: ignore[arg-type]
            self._take({**inner, "id": value.get("id", inner.get("id"))}, sure, depth + 1)
            return
        if len(value) == 1 and (name := self._known(next(iter(value)))):
            self._add(name, next(iter(value.values())), "")
            return
        self._take_object(value, sure)

    def _take_object(self, value: Mapping[str, JsonValue], sure: bool) -> None:
        key = next((key for key in _NAMES if isinstance(value.get(key), str)), "")
        given = str(value.get(key, ""))
        holder = next((other for other in _ARGUMENTS if other in value), "")
        if not given:
            return
        if name := self._known(given):
            rest = {other: item for other, item in value.items() if other not in {key, "id", "type"}}
            self._add(name, value[holder] if holder else rest, str(value.get("id") or ""))
        elif sure and isinstance(value.get(holder), dict | str) and re.fullmatch(r"[\w.-]{1,100}", given):
            self._add_unknown(given)

    def _add(self, name: str, arguments: JsonValue, call_id: str) -> None:
        if isinstance(arguments, str) and arguments.strip()[:1] == "{":
            arguments = read_json(arguments)
        if not isinstance(arguments, dict):
            items = arguments if isinstance(arguments, list) else [] if arguments in (None, "") else [arguments]
            arguments = dict(zip(self._places(name), items, strict=False))
        call = ToolCallRequest(name, arguments, call_id)
        same = [other for other in self._calls if (other.name, other.arguments) == (name, arguments)]
        if not same and len(self._calls) < _MOST_CALLS:
            self._calls.append(call)

    def _add_unknown(self, name: str) -> None:
        self._unknown[name] = UnknownTool(name, nearest(name, self._names))

    def _places(self, name: str) -> Iterator[str]:
        """Gives names for values without one: those of the tool's parameters, then numbers that no tool has."""
        yield from self._parameters.get(name, ())
        yield from (str(place) for place in range(_MOST_CALLS))

    def _known(self, name: str) -> str:
        if name in self._names:
            return name
        plain = _plain(name.rpartition(".")[2] if name.startswith(("functions.", "tools.", "default_api.")) else name)
        return self._plain.get(plain, "")

    def _read_function_tags(self, text: str) -> None:
        """Reads ``<function=name>{…}</function>`` and the same with one ``<parameter=name>`` each."""
        for tag in itertools.islice(_FUNCTION_TAG.finditer(text), _MOST_CALLS):
            end = _FUNCTION_END.search(text, tag.end())
            body = text[tag.end() : end.start() if end else len(text)]
            given: dict[str, Any] = {}
            for part in body.split("<parameter=")[1:]:
                key, _, content = part.partition(">")
                given[key.strip()] = content.partition("</parameter>")[0].strip()
            name = self._known(tag[1])
            if not name:
                self._add_unknown(tag[1])
            elif given or body.strip()[:1] == "{":
                self._add(name, given or body.strip(), "")
            else:
                self._add(name, None, "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
