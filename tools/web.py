"""Build the page of `sledlab view`: the core as WebAssembly, then the page around it.

`make web` runs it, as `python -m tools.web`. If a program or library is missing, it prints the command that
installs it; the exit code is then 2.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from tools.charts import PROJECT, WEB, MissingError, build_charts, find_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CORE = WEB / "core" / "sledlab.wasm"
COMPRESSED_CORE = PROJECT / "python" / "sledlab" / "view" / "core.wasm.xz"
CLUSTER_CORE = WEB / "dist" / "cluster.wasm.xz"
"""The core that replays work records too, for the explorable figures of the documentation."""

RUST_FOLDER = PROJECT / ".rust"
TARGET = "wasm32-unknown-unknown"
BUILD = ("cargo", "build", "--profile", "web", "--package", "sledlab-web", "--target", TARGET, "--locked")
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def command_output(*command: str | Path) -> str:
    """Return the output of a command; empty if it does not exist or fails."""
    try:
        completed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return completed.stdout.strip()


def run(
    command: Sequence[str | Path], cwd: Path = PROJECT, environment: Mapping[str, str] = NO_VARIABLES
) -> None:
    """Run a command, which must succeed."""
    subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=True)


def has_target() -> bool:
    """Return whether this Rust has a standard library for browsers."""
    folder = command_output("rustc", "--print", "target-libdir", "--target", TARGET)
    return bool(folder) and any(Path(folder).glob("libstd-*.rlib"))


def add_target() -> bool:
    """Install that library with rustup, if Rust is from rustup; return whether it is installed."""
    own_rustup = RUST_FOLDER / "cargo" / "bin" / "rustup"
    homes = {"RUSTUP_HOME": str(RUST_FOLDER / "rustup"), "CARGO_HOME": str(RUST_FOLDER / "cargo")}
    rustup, environment = (own_rustup, homes) if own_rustup.exists() else (shutil.which("rustup"), {})
    if rustup is None:
        return False
    completed = subprocess.run(
        [rustup, "target", "add", TARGET], cwd=PROJECT, env={**os.environ, **environment}, check=False
    )
    return completed.returncode == 0 and has_target()


def build_core(*features: str) -> Path:
    """Build the core, with Rust's standard library as installed or built from sources; return its file."""
    command = (*BUILD, *(("--features", ",".join(features)) if features else ()))
    if has_target() or add_target():
        run(command)
    elif (
        Path(command_output("rustc", "--print", "sysroot")) / "lib/rustlib/src/rust/library/Cargo.toml"
    ).exists() and (shutil.which("wasm-ld")):
        # Debian's Rust has no standard library for browsers, but its sources, from which one is built.
        flags = {f"CARGO_TARGET_{TARGET.upper().replace('-', '_')}_LINKER": "wasm-ld", "RUSTC_BOOTSTRAP": "1"}
        run((*command, "-Z", "build-std=std,panic_abort"), environment=flags)
    else:
        raise MissingError(
            f"Rust has no standard library for browsers: rustup target add {TARGET}, "
            "or on Debian apt-get install rustc-web cargo-web rust-web-src lld"
        )
    return Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")) / TARGET / "web" / "sledlab_web.wasm"


def compress(core: Path, compressed_core: Path) -> None:
    """Write a core as pages carry it."""
    compressed_core.parent.mkdir(exist_ok=True)
    compressed_core.write_bytes(lzma.compress(core.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{core.stat().st_size / 1e3:.0f} kB, packed {compressed_core.stat().st_size / 1e3:.0f} kB")


def main() -> int:
    """Build the page; return the exit code."""
    try:
        node = find_node()
        compress(build_core("cluster"), CLUSTER_CORE)
        shutil.copyfile(build_core(), CORE)
        compress(CORE, COMPRESSED_CORE)
        node.install()
        build_charts(node)
        node.run(*node.node, "build.mjs")
    except MissingError as error:
        print(f"the page cannot be built: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
