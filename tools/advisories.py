"""Check locked dependencies for known vulnerabilities: crates by cargo-deny, Python packages by pip-audit.

Both need a database from the network. Where a tool or its database is missing, a line tells what was not
checked, and the check passes.

    python -m tools.advisories
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")

NO_DATABASE = "failed to fetch advisory database"
"""Part of cargo-deny's message if it cannot reach its database."""


TIMEOUT_S = 60
"""Networks without a route may let a tool wait for minutes."""


def run(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Run a tool in the project; `None` if it is not installed. A timeout is an unreachable database."""
    if shutil.which(command[0]) is None:
        return None
    try:
        return subprocess.run(
            command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", NO_DATABASE)


def not_checked(what: str, reason: str) -> bool:
    """Print what was not checked, and pass."""
    print(f"not checked: advisories of {what}: {reason}")
    return True


def check_crates() -> bool:
    """Check the crates of Cargo.lock; return whether none has an advisory."""
    done = run("cargo-deny", "--log-level", "error", "check", "advisories")
    if done is None:
        return not_checked("crates", "cargo-deny is not installed")
    if done.returncode and NO_DATABASE in done.stderr:
        return not_checked("crates", "the database of RustSec is not reachable")
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def check_packages(lock: str) -> bool:
    """Check the Python packages of a lock file; return whether none has an advisory."""
    done = run(
        "pip-audit", *("--disable-pip", "--no-deps", "--progress-spinner", "off"), "-f", "json", "-r", lock
    )
    if done is None:
        return not_checked(f"packages in {lock}", "pip-audit is not installed")
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return not_checked(f"packages in {lock}", (done.stderr.strip().splitlines() or ["no report"])[-1])
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    if unknown:
        number = f"{len(unknown)} of {len(packages)} packages in {lock}"
        not_checked(number, "the database of PyPI is not reachable, or has no such package")
    affected = [each for each in packages if each.get("vulns")]
    for each in affected:
        names = ", ".join(vulnerability["id"] for vulnerability in each["vulns"])
        print(f"{lock}: {each['name']} {each['version']}: {names}")
    return not affected


def main() -> int:
    """Check all locked dependencies; return the exit code."""
    return 0 if all([check_crates(), *map(check_packages, LOCKS)]) else 1


if __name__ == "__main__":
    sys.exit(main())
