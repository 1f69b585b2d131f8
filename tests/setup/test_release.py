"""tools/release.py: a release has one version everywhere, and publishes nothing by itself."""

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
def repository(tmp_path: Path) -> Path:
    """A repository of the files with the version."""
    for name in FILES:
        shutil.copy(PROJECT / name, tmp_path)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(repository: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=sledlab", "-c", "user.email=sledlab@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True)


def commit(repository: Path) -> None:
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "A version")


def test_the_version_is_the_same_everywhere() -> None:
    assert all(len(versions) == 1 for versions in release.read_versions(PROJECT).values())
    assert release.common_version(PROJECT) == release.read_versions(PROJECT)["Cargo.lock"].pop()


@pytest.mark.parametrize("name", FILES)
def test_one_that_differs_is_named(repository: Path, name: str) -> None:
    version = release.common_version(repository)
    file = repository / name
    file.write_text(file.read_text().replace(version, "9.9.9"))
    with pytest.raises(release.NotReadyError, match=rf"{name} says (.*, )?9\.9\.9"):
        release.common_version(repository)


def test_a_crate_that_asks_for_another_is_found(repository: Path) -> None:
    file = repository / "Cargo.toml"
    valid = (
        f'sledlab-core = {{ path = "crates/sledlab-core", version = "{release.common_version(repository)}" }}'
    )
    assert valid in file.read_text()
    file.write_text(file.read_text().replace(valid, valid.replace('version = "', 'version = "9')))
    with pytest.raises(release.NotReadyError, match=r"Cargo\.toml says "):
        release.common_version(repository)


def test_only_a_whole_tree_of_today_is_tagged(repository: Path) -> None:
    candidate = release.Release(release.common_version(repository), repository)
    release.check_tree(candidate, is_dry_run=True)
    with pytest.raises(release.NotReadyError, match=r"no section 9\.9\.9 of today"):
        release.check_tree(release.Release("9.9.9", repository), is_dry_run=False)
    (repository / "more").touch()
    release.check_tree(candidate, is_dry_run=True)
    with pytest.raises(release.NotReadyError, match="commit them"):
        release.check_tree(candidate, is_dry_run=False)
    git(repository, "tag", candidate.tag)
    with pytest.raises(release.NotReadyError, match="is a tag already"):
        release.check_tree(candidate, is_dry_run=True)


@pytest.fixture
def dated_tree(repository: Path) -> Path:
    """The tree with a changelog of today."""
    file = repository / "CHANGELOG.md"
    today = f"({datetime.datetime.now(datetime.UTC):%Y-%m-%d})"
    file.write_text(re.sub(r"\(\d{4}-\d{2}-\d{2}\)", today, file.read_text(), count=1))
    commit(repository)
    return repository


def evidence(repository: Path, code: int) -> None:
    """Write a `validation.evidence` that exits with a code, and prints its arguments."""
    package = repository / "validation" / "evidence"
    package.mkdir(parents=True)
    text = f"import sys\nprint('evidence', *sys.argv[1:], flush=True)\nsys.exit({code})\n"
    (package / "__main__.py").write_text(text)
    commit(repository)


def test_stale_measurements_refuse_a_release(dated_tree: Path, capfd: pytest.CaptureFixture[str]) -> None:
    evidence(dated_tree, 1)
    candidate = release.Release(release.common_version(dated_tree), dated_tree)
    with pytest.raises(release.NotReadyError, match="measurements are not current: make evidence"):
        release.check_tree(candidate, is_dry_run=False)
    assert capfd.readouterr().out == "evidence --check --strict\n"
    release.check_tree(candidate, is_dry_run=True)


def test_current_measurements_permit_a_release(dated_tree: Path) -> None:
    evidence(dated_tree, 0)
    release.check_tree(release.Release(release.common_version(dated_tree), dated_tree), is_dry_run=False)


def test_a_dry_run_builds_everything_and_tags_nothing(repository: Path, monkeypatch, capsys) -> None:
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(release, "PROJECT", repository)
    monkeypatch.setattr(release, "DIST", repository)
    version = release.common_version(repository)
    for kind in ("whl", "tar.gz"):
        (repository / f"sledlab-{version}-any.{kind}").touch()
    monkeypatch.setattr(release.Release, "run", lambda _self, *command: commands.append(command) or "")
    assert release.main(["--dry-run"]) == 0
    assert [command[:2] for command in commands] == [
        ("git", "tag"),
        ("maturin", "build"),
        ("maturin", "sdist"),
        ("cargo", "package"),
    ]
    assert commands[0][2] == "--list"
    assert f"v{version} would be tagged" in capsys.readouterr().out
    assert not any("publish" in command or "push" in command for command in commands)
