"""Where things are kept that can be had again: shared by all runs, listed and cleared by ``kgot cache``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(name: str = "", env: Mapping[str, str] | None = None) -> Path:
    """Gives the folder of a cache, which need not be there yet.

    Args:
        name: The cache, such as ``pages``; the folder of all caches where empty.
        env: The environment; the process's own where ``None``. ``KGOT_CACHE_DIR`` moves it.
    """
    given = (os.environ if env is None else env).get("KGOT_CACHE_DIR")
    if given:
        return Path(given).absolute() / name
    from platformdirs import user_cache_path

    return user_cache_path("kgot", appauthor=False) / name
