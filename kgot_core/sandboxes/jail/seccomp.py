"""A filter of system calls for the jail: no further namespaces or mounts, no look into processes, no odd sockets.

The jail stands without it too. It closes what namespaces leave open: kernel interfaces that scripts never need, memory
that no limit counts (``memfd_create``, System V), limits of other processes, and ``AF_VSOCK``, which reaches the host
of a virtual machine past the empty network namespace.
"""

from __future__ import annotations

import platform
import struct

_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _FIRST, _X32 = 0, 4, 16, 0x40000000
_NAMESPACES = 0x7E020000
_ANSWERS = ("clone", "clone3", "socket", "prlimit64", "sched_setaffinity")

_NEW = {
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "memfd_secret": 447,
    "clone3": 435,
}
_X86_64 = {
    "socket": 41, "clone": 56, "shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "syslog": 103,
    "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "pivot_root": 155, "adjtimex": 159,
    "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175,
    "delete_module": 176, "quotactl": 179, "sched_setaffinity": 203, "clock_settime": 227, "kexec_load": 246,
    "add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251, "unshare": 272, "perf_event_open": 298,
    "fanotify_init": 300, "prlimit64": 302, "name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305,
    "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313,
    "sched_setattr": 314, "memfd_create": 319, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_AARCH64 = {
    "socket": 198, "clone": 220, "shmget": 194, "semget": 190, "msgget": 186, "ptrace": 117, "syslog": 116,
    "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "pivot_root": 41, "adjtimex": 171,
    "chroot": 51, "acct": 89, "settimeofday": 170, "mount": 40, "umount2": 39, "swapon": 224, "swapoff": 225,
    "reboot": 142, "sethostname": 161, "setdomainname": 162, "init_module": 105, "delete_module": 106,
    "quotactl": 60, "sched_setaffinity": 122, "clock_settime": 112, "kexec_load": 104, "add_key": 217,
    "request_key": 218, "keyctl": 219, "ioprio_set": 30, "unshare": 97, "perf_event_open": 241, "fanotify_init": 262,
    "prlimit64": 261, "name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268,
    "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273, "sched_setattr": 274,
    "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}


def jail_filter(machine: str = "", *, sockets: bool = True) -> bytes | None:
    """Gives the filter's program for a machine type (this machine's by default), ``None`` for an unknown one.

    Args:
        machine: Type of the machine.
        sockets: Local and internet sockets may be made, as there is a network namespace around the jail.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, numbers = known
    numbers = numbers | _NEW
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if numbers["clone"] == _X86_64["clone"]:
        program += [(_JUMP_GREATER, 0, 1, _X32), (_RETURN, 0, 0, _ERROR | _ENOSYS)]
    for name in sorted(numbers.keys() - set(_ANSWERS)):
        program += [(_JUMP_EQUAL, 0, 1, numbers[name]), (_RETURN, 0, 0, _ERROR | _EPERM)]
    # The C library falls back to clone, whose flags a filter can read.
    program += [(_JUMP_EQUAL, 0, 1, numbers["clone3"]), (_RETURN, 0, 0, _ERROR | _ENOSYS)]
    program += _when(numbers["clone"], (_JUMP_ANY_BIT, 0, 1, _NAMESPACES), (_RETURN, 0, 0, _ERROR | _EPERM))
    for name in ("prlimit64", "sched_setaffinity"):
        program += _when(numbers[name], (_JUMP_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _ERROR | _EPERM))
    allowed = (1, 2, 10) if sockets else ()
    families = [(_JUMP_EQUAL, len(allowed) - place, 0, family) for place, family in enumerate(allowed)]
    program += _when(numbers["socket"], *families, (_RETURN, 0, 0, _ERROR | _EAFNOSUPPORT))
    program.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in program)


def _when(number: int, *steps: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Runs steps on the first argument of one call; a step that jumps past the last one allows the call."""
    body = [(_LOAD, 0, 0, _FIRST), *steps, (_RETURN, 0, 0, _ALLOW)]
    return [(_JUMP_EQUAL, 0, len(body), number), *body]
