"""``browse_web``: the Surfer agent, which searches, reads and follows links for one question (paper, B.4)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from kgot_core.contracts.tools import ToolArtifact, ToolContext
from kgot_tools_web.settings import WebSettings
from kgot_tools_web.surfer.agent import Surfer
from kgot_tools_web.tools.base import WebTool


class BrowseArguments(BaseModel):
    """Arguments of ``browse_web``."""

    task: str = Field(
        min_length=1,
        description="What is to be found, as a complete question in plain words, with every name, date and condition",
    )


class BrowseWeb(WebTool):
    """Lets an agent of its own find something on the web."""

    name: str = "browse_web"
    description: str = (
        "Finds something out on the web, in many steps: an agent searches, opens pages, follows links, looks into"
        " archives, and reports what it found with addresses and passages. Use it where one search or page is not"
        ' enough. Example: {"task": "In which year was the lighthouse at Skerry Point first lit, and by whom?"}'
    )
    args_schema: type[BaseModel] = BrowseArguments

    def __init__(self, context: ToolContext, settings: WebSettings, **fields: Any) -> None:
        super().__init__(context, settings, **fields)

    async def _arun(self, task: str) -> tuple[str, ToolArtifact]:
        done = await Surfer(self._session, self._context, " ".join(task.split())).run()
        return done.text, ToolArtifact(done.sources, done.files)
