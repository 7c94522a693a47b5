from __future__ import annotations

import struct

import pytest

from kgot_core.sandboxes.jail.seccomp import jail_filter


def run_filter(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Runs a filter as the kernel would, as far as it uses the machine."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    steps = list(struct.iter_unpack("=HBBI", program))
    place = value = 0
    while True:
        code, yes, no, constant = steps[place]
        place += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x06:
            return constant
        else:
            true = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
            place += yes if true else no


ALLOW = 0x7FFF0000
X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "error"),
    [
        (X86, 0, (), 0),
        (X86, 57, (), 0),
        (X86, 56, (0x1200011,), 0),
        (X86, 56, (0x10000011,), 1),
        (X86, 56, (0x3D0F00,), 0),
        (X86, 435, (), 38),
        (X86, 41, (1,), 0),
        (X86, 41, (2,), 0),
        (X86, 41, (10,), 0),
        (X86, 41, (40,), 97),
        (X86, 302, (0,), 0),
        (X86, 302, (1,), 1),
        (X86, 272, (), 1),
        (X86, 101, (), 1),
        (X86, 0x40000000 | 39, (), 38),
        ((X86[0], ARM[1]), 0, (), 38),
        (ARM, 63, (), 0),
        (ARM, 220, (0x10000011,), 1),
        (ARM, 198, (16,), 97),
        (ARM, 198, (10,), 0),
        (ARM, 117, (), 1),
    ],
)
def test_filter_denies_what_it_should(machine, number, arguments, error):
    program = jail_filter(machine[0])
    assert program is not None
    assert run_filter(program, machine[1], number, *arguments) == (0x50000 | error if error else ALLOW)


def test_filter_is_small_and_unknown_machines_have_none():
    for machine in ("x86_64", "aarch64"):
        assert len(jail_filter(machine) or b"") < 4096
    assert jail_filter("vax") is None
