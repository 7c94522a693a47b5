from __future__ import annotations

import pytest

from kgot_core.contracts.sandbox import CodeJob

FORGE = (
    "import os, struct\nfor number in range(3, 256):\n    try:\n        os.write(number, {data})\n    except OSError:\n"
    "        pass\nos._exit(0)"
)
FORGERIES = [
    ("noise", "b'nonsense' * 5000"),
    ("promise of more", "struct.pack('!II', 10, 2**32 - 1) + b'x'"),
    ("deep header", "struct.pack('!II', 60000, 2) + b'[' * 60000 + b'{}'"),
    ("wrong types", 'struct.pack(\'!II\', 36, 2) + b\'{"error":{},"line":"x","limit":[1,2]}\' + b\'{}\''),
    ("deep value", "struct.pack('!II', 12, 200000) + b'{\"error\":\"\"}' + b'[' * 100000 + b']' * 100000"),
    ("too many values", "struct.pack('!II', 12, 6000003) + b'{\"error\":\"\"}' + b'[' + b'[],' * 2000000 + b'1]'"),
    ("not a value", "struct.pack('!II', 12, 4) + b'{\"error\":\"\"}' + b'\\x80\\x04N.'"),
    ("endless number", "struct.pack('!II', 12, 9000) + b'{\"error\":\"\"}' + b'9' * 9000"),
]


@pytest.mark.parametrize(("name", "data"), FORGERIES, ids=[name for name, _ in FORGERIES])
def test_forged_outcome_confuses_nobody(jail, unaffected, name, data):
    result = jail.run(CodeJob(FORGE.format(data=data), commit="kept = value"))
    assert result.error and result.value is None
    unaffected(jail)


def test_forged_value_is_just_a_value(jail, unaffected):
    data = 'struct.pack(\'!II\', 12, 8) + b\'{"error":""}"forged"\''
    assert jail.run(CodeJob(FORGE.format(data=data))).value == "forged"
    unaffected(jail)
