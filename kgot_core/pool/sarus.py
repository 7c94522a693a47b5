"""Servers of a pool in containers of Sarus, the engine of clusters: processes of the user, through its command line.

Sarus gives a container the image's files and, asked for it, a process namespace. The network is the host's, so a server
is told to listen on a free port of loopback; its environment is that of its caller, so no secret is on a command line.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from kgot_core.contracts.servers import ContainerRecipe, ProcessRecipe
from kgot_core.errors import KgotError
from kgot_core.pool.server import emptied
from kgot_core.sandboxes.providers import SarusSettings


def refuse_missing(settings: SarusSettings) -> None:
    """Makes sure that Sarus is there.

    Raises:
        KgotError: It is not.
    """
    if shutil.which(settings.path) is None:
        raise KgotError(
            f"sarus is not installed (no program {settings.path!r})",
            hint="load your cluster's module, or --set sandboxes.sarus.path=PATH; else --set pool.servers=process",
        )


def sarus_recipe(settings: SarusSettings, recipe: ContainerRecipe, folder: Path) -> ProcessRecipe:
    """Gives the recipe of the process that is a container.

    Args:
        settings: How Sarus is called.
        recipe: What the backend says of its container.
        folder: An empty folder of the server's own, in which what it stores is kept.
    """
    command = [settings.path, "run", "--pid=private"]
    for place in recipe.folders:
        kept = emptied(folder / place.strip("/").replace("/", "-"))
        command.append(f"--mount=type=bind,source={kept},destination={place}")
    return ProcessRecipe([*command, recipe.image, *recipe.command], recipe.environment)
