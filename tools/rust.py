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
RUST_FOLDER = PROJECT / ".rust"
LOG = RUST_FOLDER / "log"
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
    match = re.search(r"(\d+)\.(\d+)", text)
    return tuple(int(part) for part in match.groups()) if match else ()


def tool_version(tool: str, path: str | None = None) -> tuple[int, ...]:
    """Return the version of a tool; empty if the tool is missing or does not run."""
    program = shutil.which(tool, path=path)
    if program is None:
        return ()
    completed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return version(completed.stdout) if completed.returncode == 0 else ()


def run(*command: str | Path, cwd: Path = PROJECT, environment: dict[str, str] | None = None) -> str:
    """Run a command, with its error output in the log; return its output."""
    with LOG.open("a", encoding="utf-8") as log:
        print("$", *command, file=log, flush=True)
        try:
            completed = subprocess.run(
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
    return completed.stdout


def write_wrappers(tools: Path, libraries: Path | None = None) -> None:
    """Write scripts for the tools to .rust/bin, which the Makefile has on the PATH."""
    folder = RUST_FOLDER / "bin"
    folder.mkdir()
    library_path = (
        f'LD_LIBRARY_PATH="{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}" ' if libraries else ""
    )
    for tool in tools.iterdir():
        script = folder / tool.name
        script.write_text(f'#!/bin/sh\n{library_path}exec "{tool}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)


def install_from_rustup() -> None:
    """Install Rust with rustup."""
    packages, rustup, cargo = RUST_FOLDER / "puccinialin", RUST_FOLDER / "rustup", RUST_FOLDER / "cargo"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--retries", "1")
    run(*pip, "--disable-pip-version-check", "--target", packages, PUCCINIALIN)
    homes = {"RUSTUP_HOME": str(rustup), "CARGO_HOME": str(cargo), "RUSTUP_INIT_SKIP_PATH_CHECK": "yes"}
    run(
        sys.executable,
        "-m",
        "puccinialin",
        "--location",
        RUST_FOLDER,
        environment={**homes, "PYTHONPATH": str(packages)},
    )
    run(cargo / "bin" / "rustup", "component", "add", "clippy", "rustfmt", environment=homes)
    write_wrappers(next(rustup.glob("toolchains/*/bin")))


def install_from_debian() -> None:
    """Unpack Debian's packages into .rust/, which needs no root permissions and replaces no files."""
    folder = RUST_FOLDER / "debian"
    folder.mkdir()
    list_command = ("apt-get", "install", "--print-uris", "--no-install-recommends", "-qq", *DEBIAN)
    try:
        uri_lines = run(*list_command)
    except SourceUnavailableError:
        run("apt-get", "update", "-qq")  # succeeds for root only
        uri_lines = run(*list_command)
    names = [line.split()[1].partition("_")[0] for line in uri_lines.splitlines()]
    run("apt-get", "download", "-qq", *names, cwd=folder)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "--extract", package, folder)
        package.unlink()
    write_wrappers(folder / "usr" / "bin", next(folder.glob("usr/lib/*-linux-gnu*")))


def install_rust(min_version: tuple[int, ...]) -> bool:
    """Try all sources in order; return whether one provided a Rust that is new enough."""
    for install in (install_from_rustup, install_from_debian):
        shutil.rmtree(RUST_FOLDER, ignore_errors=True)
        RUST_FOLDER.mkdir()
        try:
            install()
        except (SourceUnavailableError, StopIteration):
            continue
        if (
            min(
                tool_version("cargo", str(RUST_FOLDER / "bin")),
                tool_version("rustc", str(RUST_FOLDER / "bin")),
            )
            >= min_version
        ):
            return True
    shutil.rmtree(RUST_FOLDER, ignore_errors=True)
    return False


def main() -> int:
    """Provide Rust; return the exit code."""
    manifest = tomllib.loads((PROJECT / "Cargo.toml").read_text(encoding="utf-8"))
    min_version = manifest["workspace"]["package"]["rust-version"]
    if not (shutil.which("cc") or shutil.which("cl")):
        print(
            "Rust needs a C compiler to link with: on Debian, apt-get install build-essential",
            file=sys.stderr,
        )
        return 2
    if min(tool_version("cargo"), tool_version("rustc")) >= version(min_version):
        return 0
    print(
        f"no Rust {min_version} or newer on this machine: setting one up in {RUST_FOLDER.name}/ ...",
        flush=True,
    )
    if install_rust(version(min_version)):
        return 0
    print(
        f"Rust {min_version} or newer is missing and could not be downloaded: install it with rustup, "
        "or on Debian with apt-get install cargo-web rustc-web",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
