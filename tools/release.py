"""Prepare a release: check, build, and tag the commit; with `--dry-run` without the tag.

Pushing the tag publishes the release: .github/workflows/wheels.yml builds a wheel for each platform and
uploads them to the package index. CONTRIBUTING.md has the steps.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
DIST = PROJECT / "dist"
PLACES = {
    "Cargo.toml": r'^version = "(.*)"$',
    "CITATION.cff": r"^version: (.*)$",
    "CHANGELOG.md": r"^## (\S+) \(\d{4}-\d{2}-\d{2}\)$",
}
"""Files with the version. Python takes it from the first, Cargo.toml."""
UNPUBLISHED_CRATES = ("--exclude", "sledlab-python", "--exclude", "sledlab-web")
"""Crates that are published only as a wheel or a page; their manifests forbid publishing too."""
INTERNAL = re.compile(r'^sledlab-\w+ = \{ path = .*, version = "(.*)" \}$', re.MULTILINE)


class NotReadyError(Exception):
    """The release is not possible; the message states why."""


@dataclass(frozen=True)
class Release:
    """The release of a version from a source tree."""

    version: str
    root: Path = PROJECT

    @property
    def tag(self) -> str:
        """The tag of the commit."""
        return f"v{self.version}"

    def run(self, *command: str) -> str:
        """Return the output of a command, which must succeed."""
        completed = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE, text=True, check=False)
        if completed.returncode:
            raise NotReadyError(f"{' '.join(command)}: exit code {completed.returncode}")
        return completed.stdout.strip()


def read_versions(root: Path) -> dict[str, set[str]]:
    """Return the version in each file; in the changelog the newest one."""
    versions_by_file = {}
    for name, pattern in PLACES.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        versions_by_file[name] = {match[1] if match else "none"}
    versions_by_file["Cargo.toml"] |= set(INTERNAL.findall((root / "Cargo.toml").read_text(encoding="utf-8")))
    locked_packages = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    versions_by_file["Cargo.lock"] = {
        each["version"] for each in locked_packages if each["name"].startswith("sledlab-")
    }
    return versions_by_file


def common_version(root: Path) -> str:
    """Return the version, which must be the same in all files."""
    versions_by_file = read_versions(root)
    versions = set().union(*versions_by_file.values())
    if len(versions) > 1:
        raise NotReadyError(
            "; ".join(
                f"{name} says {', '.join(sorted(file_versions))}"
                for name, file_versions in versions_by_file.items()
            )
        )
    return versions.pop()


def check_tree(release: Release, *, is_dry_run: bool) -> None:
    """Check that this commit can be tagged; a dry run accepts uncommitted changes."""
    if release.run("git", "tag", "--list", release.tag):
        raise NotReadyError(f"{release.tag} is a tag already: choose the next version")
    if not is_dry_run and release.run("git", "status", "--porcelain"):
        raise NotReadyError("the tree has changes: commit them")
    heading_pattern = rf"^## {re.escape(release.version)} \({datetime.datetime.now(datetime.UTC):%Y-%m-%d}\)$"
    if not is_dry_run and not re.search(
        heading_pattern, (release.root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    ):
        raise NotReadyError(f"CHANGELOG.md has no section {release.version} of today")
    if not is_dry_run:
        check_evidence(release)


def check_evidence(release: Release) -> None:
    """Check that all committed measurements match these sources; print those that do not."""
    command = (sys.executable, "-m", "validation.evidence", "--check", "--strict")
    if subprocess.run(command, cwd=release.root, check=False).returncode:
        raise NotReadyError("measurements are not current: make evidence")


def build_wheel(release: Release) -> None:
    """Build the source archive and a wheel for this machine; pushing the tag builds the other wheels."""
    for command in (("build", "--release", "--strip", "--locked"), ("sdist",)):
        release.run("maturin", *command, "--out", str(DIST))
    for kind in ("whl", "tar.gz"):
        if not list(DIST.glob(f"sledlab-{release.version}*.{kind}")):
            raise NotReadyError(f"dist/ has no sledlab-{release.version}*.{kind}")


def pack_crates(release: Release, *, is_dry_run: bool) -> None:
    """Package the published crates, and compile each from its package."""
    dirty_option = ["--allow-dirty"] if is_dry_run else []
    release.run("cargo", "package", "--workspace", *UNPUBLISHED_CRATES, "--locked", *dirty_option)


def main(arguments: list[str] | None = None) -> int:
    """Prepare the release; return the exit code, 2 if the tree is not ready."""
    parser = argparse.ArgumentParser(prog="tools/release.py", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="build everything, tag nothing")
    is_dry_run = parser.parse_args(arguments).dry_run
    try:
        release = Release(common_version(PROJECT))
        check_tree(release, is_dry_run=is_dry_run)
        print(f"sledlab {release.version}: wheel and sources ...", flush=True)
        build_wheel(release)
        print("crates ...", flush=True)
        pack_crates(release, is_dry_run=is_dry_run)
        if not is_dry_run:
            release.run("git", "tag", "--annotate", release.tag, "--message", f"sledlab {release.version}")
    except NotReadyError as reason:
        print(f"no release: {reason}", file=sys.stderr)
        return 2
    tag_state = "would be tagged" if is_dry_run else "is tagged"
    crates = " ".join(("cargo publish --workspace", *UNPUBLISHED_CRATES))
    print(f"{release.tag} {tag_state}. These publish:\n  git push origin {release.tag}\n  {crates}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
