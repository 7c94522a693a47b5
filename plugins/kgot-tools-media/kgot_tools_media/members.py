"""A member of an archive that is named through it, such as ``photos.zip/may/boat.png``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kgot_core.contracts.tools import ToolContext
from kgot_core.errors import KgotError

_BETWEEN = r"(?:::|![/\\]?|[/\\#:])"


def split_member(said: str, names: Iterable[str]) -> tuple[str, str] | None:
    """Splits such a name into a file of the run and the path within it; ``None`` where it is none.

    Args:
        said: What the model wrote; a folder put in front does no harm.
        names: The files of the run; where several fit the longest name counts.
    """
    for name in sorted(names, key=len, reverse=True):
        found = re.search(rf"(?:^|[/\\])({re.escape(name)}){_BETWEEN}+(.+)$", said, re.IGNORECASE)
        if found is not None:
            return name, found[2].replace("\\", "/").strip("/")
    return None


async def unpacked(context: ToolContext, said: str, password: str = "") -> str:
    """Gives the name in the run of what a model means; a member of an archive is unpacked first.

    Raises:
        KgotError: The archive cannot be unpacked, or it has no such member; the message lists those that it has.
    """
    files = context.files
    wanted = said.strip().strip("\"'`").removeprefix("file://")
    pair = None if wanted in files.names() else split_member(wanted, files.names())
    if pair is None or "extract_archive" not in context.tools:
        return said
    archive, member = pair
    if (archive, password) not in known_members(context):
        given = {"path": archive, **({"password": password} if password else {})}
        result = await context.call("extract_archive", given)
        if result.failed:
            raise KgotError(result.text)
    inside = known_members(context).get((archive, password), {})
    fitting = [path for path in inside if f"/{path.casefold()}".endswith(f"/{member.casefold()}")]
    if not fitting:
        raise KgotError(f"{archive} has no member {member}; its members: {', '.join(inside) or 'none'}")
    # The shortest path is the one from the archive's root.
    return inside[min(fitting, key=len)]


def known_members(context: ToolContext) -> dict[tuple[str, str], Mapping[str, str]]:
    """Gives what the run's archives were found to hold, so that none is unpacked again for each of its members.

    Returns:
        For the archive's name and the password, the names in the run of its members by their paths within it.
    """
    return context.share("kgot-tools-media members", dict)
