"""What all conformance suites share: they cannot be weakened unnoticed."""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.providers import Provider

_KIT = __name__.rpartition(".")[0]
_INTERNALS = (
    (re.compile(r"Traceback \(most recent call last\)"), "a Python trace"),
    (re.compile(r"\bFile \"[^\"]+\", line \d"), "a line of a Python trace"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}"), "a memory address"),
    (re.compile(r"://[^/\s:@]+:[^/\s@]+@"), "a user with a password"),
)


class SuiteChanged(UserWarning):
    """A suite is run with a change for which a reason was given."""


class Suite:
    """The base of every suite.

    A subclass gives the fixture that the suite asks for, and may set what the suite lists in ``open_to``. Anything else
    that it overrides or takes out needs a reason in ``changed_tests``; without one the class cannot even be defined,
    and with one each test run shows a warning.

    Attributes:
        changed_tests: Reasons by the name of what is changed, for example
            ``{"test_rows_are_limited": "the server has a limit of its own"}``.
        open_to: Names that a subclass may set without a reason.
    """

    changed_tests: ClassVar[Mapping[str, str]] = {}
    open_to: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if cls.__module__.startswith(f"{_KIT}."):
            return
        changed = _changed(cls)
        for name in changed:
            reason = str(cls.changed_tests.get(name, "")).strip()
            if not reason:
                raise TypeError(
                    f"{cls.__name__} changes {name} of its suite without a reason; take the change back, or say why:"
                    f' changed_tests = {{"{name}": "why the contract does not ask for it here"}}'
                )
            warnings.warn(f"{cls.__name__} changes {name}: {reason}", SuiteChanged, stacklevel=2)
        if unused := [name for name in cls.changed_tests if name not in changed]:
            raise TypeError(f"{cls.__name__} gives a reason for {', '.join(unused)}, but does not change it")


def _changed(cls: type) -> list[str]:
    """Lists what of the suite a class overrides or takes out, wherever in its bases that is done."""
    kit = [base for base in cls.__mro__ if base.__module__.startswith(f"{_KIT}.")]
    originals: dict[str, Any] = {}
    for base in kit:
        for name, value in vars(base).items():
            if not name.startswith("__"):
                originals.setdefault(name, value)
    free = frozenset().union(*(vars(base).get("open_to", frozenset()) for base in kit)) | {"changed_tests"}
    changed = [
        name for name, value in originals.items() if name not in free and inspect.getattr_static(cls, name) is not value
    ]
    # A class that is not collected at all is the largest change of all.
    return changed + (["__test__"] if not getattr(cls, "__test__", True) else [])


def ready(provider: Provider, settings: Any) -> Any:
    """Gives a provider's settings; where it is not ready, the test is skipped, or fails where ``CI`` is set."""
    settings = provider.settings() if settings is None else settings
    problem = provider.check(settings)
    if problem is not None:
        hint = f" ({problem.hint})" if problem.hint else ""
        text = f"the {provider.kind} {provider.name} is not ready here: {problem.message}{hint}"
        pytest.fail(text) if os.environ.get("CI") else pytest.skip(text)
    return settings


def check_provider(provider: Provider) -> None:
    """Checks what the contract asks of every provider's data."""
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", provider.name), (
        f"the name {provider.name!r} of a provider is lower case: letters, digits, - and _"
    )
    assert provider.summary.strip() and "\n" not in provider.summary, "summary is one sentence, for kgot plugins show"
    try:
        provider.settings()
    except TypeError as error:
        pytest.fail(f"every field of the settings needs a default: {error}")


def check_clean(text: str, what: str) -> None:
    """Checks that a text for the model or the user shows nothing of the inside: no trace, address, path or password."""
    assert text.strip(), f"{what}: the error has no text; say what is wrong"
    assert len(text) <= 2_000, f"{what}: the error has {len(text)} characters, at most 2,000 help: cut it"
    for pattern, name in _INTERNALS:
        assert not pattern.search(text), f"{what}: the error shows {name}; give position and cause only: {text[:300]}"
    for path in {sys.prefix, sys.base_prefix, str(Path.home()), str(Path.cwd())} - {"/", "/usr"}:
        assert path not in text, f"{what}: the error names a path of this machine: {text[:300]}"
