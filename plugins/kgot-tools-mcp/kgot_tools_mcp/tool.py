"""A tool of a server as a LangChain tool of a run."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from mcp_types import CallToolResult, Tool
from pydantic import ConfigDict, PrivateAttr

from kgot_core.contracts.tools import Effect, ToolArtifact, ToolContext
from kgot_tools_mcp.connection import Connection
from kgot_tools_mcp.results import Reading
from kgot_tools_mcp.schemas import description, parameters


class McpTool(BaseTool):
    """Calls one tool of a server over the run's connection to it.

    Args:
        context: The run.
        connection: The connection.
        tool: What the server says of the tool.
        name: Its name in the run.

    Raises:
        KgotError: What the server says of its arguments is of no use.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _context: ToolContext = PrivateAttr()
    _connection: Connection = PrivateAttr()
    _tool: str = PrivateAttr()

    def __init__(self, context: ToolContext, connection: Connection, tool: Tool, name: str) -> None:
        clean = connection.server.scrubber.clean
        told = clean(tool.description or tool.title or "")
        schema = parameters(tool.input_schema)
        super().__init__(
            name=name,
            description=description(told, connection.server.name, tool.name),
            args_schema={"title": name, "description": "", **schema},
            metadata={"effect": effect_of(tool)},
        )
        self._context = context
        self._connection = connection
        self._tool = tool.name

    async def _arun(self, /, **arguments: Any) -> tuple[str, ToolArtifact]:
        result = await self._connection.call(self._tool, arguments)
        return Reading(self.name, self._context.files).read(_without_secrets(result, self._connection))

    def _run(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError(f"{self.name} is asynchronous; call it with arun or ainvoke")


def effect_of(tool: Tool) -> Effect:
    """Gives a tool's effect: only what says that it reads alone may be called again."""
    return "read" if tool.annotations is not None and tool.annotations.read_only_hint else "write"


def _without_secrets(result: CallToolResult, connection: Connection) -> CallToolResult:
    text = result.model_dump_json(by_alias=True)
    clean = connection.server.scrubber.clean(text)
    return result if clean == text else CallToolResult.model_validate_json(clean)
