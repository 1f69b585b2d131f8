"""Provide a Rust toolchain that is new enough: the one on the PATH, or one installed in .rust/.

The Makefile runs it before compiling. It prints nothing if the Rust on the PATH is new enough, and one line
if it installs Rust. If that fails, an error names the packages to install; the exit code is then 2.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1]
OWN = PROJECT / ".rust"
LOG = OWN / "log"
PUCCINIALIN = "puccinialin==0.1.14"
"""The package with which maturin installs Rust: it runs rustup in a separate folder."""
DEBIAN = ("cargo-web", "rustc-web", "rustfmt-web", "rust-web-clippy")
"""Debian's newest Rust, which Debian updates for its web browsers."""


class SourceUnavailableError(Exception):
    """Rust cannot be installed from this source on this machine."""


def version(text: str) -> tuple[int, ...]:
    """Return the first version in a text: major and minor number.

    >>> version("cargo 1.96.0 (30a34c682 2026-05-25)"), version("no version")
    ((1, 96), ())
    """
    result = re.search(r"(\d+)\.(\d+)", text)
    return tuple(int(part) for part in result.groups()) if result else ()


def answers(tool: str, path: str | None = None) -> tuple[int, ...]:
    """Return the version of a tool; empty if the tool is missing or does not run."""
    program = shutil.which(tool, path=path)
    if program is None:
        return ()
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return version(done.stdout) if done.returncode == 0 else ()


def run(*command: str | Path, cwd: Path = PROJECT, environment: dict[str, str] | None = None) -> str:
    """Run a command, with its error output in the log; return its output."""
    with LOG.open("a", encoding="utf-8") as log:
        print("$", *command, file=log, flush=True)
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise SourceUnavailableError from error
    return done.stdout


def wrap(tools: Path, libraries: Path | None = None) -> None:
    """Write scripts for the tools to .rust/bin, which the Makefile has on the PATH."""
    folder = OWN / "bin"
    folder.mkdir()
    find = f'LD_LIBRARY_PATH="{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" ' if libraries else ""
    for tool in tools.iterdir():
        script = folder / tool.name
        script.write_text(f'#!/bin/sh\n{find}exec "{tool}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)


def from_rustup() -> None:
    """Install Rust with rustup."""
    packages, rustup, cargo = OWN / "puccinialin", OWN / "rustup", OWN / "cargo"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1")
    run(*pip, "--disable-pip-version-check", "--target", packages, PUCCINIALIN)
    homes = {"RUSTUP_HOME": str(rustup), "CARGO_HOME": str(cargo), "RUSTUP_INIT_SKIP_PATH_CHECK": "yes"}
    run(
        sys.executable,
        "-m",
        "puccinialin",
        "--location",
        OWN,
        environment={**homes, "PYTHONPATH": str(packages)},
    )
    run(cargo / "bin" / "rustup", "component", "add", "clippy", "rustfmt", environment=homes)
    wrap(next(rustup.glob("toolchains/*/bin")))


def from_debian() -> None:
    """Unpack Debian's packages into .rust/, which needs no root permissions and replaces no files."""
    folder = OWN / "debian"
    folder.mkdir()
    required = ("apt-get", "install", "--print-uris", "--no-install-recommends", "-qq", *DEBIAN)
    try:
        listed = run(*required)
    except SourceUnavailableError:
        run("apt-get", "update", "-qq")  # succeeds for root only
        listed = run(*required)
    names = [line.split()[1].partition("_")[0] for line in listed.splitlines()]
    run("apt-get", "download", "-qq", *names, cwd=folder)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "--extract", package, folder)
        package.unlink()
    wrap(folder / "usr" / "bin", next(folder.glob("usr/lib/*-linux-gnu*")))


def set_up(needed: tuple[int, ...]) -> bool:
    """Try all sources in order; return whether one provided a Rust that is new enough."""
    for install in (from_rustup, from_debian):
        shutil.rmtree(OWN, ignore_errors=True)
        OWN.mkdir()
        try:
            install()
        except (SourceUnavailableError, StopIteration):
            continue
        if min(answers("cargo", str(OWN / "bin")), answers("rustc", str(OWN / "bin"))) >= needed:
            return True
    shutil.rmtree(OWN, ignore_errors=True)
    return False


def main() -> int:
    """Provide Rust; return the exit code."""
    manifest = tomllib.loads((PROJECT / "Cargo.toml").read_text(encoding="utf-8"))
    least = manifest["workspace"]["package"]["rust-version"]
    if not (shutil.which("cc") or shutil.which("cl")):
        print(
            "Rust needs a C compiler to link with: on Debian, apt-get install build-essential",
            file=sys.stderr,
        )
        return 2
    if min(answers("cargo"), answers("rustc")) >= version(least):
        return 0
    print(f"no Rust {least} or newer on this machine: setting one up in {OWN.name}/ ...", flush=True)
    if set_up(version(least)):
        return 0
    print(
        f"Rust {least} or newer is missing and could not be downloaded: install it with rustup, "
        "or on Debian with apt-get install cargo-web rustc-web",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
