"""Opens ``import:package.module.Class`` and ``import:package.module:factory``: any LangChain model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeVar

from kgot_core.errors import UsageError
from kgot_core.models.settings import ModelSettings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")


def split_path(path: str) -> tuple[str, str]:
    """Splits an import path into module and name.

    Raises:
        UsageError: It names no module, or nothing in it.
    """
    module, _, name = path.rpartition(":" if ":" in path else ".")
    if not module or not name or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise UsageError(
            f"import:{path} names no class", hint="write import:package.module.Class or import:package.module:factory"
        )
    return module, name


def open_imported(path: str, settings: ModelSettings) -> BaseChatModel:
    """Imports a class or factory and calls it with ``options`` as keyword arguments.

    Raises:
        UsageError: It cannot be imported or called, or gives no chat model.
    """
    from langchain_core.language_models import BaseChatModel

    return _opened(path, settings, BaseChatModel, "chat model")  # type: ignore[type-abstract]


def open_imported_embedding(path: str, settings: ModelSettings) -> Embeddings:
    """Does the same for an embedding model.

    Raises:
        UsageError: It cannot be imported or called, or gives no embedding model.
    """
    from langchain_core.embeddings import Embeddings

    return _opened(path, settings, Embeddings, "embedding model")  # type: ignore[type-abstract]


def _opened(path: str, settings: ModelSettings, kind: type[T], what: str) -> T:
    module, name = split_path(path)
    try:
        target: Any = importlib.import_module(module)
        for part in name.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"import:{path} cannot be imported: {error}") from None
    options = dict(settings.options)
    if "max_retries" in getattr(target, "model_fields", {}):
        options.setdefault("max_retries", 0)  # the core retries
    try:
        model = target(**options)
    except Exception as error:
        # The message of a validation error holds the arguments, keys among them.
        raise UsageError(
            f"import:{path} cannot be opened: {type(error).__name__}", hint="check models.<role>.options"
        ) from None
    if not isinstance(model, kind):
        raise UsageError(f"import:{path} gives a {type(model).__name__}, not a LangChain {what}")
    return model
