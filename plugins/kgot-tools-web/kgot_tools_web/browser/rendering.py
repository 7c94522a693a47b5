"""Pages rendered by a real browser: its scripts run, and it reaches nothing that the guard does not let it reach."""

from __future__ import annotations

from kgot_tools_web.net.guard import Guard
from kgot_tools_web.reading.pages import Page
from kgot_tools_web.settings import WebSettings


class Browser:
    def __init__(self, guard: Guard, settings: WebSettings) -> None:
        self._guard = guard
        self._settings = settings

    def problem(self) -> str:
        return "not yet"

    async def render(self, url: str) -> Page:
        raise NotImplementedError
