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


def report_unchecked(subject: str, reason: str) -> bool:
    """Print what was not checked, and pass."""
    print(f"not checked: advisories of {subject}: {reason}")
    return True


def check_crates() -> bool:
    """Check the crates of Cargo.lock; return whether none has an advisory."""
    process = run("cargo-deny", "--log-level", "error", "check", "advisories")
    if process is None:
        return report_unchecked("crates", "cargo-deny is not installed")
    if process.returncode and NO_DATABASE in process.stderr:
        return report_unchecked("crates", "the database of RustSec is not reachable")
    if process.returncode:
        print(process.stdout + process.stderr)
    return process.returncode == 0


def check_packages(lock: str) -> bool:
    """Check the Python packages of a lock file; return whether none has an advisory."""
    process = run(
        "pip-audit", *("--disable-pip", "--no-deps", "--progress-spinner", "off"), "-f", "json", "-r", lock
    )
    if process is None:
        return report_unchecked(f"packages in {lock}", "pip-audit is not installed")
    try:
        packages = json.loads(process.stdout)["dependencies"]
    except (ValueError, KeyError):
        return report_unchecked(
            f"packages in {lock}", (process.stderr.strip().splitlines() or ["no report"])[-1]
        )
    unknown_packages = [each["name"] for each in packages if "skip_reason" in each]
    if unknown_packages:
        count_text = f"{len(unknown_packages)} of {len(packages)} packages in {lock}"
        report_unchecked(count_text, "the database of PyPI is not reachable, or has no such package")
    affected_packages = [each for each in packages if each.get("vulns")]
    for each in affected_packages:
        names = ", ".join(vulnerability["id"] for vulnerability in each["vulns"])
        print(f"{lock}: {each['name']} {each['version']}: {names}")
    return not affected_packages


def main() -> int:
    """Check all locked dependencies; return the exit code."""
    return 0 if all([check_crates(), *map(check_packages, LOCKS)]) else 1


if __name__ == "__main__":
    sys.exit(main())
