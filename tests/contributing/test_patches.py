"""The study of CONTRIBUTING.md as a patch; tests/clients tests the patches that cargo builds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PATCHES = Path(__file__).parent


def copy_with_patches(directory: Path, *names: str) -> Path:
    """A copy of the project with some of the patches."""
    git_files = subprocess.run(
        ["git", "ls-files", "-z", "Cargo.*", "clippy.toml", "crates", "docs", "presets", "python", "sample"],
        cwd=PROJECT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, git_files.stdout.split("\0")):
        if (PROJECT / name).exists():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, directory / name, follow_symlinks=False)
    for name in names:
        subprocess.run(["git", "apply", str(PATCHES / f"{name}.patch")], cwd=directory, check=True)
    return directory


REFERENCE = """
import griffe
extensions = griffe.load_extensions("docs/study_functions.py")
package = griffe.load(
    "sledlab", search_paths=["python"], extensions=extensions, allow_inspection=False, resolve_aliases=True
)
print(package["depth_study"].is_function, package["DepthStudy"].is_class)
"""
"""Program that loads the package as the reference does."""


@pytest.mark.parametrize("patch", sorted(PATCHES.glob("*.patch")), ids=lambda patch: patch.stem)
def test_patch_applies(patch: Path) -> None:
    subprocess.run(["git", "apply", "--check", str(patch)], cwd=PROJECT, check=True)


@pytest.mark.slow("copies the project and runs a study")
def test_patch_of_a_study_adds_a_command(tmp_path: Path) -> None:
    tree = copy_with_patches(tmp_path / "tree", "study")
    for native in (PROJECT / "python" / "sledlab").glob("_native*.so"):
        (tree / "python" / "sledlab" / native.name).symlink_to(native)
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}

    def sledlab(*arguments: str) -> str:
        command = [sys.executable, "-m", "sledlab", *arguments]
        completed = subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True, env=environment
        )
        return completed.stdout

    assert "See how throughput grows" in sledlab("--help")
    workload = ("--device", "mems-g2", "--workload", "uniform", "--limit", "500")
    assert "requests per second" in sledlab("depth", *workload, "--depth", "1,4", "--out", "study")
    sledlab("depth", "study/study.toml", "--out", "again")
    for file in ("depths.csv", "depths.parquet", "summary.json", "study.toml", "report.html"):
        assert (tmp_path / "study" / file).read_bytes() == (tmp_path / "again" / file).read_bytes(), file
    griffe = subprocess.run(
        [sys.executable, "-c", REFERENCE],
        cwd=tree,
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert griffe.stdout.split() == ["True", "True"]
    examples = ("-m", "pytest", "-q", "--doctest-modules", str(tree / "python/sledlab/studies/depth"))
    subprocess.run([sys.executable, *examples], cwd=tree, check=True, env=environment)
