"""Says in words what a model does not take as parameters: tools, a schema, roles. Works on messages alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from string import Template

from kgot_core.contracts.model import Author, Message, ToolCallRequest, ToolSpec
from kgot_core.contracts.task import JsonSchema

_SCHEMA = """Reply with one JSON value that obeys this JSON schema, and with nothing else:

```json
{schema}
```"""


def with_tools(messages: Sequence[Message], tools: Sequence[ToolSpec], template: str = "") -> list[Message]:
    """Describes tools in the system message, and turns calls and results of earlier rounds into plain text.

    Args:
        messages: The messages of a request.
        tools: Tools on offer; without any only the earlier rounds are changed.
        template: Text with the slot ``${tools}``; the core's own prompt where empty.
    """
    plain = [_plain(message) for message in messages]
    if not tools:
        return plain
    template = template or files("kgot_core.prompts").joinpath("tools_as_text.md").read_text(encoding="utf-8")
    described = Template(template).substitute(tools="\n\n".join(map(_describe, tools))).strip()
    for index, message in enumerate(plain):
        if message.author == "system":
            plain[index] = replace(message, text=f"{message.text}\n\n{described}")
            return plain
    return [Message("system", described), *plain]


def with_schema(messages: Sequence[Message], schema: JsonSchema) -> list[Message]:
    """Describes a schema at the end of the last user message."""
    text = _SCHEMA.format(schema=json.dumps(schema, ensure_ascii=False))
    changed = list(messages)
    for index in range(len(changed) - 1, -1, -1):
        if changed[index].author == "user":
            changed[index] = replace(changed[index], text=f"{changed[index].text}\n\n{text}")
            return changed
    return [*changed, Message("user", text)]


def in_turns(messages: Sequence[Message]) -> list[Message]:
    """Joins messages so that user and assistant speak in turn, the user first and no one else."""
    turns: list[Message] = []
    for message in messages:
        author: Author = "assistant" if message.author == "assistant" else "user"
        if turns and turns[-1].author == author and not turns[-1].tool_calls and not message.tool_calls:
            last = turns[-1]
            turns[-1] = replace(last, text=f"{last.text}\n\n{message.text}", images=last.images + message.images)
        else:
            turns.append(replace(message, author=author, tool_call_id=""))
    if turns and turns[0].author == "assistant":
        turns.insert(0, Message("user", "Begin."))
    return turns


def without_empty(messages: Iterable[Message]) -> list[Message]:
    """Leaves out assistant messages that say and call nothing; servers refuse them."""
    return [m for m in messages if m.author != "assistant" or m.text.strip() or m.tool_calls]


def call_as_text(name: str, arguments: str) -> str:
    """Writes a tool call as the fenced JSON object that a model without tool calling is asked for.

    Args:
        name: The tool.
        arguments: Its arguments as JSON, or what the model wrote in their place.
    """
    return f'```json\n{{"name": {json.dumps(name, ensure_ascii=False)}, "arguments": {arguments}}}\n```'


def _plain(message: Message) -> Message:
    if message.author == "tool":
        return Message("user", f"<tool_result>\n{message.text}\n</tool_result>")
    if message.tool_calls:
        calls = "\n".join(map(_call, message.tool_calls))
        return replace(message, text=f"{message.text}\n\n{calls}".strip(), tool_calls=())
    return message


def _call(call: ToolCallRequest) -> str:
    return call_as_text(call.name, json.dumps(dict(call.arguments), ensure_ascii=False))


def _describe(tool: ToolSpec) -> str:
    schema = json.dumps(dict(tool.parameters), ensure_ascii=False)
    return f"{tool.name}: {tool.description.strip()}\nJSON schema of its arguments: {schema}"
