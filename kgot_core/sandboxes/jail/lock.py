"""Gives up every right in the jail: the last step before model-written code may exist beside the worker."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

from .environment import ENVIRONMENT, PACKAGES
from .landlock import write_only_to
from .seccomp import jail_filter

NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_STEP = 8
_OWN_PLACES = ("/dev", "/etc", "/proc", "/sys", PACKAGES)
_CAPABILITY_VERSION_3 = 0x20080522


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Filter(ctypes.Structure):
    _fields_ = (("steps", ctypes.c_ushort), ("program", ctypes.c_char_p))


class Kernel:
    """The few calls of the kernel that Python has no name for."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def set_dumpable(self, dumpable: bool) -> None:
        """Says whether processes of the same user may look into this one."""
        self._libc.prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)

    def die_with_parent(self) -> None:
        """Ends this process when the one that started it ends; a change of user forgets it."""
        self._libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)

    def drop_capabilities(self) -> None:
        """Empties the capability sets, the bounding set included where that is still allowed."""
        for number in range(64):
            self._libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)

    def clear_inheritable(self) -> None:
        """Empties what a started program would inherit."""
        header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
        self._libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)())

    def filter_calls(self, program: bytes) -> None:
        """Puts a filter of system calls on this process and all that it starts, besides those that are on already.

        Raises:
            PermissionError: The kernel does not take it.
        """
        rules = _Filter(len(program) // _STEP, program)
        self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if self._libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(rules), 0, 0):
            raise PermissionError(f"the filter of system calls cannot be set: {os.strerror(ctypes.get_errno())}")


def give_up_rights() -> Kernel:
    """Becomes nobody for good.

    Started by root, the jail has no user namespace, so the user is changed here; started by anybody else, the
    namespace has already mapped that user to nobody.

    Raises:
        PermissionError: The worker would still be root, or this is no jail.
    """
    if os.getpid() != 1:
        # It ends all processes that it can see after each job.
        raise PermissionError("the sandbox worker may only be the first process of a jail")
    kernel = Kernel()
    if os.getuid() == 0:
        # Bubblewrap made the tmpfs as root; its owner may still open it to everybody without any capability.
        os.chmod("/tmp", 0o1777)  # noqa: PTH101
        kernel.drop_capabilities()
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    kernel.clear_inheritable()
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise PermissionError("the sandbox worker is still root")
    # Scripts run as the same user: without this they could rewrite the worker through /proc/1/mem.
    kernel.set_dumpable(False)
    # An init process gets no signal that it does not handle, and Python handles this one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return kernel


def guard(kind: str, kernel: Kernel) -> None:
    """Does what nothing around the jail has done.

    Args:
        kind: ``filter``: sets the filter of system calls; ``closed``: besides refuses all sockets and foreign folders,
            allows writing to one folder alone, and drops the environment; empty: nothing.
        kernel: The kernel.

    Raises:
        PermissionError: The jail is not closed.
    """
    if kind != "filter":
        # There the parent is a helper of the engine, whose threads come and go.
        kernel.die_with_parent()
    if not kind:
        return
    if kind == "closed":
        _refuse_foreign_folders(Path("/proc/self/mountinfo").read_text())
        write_only_to("/tmp")
        libraries = {key: value for key, value in os.environ.items() if key == "LD_LIBRARY_PATH"}
        os.environ.clear()
        os.environ.update(ENVIRONMENT | libraries)
    program = jail_filter(sockets=kind != "closed")
    if program is None:
        raise PermissionError(f"there is no filter of system calls for {os.uname().machine} machines")
    kernel.filter_calls(program)


def _refuse_foreign_folders(mountinfo: str) -> None:
    """Refuses to work where folders of the host are shown: a script would have the rights of their owner.

    Raises:
        PermissionError: There is one; the message names it.
    """
    for line in mountinfo.splitlines():
        place, kind = line.split()[4], line.partition(" - ")[2].split()[0]
        own = place in ("/", "/tmp") or any(place == known or place.startswith(known + "/") for known in _OWN_PLACES)
        if not own or (place == "/tmp" and kind != "tmpfs"):
            raise PermissionError(f"a folder of the host is shown in the container: {place}")
    if os.listdir("/tmp"):  # noqa: PTH208
        # Everything in it is removed after each job.
        raise PermissionError("the folder /tmp of the container is not empty: it may be the host's")
