from __future__ import annotations

import pytest

from kgot_core.errors import SandboxError
from kgot_core.providers import Problem, SandboxProvider
from kgot_core.sandboxes.auto import choose
from kgot_core.sandboxes.providers import (
    MONTY,
    SANDBOXES,
    BwrapSettings,
    DockerSettings,
    MontySettings,
    SarusSettings,
)


def provider(name, rank, problem=None, opens=None):
    def check(settings):
        if isinstance(problem, Exception):
            raise problem
        return problem

    def open_it(settings):
        if isinstance(opens, Exception):
            raise opens
        return opens or f"sandbox {name} with {settings}"

    return SandboxProvider(name=name, summary="x", check=check, open=open_it, rank=rank)


def test_lowest_rank_that_is_ready_is_taken_with_its_settings():
    sandbox, notice = choose(
        [provider("slow", 90), provider("good", 10), provider("never", None)], lambda p: p.name.upper()
    )
    assert sandbox == "sandbox good with GOOD"
    assert notice == "scripts run in the sandbox good"


def test_notice_says_in_one_line_why_a_better_one_was_passed_over():
    broken = provider("broken", 1, RuntimeError("oops"))
    absent = provider("absent", 2, Problem("not installed", "install it"))
    closed = provider("closed", 3, opens=SandboxError("no daemon"))
    sandbox, notice = choose([provider("last", 90), closed, absent, broken], lambda p: None)
    assert sandbox == "sandbox last with None"
    assert "\n" not in notice
    for part in ("last", "broken is not ready: RuntimeError: oops", "not installed (install it)", "no daemon"):
        assert part in notice


def test_without_any_there_is_no_fallback():
    with pytest.raises(SandboxError) as caught:
        choose([provider("one", 1, Problem("no kernel")), provider("two", 2, Problem("no binary"))], lambda p: None)
    assert "one is not ready: no kernel" in str(caught.value) and "two is not ready: no binary" in str(caught.value)
    with pytest.raises(SandboxError, match="no sandbox"):
        choose([provider("hidden", None)], lambda p: None)


def test_built_in_ones_stand_in_this_order():
    assert [(each.name, each.rank) for each in SANDBOXES] == [
        ("bwrap", 10),
        ("docker", 20),
        ("sarus", 30),
        ("monty", 90),
    ]


NONE = {
    "bwrap": BwrapSettings(path="no-such-bwrap"),
    "docker": DockerSettings(host="unix:///no/such/socket"),
    "sarus": SarusSettings(path="no-such-sarus"),
    "monty": MontySettings(),
}


def test_real_ones_fall_back_to_monty_where_all_others_are_missing():
    sandbox, notice = choose(SANDBOXES, lambda each: NONE[each.name])
    assert sandbox.name == "monty"
    for name in ("bwrap", "docker", "sarus"):
        assert f"{name} is not ready" in notice
    assert MONTY.check(MontySettings()) is None


@pytest.mark.xdist_group("docker")
def test_docker_is_taken_where_bwrap_is_missing(docker_settings):
    settings = {**NONE, "docker": docker_settings}
    sandbox, notice = choose(SANDBOXES, lambda each: settings[each.name])
    assert sandbox.name == "docker" and notice.startswith("scripts run in the sandbox docker; bwrap is not ready")
