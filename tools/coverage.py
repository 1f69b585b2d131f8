"""Measure the coverage of Rust code by the tests: `make coverage`. Writes pages to target/coverage/rust.

Reading the profiles requires the LLVM tools of the compiler's version, from rustup or Debian (`llvm-22`). If
they are missing, an error names the command that installs them; the exit code is then 2.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGES = PROJECT / "target" / "coverage" / "rust"
TOOLS = {"LLVM_COV": "llvm-cov", "LLVM_PROFDATA": "llvm-profdata"}
"""Environment variables of cargo-llvm-cov, and the programs that they name."""


def command_output(*command: str) -> str:
    """Return the output of a command; empty if it does not exist or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def llvm_version(rustc: str) -> str:
    """Return the major version of LLVM from the output of `rustc -vV`.

    >>> llvm_version("release: 1.95.0\\nLLVM version: 22.1.2"), llvm_version("")
    ('22', '')
    """
    result = re.search(r"LLVM version: (\d+)", rustc)
    return result[1] if result else ""


def places(major: str) -> list[Path]:
    """Return the folders that may contain the tools, that of rustup first."""
    libraries = Path(command_output("rustc", "--print", "target-libdir") or "/nowhere")
    return [libraries.parent / "bin", Path(f"/usr/lib/llvm-{major}/bin")]


def tools(folders: list[Path]) -> dict[str, str]:
    """Return the environment variables that name the tools; empty if no folder has all of them."""
    for folder in folders:
        result = {key: shutil.which(name, path=str(folder)) for key, name in TOOLS.items()}
        if all(result.values()):
            return {key: str(path) for key, path in result.items()}
    return {}


def main(packages: list[str]) -> int:
    """Measure all crates, or the named ones; return the exit code."""
    major = llvm_version(command_output("rustc", "-vV"))
    environment = tools(places(major))
    if not environment:
        remedy = f"rustup component add llvm-tools, or on Debian apt-get install llvm-{major}"
        print(f"LLVM's tools are missing: {remedy}", file=sys.stderr)
        return 2
    chosen = [word for package in packages for word in ("--package", package)] or ["--workspace"]
    environment = {**os.environ, **environment}
    measure = ["cargo", "llvm-cov", "--locked", "--lib", "--tests", *chosen, "--html"]
    done = subprocess.run(
        [*measure, "--output-dir", str(PAGES)], cwd=PROJECT, env=environment, check=False
    ).returncode
    if done == 0:
        subprocess.run(
            ["cargo", "llvm-cov", "report", "--summary-only"], cwd=PROJECT, env=environment, check=True
        )
        print(f"open {PAGES.relative_to(PROJECT)}/html/index.html")
    return done


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
