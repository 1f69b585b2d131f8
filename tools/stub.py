"""Check `_native.pyi` against the built extension: names, signatures, defaults. `make lint` runs it.

Stub and extension are checked without the package, which would take minutes instead of seconds.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "python" / "sledlab" / "_native.pyi"
NAME = "_native"
ALLOWED_DIFFERENCES = f"{NAME}.__all__\n"
"""Allowed differences: a stub need not declare `__all__`."""


def check(stub: Path, extension: Path) -> subprocess.CompletedProcess[str]:
    """Run mypy's stubtest on both; its exit code is 0 if they agree."""
    with tempfile.TemporaryDirectory(prefix="sledlab-stub-") as folder:
        directory = Path(folder)
        (directory / stub.name).symlink_to(stub)
        (directory / extension.name).symlink_to(extension)
        (directory / "allowed").write_text(ALLOWED_DIFFERENCES, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-m", "mypy.stubtest", NAME, "--concise", "--allowlist", "allowed"],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": folder, "MYPYPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )


def main() -> int:
    """Print the differences; return the exit code."""
    spec = importlib.util.find_spec(f"sledlab.{NAME}")
    if spec is None or spec.origin is None:
        print("the extension is not built: make setup", file=sys.stderr)
        return 2
    process = check(STUB, Path(spec.origin))
    print(process.stdout + process.stderr, end="", file=sys.stderr if process.returncode else sys.stdout)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
