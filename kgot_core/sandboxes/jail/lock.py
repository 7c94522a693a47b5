"""Gives up every right in the jail: the last step before model-written code may exist beside the worker."""

from __future__ import annotations

import ctypes
import os
import signal

NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_CAPABILITY_VERSION_3 = 0x20080522


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


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
    kernel.die_with_parent()
    # Scripts run as the same user: without this they could rewrite the worker through /proc/1/mem.
    kernel.set_dumpable(False)
    # An init process gets no signal that it does not handle, and Python handles this one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return kernel
