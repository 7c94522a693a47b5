from typing import ClassVar

from kgot_colours import kgot_tools

from kgot_core.testing.tool_suite import ToolSuite


class TestColours(ToolSuite):
    provider = kgot_tools()[0]
    bad_calls: ClassVar = {"name_colour": {"code": "reddish"}}
