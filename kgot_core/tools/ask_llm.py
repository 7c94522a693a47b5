"""``ask_llm``: one clear question to a model, for knowledge that no other tool brings (paper, B.4)."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from kgot_core.contracts.tools import ToolContext


class AskArguments(BaseModel):
    """Arguments of ``ask_llm``."""

    question: str = Field(
        description="One complete question in plain words, with every name and number that is needed to understand it."
    )


class AskLlm(BaseTool):
    """Asks the tool model a question, without the graph and without other tools."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = "ask_llm"
    description: str = (
        "Asks a language model one question about general knowledge, or lets it read, translate or compare a text"
        " that is part of the question. It cannot see the web, files or the graph. Example: "
        '{"question": "Which metal is liquid at room temperature?"}'
    )
    args_schema: type[BaseModel] = AskArguments
    _context: ToolContext = PrivateAttr()

    def __init__(self, context: ToolContext, **fields: Any) -> None:
        super().__init__(**fields)
        self._context = context

    async def _arun(self, question: str) -> str:
        return await self._context.answer(self._context.prompt("ask_llm", question=question))

    def _run(self, question: str) -> str:
        raise NotImplementedError("ask_llm is asynchronous; call it with arun or ainvoke")
