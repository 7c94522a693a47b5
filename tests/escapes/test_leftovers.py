from __future__ import annotations

import pytest

from kgot_core.contracts.sandbox import CodeJob, SandboxLimits


@pytest.mark.parametrize(
    "code",
    [
        "import os, signal\nfor number in (1, 2, 3, 9, 15, 19, 23):\n    os.kill(1, number)",
        "import os, signal\nsignal.signal(15, signal.SIG_IGN)\nos.kill(-1, 15)",
        "import os, signal\nsignal.pidfd_send_signal(os.pidfd_open(1), 9)",
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass\nos._exit(0)",
        "import os\nos.fork()\nos.fork()\nopen('f' + str(os.getpid()), 'w').close()",
        "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)",
        "import ctypes\nctypes.string_at(0)",
        "import os\nfor _ in range(500):\n    os.mkdir('d')\n    os.chdir('d')\nos.mkfifo('x')\nos.chmod('.', 0)",
        "import os\nos.mkdir('locked')\nopen('locked/x', 'w').close()\nos.chmod('locked', 0)\nos.chmod('.', 0)",
        "import os\ntry:\n    os.chmod('/tmp', 0)\nexcept OSError:\n    pass",
        "import os\nos.rmdir('/tmp/work')\nos.rmdir('/tmp/shm')\nos.symlink('/usr', '/tmp/work')",
        "import sys, os, builtins, json\njson.dumps = None\nbuiltins.__dict__.clear()\nos.__dict__.clear()",
        "import sys\nsys.stdout.close()\nsys.stderr = None\nsys.exit()",
        "import sys, gc\nfor thing in gc.get_objects():\n    if isinstance(thing, dict): thing.pop('x', None)",
        "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()",
    ],
)
def test_nothing_of_a_job_stays(jail, unaffected, code):
    jail.run(CodeJob(code))
    unaffected(jail)


def test_script_that_ignores_every_signal_ends_at_its_time(jail, unaffected):
    code = (
        "import os, signal\nfor number in set(signal.Signals) - {9, 19}:\n    signal.signal(number, signal.SIG_IGN)\n"
        "os.fork()\nwhile True: pass"
    )
    assert jail.run(CodeJob(code, limits=SandboxLimits(seconds=0.3))).limit == "time"
    unaffected(jail)
