"""Renders one page, in a process of its own: reads a job as JSON from standard input, and writes the page as JSON.

Of this package it imports nothing, so that it begins fast and can be ended at any moment.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

SETTLED_SECONDS = 5.0
_SCHEMES = ("http:", "https:", "data:", "blob:", "about:")
_ARGUMENTS = (
    # Everything goes through the proxy, names are looked up by it alone, and nothing goes beside it.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    # Its name changed between versions of Chromium.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def render(job: dict[str, Any]) -> dict[str, Any]:
    """Renders a page; gives ``url``, ``status`` and ``html``, or ``error``."""
    from playwright.sync_api import Error, Route, sync_playwright

    def check(route: Route) -> None:
        if route.request.url.startswith(_SCHEMES) and route.request.resource_type not in ("media", "font"):
            route.continue_()
        else:
            route.abort()

    milliseconds = job["seconds"] * 1_000
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=job["program"] or None,
                args=list(_ARGUMENTS),
                chromium_sandbox=job["sandbox"],
                proxy={"server": job["proxy"], "bypass": "<-loopback>"},
                env=job["environment"],
                timeout=milliseconds,
            )
            try:
                context = browser.new_context(
                    user_agent=job["agent"],
                    locale=job["language"],
                    accept_downloads=False,
                    service_workers="block",
                    java_script_enabled=True,
                )
                context.route("**/*", check)
                page = context.new_page()
                answer = page.goto(job["url"], wait_until="domcontentloaded", timeout=milliseconds)
                with contextlib.suppress(Error):  # a page that never rests is taken as it is
                    page.wait_for_load_state("networkidle", timeout=SETTLED_SECONDS * 1_000)
                html = page.content()[: job["most"]]
                return {"url": page.url, "status": answer.status if answer else 0, "html": html}
            finally:
                browser.close()
    except Error as error:
        return {"error": error.message.strip().splitlines()[0] if error.message.strip() else "no reason given"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(render(json.load(sys.stdin))))
