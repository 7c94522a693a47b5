"""Writing to one folder alone, by Landlock: for a container whose root, or shared memory, may be written to."""

from __future__ import annotations

import ctypes
import os

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _NO_NEW_PRIVS = 1, 1, 38
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
# Removing, making and moving files of every kind.
_CHANGE = sum(1 << bit for bit in range(4, 14))
_NEEDED = 2
"""Before this version nothing could be moved between folders, which emptying needs."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def write_only_to(folder: str) -> None:
    """Lets this process and all that it starts write to a folder, and to nothing else, for good.

    Raises:
        PermissionError: The kernel cannot do that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < _NEEDED:
        raise PermissionError(
            "the kernel cannot keep scripts from writing to the container: Landlock is off or too old"
        )
    files = _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)
    handled = ctypes.c_uint64(files | _CHANGE)
    rules = libc.syscall(_CREATE, ctypes.byref(handled), ctypes.c_size_t(ctypes.sizeof(handled)), 0)
    for path, allowed in ((folder, files | _CHANGE), *((device, files) for device in _DEVICES)):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = _Beneath(allowed, place)
        failed = libc.syscall(_ADD, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(place)
        if failed:
            raise PermissionError(f"Landlock does not take {path}: {os.strerror(ctypes.get_errno())}")
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, rules, 0):
        raise PermissionError(f"Landlock cannot be put on: {os.strerror(ctypes.get_errno())}")
    os.close(rules)
