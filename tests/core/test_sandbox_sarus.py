"""The sandbox ``sarus`` with a stand-in of its command; all that is closed here is closed by the worker."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, Prelude, Sandbox, SandboxLimits
from kgot_core.errors import SandboxError
from kgot_core.sandboxes.providers import SARUS, SarusSettings
from kgot_core.sandboxes.sarus import check
from kgot_core.testing.sandbox_suite import SandboxSuite, ready_sandbox

LIMITS = SandboxLimits(seconds=20.0, memory_mb=256, output_chars=2_000, file_mb=8, processes=16)


@pytest.fixture
def home(sarus_settings) -> Path:
    return Path(sarus_settings.path).parent


@pytest.fixture
def sandbox(sarus_settings) -> Sandbox:
    return ready_sandbox(SARUS, sarus_settings)


class TestSarus(SandboxSuite):
    @pytest.fixture
    def sandbox(self, sarus_settings) -> Sandbox:
        return ready_sandbox(SARUS, sarus_settings)


def test_command_asks_for_a_process_namespace_and_hands_no_secret_on(sandbox, home, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-5512")
    tmp_path.chmod(0o755)
    (tmp_path / "late.py").write_text("answer = 42\n")
    (home / "calls.jsonl").unlink()
    session = sandbox.open(Prelude(packages=tmp_path), LIMITS)
    try:
        assert session.run(CodeJob("import late\nlate.answer")).value == "42"
        assert "HOME" in session.run(CodeJob("import os\nlist(os.environ)")).value
        assert session.run(CodeJob("import os\nos.environ['HOME']")).value == "/tmp"
    finally:
        session.close()
    (call,) = map(json.loads, (home / "calls.jsonl").read_text().splitlines())
    mount = f"--mount=type=bind,source={tmp_path},destination=/opt/packages,readonly"
    image = "load/library/kgot-sandbox"
    assert call["arguments"][:7] == ["run", "--pid=private", "--workdir=/", "--entrypoint", "", mount, image]
    assert "OPENAI_API_KEY" not in call["environment"]


def test_folder_of_the_host_in_the_container_is_refused_by_name(sandbox, home, tmp_path):
    (home / "site.json").write_text(json.dumps(["/home" if os.access("/home", os.R_OK) else str(tmp_path)]))
    try:
        with pytest.raises(SandboxError, match="a folder of the host is shown in the container: /"):
            sandbox.open(Prelude(), LIMITS)
    finally:
        (home / "site.json").write_text("[]")


def test_image_that_is_not_loaded_is_named_with_the_way_to_load_it(sarus_settings):
    problem = check(SarusSettings(path=sarus_settings.path, image="load/library/other"))
    assert problem and "Image load/library/other:latest is not available" in problem.message
    assert "--archive" in problem.hint and "sarus load" in problem.hint


def test_missing_command_is_named():
    problem = check(SarusSettings(path="no-such-sarus"))
    assert problem and "no-such-sarus" in problem.message and "docker" in problem.hint
