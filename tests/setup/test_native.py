"""The native module computes the same numbers with every C library."""

from __future__ import annotations

import re
import subprocess

from sledlab import _native

from tests.require import need

INEXACT = re.compile(
    r"(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p)?|pow|cbrt|hypot|[lt]gamma|erfc?)f?"
)
"""Functions that each C library rounds in its own way; square roots are exact."""


def test_native_module_imports_no_inexact_functions() -> None:
    command = (need("nm"), "--dynamic", "--undefined-only", "--format=just-symbols", str(_native.__file__))
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    names = [name.partition("@")[0] for name in completed.stdout.split()]
    assert "memcpy" in names
    assert [name for name in names if INEXACT.fullmatch(name)] == []
