"""The conformance suite of tools. A third party subclasses :class:`ToolSuite` and names its provider.

Example:
    class TestMyTool(ToolSuite):
        provider = MY_PROVIDER
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgot_core.contracts.model import ToolCallRequest, ToolSpec
from kgot_core.contracts.run import Run
from kgot_core.contracts.sandbox import Sandbox
from kgot_core.contracts.tools import ToolResult
from kgot_core.providers import ToolProvider
from kgot_core.run.parts import ToolEntry
from kgot_core.sandboxes.providers import MONTY
from kgot_core.testing.runs import Ended, Setting, try_in_run
from kgot_core.testing.suite import Suite, check_clean, check_provider, ready

LONGEST = 1_024
_SECRET = "kit-secret-4417"


class ToolSuite(Suite):
    """What every tool does. It is called with the example of its own description: ``Example: {"argument": "value"}``.

    Small files ``.csv`` and ``.txt`` that the example names are there.

    Attributes:
        provider: The provider under test.
        settings: Its settings; the defaults where ``None``.
        calls: Arguments of a call that works, by the name of the tool; the example of the description otherwise.
        bad_calls: Arguments of a call that must fail, by the name of the tool.
        reply: What the model answers when the tool asks it.
        attachments: Files of the task, content by name.
    """

    open_to: ClassVar[frozenset[str]] = frozenset(
        {"provider", "settings", "calls", "bad_calls", "reply", "attachments", "sandbox", "current_settings"}
    )
    provider: ClassVar[ToolProvider]
    settings: ClassVar[Any] = None
    calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    bad_calls: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    reply: ClassVar[str] = "42"
    attachments: ClassVar[Mapping[str, str]] = {}

    @pytest.fixture
    def current_settings(self) -> Any:
        """Gives the settings of the tool."""
        return ready(self.provider, self.settings)

    @pytest.fixture
    def sandbox(self) -> Sandbox:
        """Gives the sandbox in which the tool may run scripts."""
        return MONTY.open(MONTY.settings())

    @pytest.fixture
    def setting(self, current_settings: Any, sandbox: Sandbox, tmp_path: Path) -> Setting:
        """Gives the run in which the tool is called."""
        files = [tmp_path / name for name in self.attachments]
        for file in files:
            file.write_text(self.attachments[file.name], encoding="utf-8")
        entry = ToolEntry(self.provider, current_settings)
        script = lambda asked: self.reply  # noqa: E731 - a script is a function of the request
        return Setting(script, files=files, tools=[entry], sandbox=sandbox, folder=tmp_path / "run")

    def test_provider_is_complete(self) -> None:
        check_provider(self.provider)
        assert self.provider.effect in ("read", "write"), "effect is 'read' or 'write'"
        assert self.provider.seconds > 0, "seconds is the wall time of one call, above 0"

    def test_tools_are_made_anew(self, setting: Setting) -> None:
        made: list[Sequence[Any]] = []
        create = self.provider.create

        def kept(settings: Any, context: Any) -> Sequence[Any]:
            made.append(create(settings, context))
            return made[-1]

        entry = ToolEntry(dataclasses.replace(self.provider, create=kept), setting.tools[0].settings)
        for _ in range(2):
            specs_of(dataclasses.replace(setting, tools=[entry]))
        assert not {id(tool) for tool in made[0]} & {id(tool) for tool in made[1]}, (
            "create makes new tools for each run"
        )
        for spec in specs_of(setting):
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", spec.name), f"models take only plain names, not {spec.name!r}"

    def test_description_has_an_example(self, setting: Setting) -> None:
        for spec in specs_of(setting):
            assert 20 <= len(spec.description) <= LONGEST, (
                f"the description of {spec.name} has {len(spec.description)} characters, not 20 to {LONGEST}"
            )
            assert example_of(spec) is not None, (
                f'the description of {spec.name} needs an example of its arguments: Example: {{"name": "value"}}'
            )
            problem = try_in_run(_problem(ToolCallRequest(spec.name, example_of(spec) or {})), setting).result
            assert not problem, f"the example in the description of {spec.name} does not fit its arguments: {problem}"

    def test_arguments_are_described(self, setting: Setting) -> None:
        for spec in specs_of(setting):
            properties: Any = spec.parameters.get("properties", {})
            for name, schema in properties.items():
                assert len(str(schema.get("description", ""))) >= 10, (
                    f"the argument {name} of {spec.name} needs a description: Annotated[..., 'what it is'], or a Field"
                )

    def test_example_call_works(self, setting: Setting) -> None:
        for spec in specs_of(setting):
            result = self.called(setting, spec)
            assert not result.failed, f"{spec.name} fails when called as its example says: {result.text}"
            assert result.text != "(the tool gave nothing)", f"{spec.name} returns nothing"
            for source in result.artifact.sources:
                assert source.address, "a Source needs the address that it was read from"

    def test_failure_is_an_error(self, setting: Setting) -> None:
        specs = {spec.name: spec for spec in specs_of(setting)}
        unknown = set(self.bad_calls) - set(specs)
        assert not unknown, f"bad_calls names {sorted(unknown)}, but the tools are {sorted(specs)}"
        calls = [(name, specs[name], arguments) for name, arguments in self.bad_calls.items()]
        calls += [
            (name, spec, {"no such argument": 1}) for name, spec in specs.items() if spec.parameters.get("required")
        ]
        for name, spec, arguments in calls:
            result = self.called(setting, spec, arguments)
            assert result.failed, f"{name} must raise an error, not describe it in a result: {result.text}"
            check_clean(result.text, f"a failure of {name}")

    def test_secrets_are_not_shown(self, setting: Setting) -> None:
        settings = setting.tools[0].settings
        secret = [field.name for field in dataclasses.fields(settings) if field.metadata.get("secret")]
        known = dataclasses.replace(settings, **dict.fromkeys(secret, _SECRET))
        setting = dataclasses.replace(setting, tools=[ToolEntry(self.provider, known)])
        for spec in specs_of(setting):
            for arguments in (None, *([self.bad_calls[spec.name]] if spec.name in self.bad_calls else [])):
                shown = f"{spec} {self.called(setting, spec, arguments)}"
                assert _SECRET not in shown, f"{spec.name} shows a secret of its settings to the model"

    def called(self, setting: Setting, spec: ToolSpec, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Calls a tool in a run, as its example says unless arguments are given."""
        if arguments is None:
            arguments = self.calls.get(spec.name, example_of(spec) or {})
            setting = _with_named_files(setting, arguments)

        async def work(run: Run) -> ToolResult:
            return await run.tools.call("suite", ToolCallRequest(spec.name, arguments))

        return try_in_run(work, setting).result


class NoToolSuite(Suite):
    """What a provider does that says what it ``needs`` and has not got it: no tool, and no error either.

    ``kgot plugins check`` takes it where :func:`offers_nothing` says so; a plugin's own tests give the provider what it
    needs, and subclass :class:`ToolSuite`.

    Attributes:
        provider: The provider under test.
        settings: Its settings; the defaults where ``None``.
    """

    open_to: ClassVar[frozenset[str]] = frozenset({"provider", "settings"})
    provider: ClassVar[ToolProvider]
    settings: ClassVar[Any] = None

    def test_provider_is_complete(self) -> None:
        check_provider(self.provider)
        assert "\n" not in self.provider.needs, "needs is a few words on one line"

    def test_without_what_it_needs_it_makes_no_tool_and_no_error(self) -> None:
        specs, left_out = _made(self.provider, ready(self.provider, self.settings))
        assert not left_out, f"where {self.provider.needs} is missing, create gives no tools, and no error: {left_out}"
        assert not specs, "what makes tools is checked by the suite of tools"


def offers_nothing(provider: ToolProvider, settings: Any) -> bool:
    """Tells whether a provider that says what it ``needs`` makes no tool as it is set, in a run without files."""
    return bool(provider.needs) and _made(provider, settings) == ([], {})


def _made(provider: ToolProvider, settings: Any) -> tuple[list[Any], Mapping[str, str]]:
    async def work(run: Run) -> None:
        """Nothing more: the tools are made before."""

    records = try_in_run(work, Setting(tools=[ToolEntry(provider, settings)])).records
    opened = next(record for record in records if record["kind"] == "tools_opened")
    return list(opened["specs"]), dict(opened["left_out"])


def example_of(spec: ToolSpec) -> Mapping[str, Any] | None:
    """Reads the example of a description; ``None`` where there is none."""
    _, found, rest = spec.description.partition("Example")
    start = rest.find("{")
    if not found or start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(rest[start:])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _with_named_files(setting: Setting, arguments: Mapping[str, Any]) -> Setting:
    """Gives the run the small files that a call names, where it has none of that name."""
    assert setting.folder is not None
    known = {file.name for file in setting.files}
    names = set(re.findall(r"\b[\w-]+\.(?:csv|txt)\b", json.dumps(arguments))) - known
    for name in names:
        (setting.folder.parent / name).write_text("name,size\nOrm,3\nSarn,5\n", encoding="utf-8")
    return dataclasses.replace(
        setting, files=[*setting.files, *(setting.folder.parent / name for name in sorted(names))]
    )


def _problem(call: ToolCallRequest) -> Any:
    async def work(run: Run) -> str:
        return run.tools.problem(call)

    return work


def specs_of(setting: Setting) -> Sequence[ToolSpec]:
    """Makes the tools in a run, and gives how they are offered."""

    async def work(run: Run) -> Sequence[ToolSpec]:
        return run.tools.specs

    ended: Ended[Sequence[ToolSpec]] = try_in_run(work, setting)
    opened = next(record for record in ended.records if record["kind"] == "tools_opened")
    assert not opened["left_out"], f"the tools cannot be made: {opened['left_out']}"
    assert ended.result, "create gives at least one LangChain tool"
    return ended.result
