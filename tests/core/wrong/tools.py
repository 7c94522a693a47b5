"""Tools with one fault each, and the test of their suite that is meant for it."""

from __future__ import annotations

import runpy
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from langchain_core.tools import tool

from kgot_core.contracts.trial import Trial
from kgot_core.providers import ToolProvider
from kgot_core.testing.tool_suite import NoToolSuite, ToolSuite
from kgot_core.testing.tool_trial import TriedToolSuite

TEXT = 'Names the colour of a code, in plain words. Example: {"code": "#ff0000"}'
Code = Annotated[str, "A colour code, as in #ff0000"]


def provider(function, **more):
    """Gives a provider of one tool."""
    return ToolProvider(
        name="colour", summary="Names colours.", create=lambda settings, context: [tool("colour")(function)], **more
    )


def described(text=TEXT):
    """Gives a function that names colours, with a description."""

    def colour(code: Code) -> str:
        if not code.startswith("#"):
            raise ValueError("a code begins with #")
        return "red"

    colour.__doc__ = text
    return colour


def undescribed(code: str) -> str:
    """Names a colour."""
    if not code.startswith("#"):
        raise ValueError("a code begins with #")
    return "red"


def swallowing(code: Code) -> str:
    """Names a colour."""
    return "red" if code.startswith("#") else "Error: a code begins with #"


def failing(code: Code) -> str:
    """Names a colour."""
    raise RuntimeError("out of colours")


def leaking(code: Code) -> str:
    """Names a colour."""
    if code.startswith("#"):
        return "red"
    raise RuntimeError(f"no colour in {object()}")


leaking.__doc__ = swallowing.__doc__ = undescribed.__doc__ = failing.__doc__ = TEXT
SHARED = tool("colour")(described())


@dataclass(frozen=True)
class KeySettings:
    key: str = field(default="", metadata={"secret": True})


def telling(settings, context):
    """Makes a tool that tells its key."""

    def colour(code: Code) -> str:
        if not code.startswith("#"):
            raise ValueError("a code begins with #")
        return f"red, says {settings.key}"

    colour.__doc__ = TEXT
    return [tool(colour)]


NEED_A_TOOL = (
    "tools_are_made_anew",
    "description_has_an_example",
    "arguments_are_described",
    "example_call_works",
    "failure_is_an_error",
    "secrets_are_not_shown",
)
WITHOUT = "test_without_what_it_needs_it_makes_no_tool_and_no_error"
TOOLS = {
    "BadName": ("test_provider_is_complete", replace(provider(described()), name="Bad Name")),
    "OneForAll": (
        "test_tools_are_made_anew",
        replace(provider(described()), create=lambda settings, context: [SHARED]),
    ),
    "NoExample": (
        "test_description_has_an_example",
        provider(described("Names the colour of a code, in plain words.")),
    ),
    "LongDescription": ("test_description_has_an_example", provider(described(TEXT + " word" * 300))),
    "WrongExample": ("test_description_has_an_example", provider(described(TEXT.replace('code"', 'kode"')))),
    "NoArgumentDescription": ("test_arguments_are_described", provider(undescribed)),
    "FailsAlways": ("test_example_call_works", provider(failing)),
    "ErrorsAsText": ("test_failure_is_an_error", provider(swallowing)),
    "TellsAddresses": ("test_failure_is_an_error", provider(leaking)),
    # What a provider needs is no way around the suite.
    "MakesNothing": (
        " ".join(f"test_{name}" for name in NEED_A_TOOL),
        replace(provider(described()), create=lambda settings, context: [], needs="a palette"),
    ),
    "TellsItsKey": ("test_secrets_are_not_shown", replace(provider(described()), settings=KeySettings, create=telling)),
}


CALLS = {"calls": {"colour": {"code": "#ff0000"}}, "bad_calls": {"colour": {"code": "red"}}}
# What a provider is tried with is no way around the suite either.
BAD_CALLS = {**CALLS["bad_calls"], "other": {}}
TRIED = {
    f"{name}InItsTrial": (
        TOOLS[name][0],
        replace(
            TOOLS[name][1],
            trial=lambda settings, folder: nullcontext(Trial(settings, calls=CALLS["calls"], bad_calls=BAD_CALLS)),
        ),
    )
    for name in ("FailsAlways", "ErrorsAsText", "NoExample")
}


def complaining(settings, context):
    raise RuntimeError("no palette")


NOTHING = replace(provider(described()), create=lambda settings, context: [], needs="a palette")
NO_TOOLS = {
    "ComplainsOfNothing": (WITHOUT, replace(NOTHING, create=complaining)),
    "NeedsNothing": (WITHOUT, replace(provider(described()), needs="a palette")),
    "NeedsMuch": ("test_provider_is_complete", replace(NOTHING, needs="a palette\nand a brush")),
}


_suites = runpy.run_path(str(Path(__file__).with_name("suites.py")))
FAULTS = {
    **_suites["of_providers"](globals(), ToolSuite, TOOLS, **CALLS),
    **_suites["of_providers"](globals(), TriedToolSuite, TRIED),
    **_suites["of_providers"](globals(), NoToolSuite, NO_TOOLS),
}
