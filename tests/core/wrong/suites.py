"""Makes test classes of parts with faults, each by the suite of its kind."""

from __future__ import annotations

import pytest


def of_classes(module, suites):
    """Adds a test class for each class of a module that says which tests are ``meant`` for it.

    Args:
        module: The module's names.
        suites: The suite and the base class of each kind of part, by the name of the suite's fixture. A fixture that
            is called ``open_…`` gives a function that makes the part.

    Returns:
        The tests that are meant, by the name of the class.
    """
    faults = {name: thing for name, thing in module.items() if isinstance(thing, type) and getattr(thing, "meant", "")}
    for name, thing in faults.items():
        [(kind, suite)] = [(kind, suite) for kind, (suite, base) in suites.items() if issubclass(thing, base)]
        _add(module, name, suite, {kind: pytest.fixture(_maker(kind, thing), name=kind)})
    return {name: thing.meant for name, thing in faults.items()}


def of_providers(module, suite, faults, **attributes):
    """Adds a test class for each provider with a fault.

    Args:
        module: The module's names.
        suite: The suite.
        faults: The tests that are meant and the provider, by a name.
        attributes: What else the suite is told.

    Returns:
        The tests that are meant, by the name.
    """
    for name, (_, provider) in faults.items():
        _add(module, name, suite, {"provider": provider, **attributes})
    return {name: meant for name, (meant, _) in faults.items()}


def _add(module, name, suite, attributes):
    module[f"Test{name}"] = type(f"Test{name}", (suite,), {"__module__": module["__name__"], **attributes})


def _maker(kind, thing):
    def make(self):
        return (lambda run: thing()) if kind.startswith("open_") else thing()

    return make
