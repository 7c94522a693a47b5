"""What the tools share."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import ConfigDict, PrivateAttr

from kgot_core.contracts.tools import ToolContext
from kgot_tools_web.session import WebSession, session_of
from kgot_tools_web.settings import WebSettings


class WebTool(BaseTool):
    """A tool of a run that gives text, and sources and files beside it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _context: ToolContext = PrivateAttr()
    _settings: WebSettings = PrivateAttr()
    _session: WebSession = PrivateAttr()

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(**fields)
        self._context = context
        self._settings = settings
        self._session = session_of(context, settings)

    def _run(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError(f"{self.name} is asynchronous; call it with arun or ainvoke")
