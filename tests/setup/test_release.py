"""tools/release.py: a release says one version everywhere, and publishes nothing by itself."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tools import release

FILES = (*release.PLACES, "Cargo.lock")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What has the version, under version control."""
    for name in FILES:
        shutil.copy(PROJECT / name, tmp_path)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(tree: Path, *text: str) -> None:
    who = ("-c", "user.name=sledlab", "-c", "user.email=sledlab@example.org")
    subprocess.run(["git", *who, *text], cwd=tree, check=True, capture_output=True)


def commit(tree: Path) -> None:
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "A version")


def test_the_version_is_the_same_everywhere() -> None:
    assert all(len(versions) == 1 for versions in release.read_versions(PROJECT).values())
    assert release.common_version(PROJECT) == release.read_versions(PROJECT)["Cargo.lock"].pop()


@pytest.mark.parametrize("name", FILES)
def test_one_that_differs_is_named(tree: Path, name: str) -> None:
    version = release.common_version(tree)
    file = tree / name
    file.write_text(file.read_text().replace(version, "9.9.9"))
    with pytest.raises(release.NotReadyError, match=rf"{name} says (.*, )?9\.9\.9"):
        release.common_version(tree)


def test_a_crate_that_asks_for_another_is_found(tree: Path) -> None:
    file = tree / "Cargo.toml"
    valid = f'sledlab-core = {{ path = "crates/sledlab-core", version = "{release.common_version(tree)}" }}'
    assert valid in file.read_text()
    file.write_text(file.read_text().replace(valid, valid.replace('version = "', 'version = "9')))
    with pytest.raises(release.NotReadyError, match=r"Cargo\.toml says "):
        release.common_version(tree)


def test_only_a_whole_tree_of_today_is_tagged(tree: Path) -> None:
    result = release.Release(release.common_version(tree), tree)
    release.check_tree(result, dry=True)
    with pytest.raises(release.NotReadyError, match=r"no section 9\.9\.9 of today"):
        release.check_tree(release.Release("9.9.9", tree), dry=False)
    (tree / "more").touch()
    release.check_tree(result, dry=True)
    with pytest.raises(release.NotReadyError, match="commit them"):
        release.check_tree(result, dry=False)
    git(tree, "tag", result.tag)
    with pytest.raises(release.NotReadyError, match="is a tag already"):
        release.check_tree(result, dry=True)


@pytest.fixture
def dated_tree(tree: Path) -> Path:
    """The tree with a changelog of today."""
    file = tree / "CHANGELOG.md"
    today = f"({datetime.datetime.now(datetime.UTC):%Y-%m-%d})"
    file.write_text(re.sub(r"\(\d{4}-\d{2}-\d{2}\)", today, file.read_text(), count=1))
    commit(tree)
    return tree


def evidence(tree: Path, code: int) -> None:
    """Write a `lab.evidence` that exits with a code, and prints its arguments."""
    package = tree / "lab" / "evidence"
    package.mkdir(parents=True)
    text = f"import sys\nprint('evidence', *sys.argv[1:], flush=True)\nsys.exit({code})\n"
    (package / "__main__.py").write_text(text)
    commit(tree)


def test_stale_measurements_refuse_a_release(dated_tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    evidence(dated_tree, 1)
    result = release.Release(release.common_version(dated_tree), dated_tree)
    with pytest.raises(release.NotReadyError, match="measurements are not current: make evidence"):
        release.check_tree(result, dry=False)
    assert capfd.readouterr().out == "evidence --check --strict\n"
    release.check_tree(result, dry=True)


def test_current_measurements_permit_a_release(dated_tree: Path) -> None:
    evidence(dated_tree, 0)
    release.check_tree(release.Release(release.common_version(dated_tree), dated_tree), dry=False)


def test_a_dry_run_builds_everything_and_tags_nothing(tree: Path, monkeypatch, capsys) -> None:
    run: list[tuple[str, ...]] = []
    monkeypatch.setattr(release, "PROJECT", tree)
    monkeypatch.setattr(release, "DIST", tree)
    version = release.common_version(tree)
    for kind in ("whl", "tar.gz"):
        (tree / f"sledlab-{version}-any.{kind}").touch()
    monkeypatch.setattr(release.Release, "run", lambda _self, *command: run.append(command) or "")
    assert release.main(["--dry-run"]) == 0
    assert [command[:2] for command in run] == [
        ("git", "tag"),
        ("maturin", "build"),
        ("maturin", "sdist"),
        ("cargo", "package"),
    ]
    assert run[0][2] == "--list"
    assert f"v{version} would be tagged" in capsys.readouterr().out
    assert not any("publish" in command or "push" in command for command in run)
