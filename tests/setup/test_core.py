"""The crates and the package do not refer to the project of the papers."""

from pathlib import Path

import pytest

from tools.core import references


def test_core_does_not_refer_to_the_papers() -> None:
    assert list(references()) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "crates/sledlab-core/src/lib.rs",
            'include_str!("../../../papers/results/README.md");',
        ),
        ("crates/sledlab-core/Cargo.toml", 'include = ["/papers/experiments"]'),
        ("python/sledlab/runs/execute.py", "from sledlab_papers import points"),
        ("python/sledlab/cli/reproduce.py", 'POINTS = "papers/results"'),
        ("python/sledlab/cli/templates/study.toml", "# pip install sledlab-papers"),
    ],
)
def test_reference_is_found(tmp_path: Path, file: str, text: str) -> None:
    planted = tmp_path / file
    planted.parent.mkdir(parents=True)
    planted.write_text(f"first line\n{text}\n", encoding="utf-8")
    assert list(references(tmp_path)) == [f"{file}:2: {text}"]


def test_links_are_detected_outside_wheel_data(tmp_path: Path) -> None:
    (tmp_path / "papers" / "experiments").mkdir(parents=True)
    (tmp_path / "python/sledlab/reproduction").mkdir(parents=True)
    for name in ("reproduction/experiments", "points"):
        (tmp_path / "python/sledlab" / name).symlink_to(tmp_path / "papers" / "experiments")
    assert list(references(tmp_path)) == ["python/sledlab/points: link to papers/experiments"]


def test_pages_named_after_papers_are_not_references(tmp_path: Path) -> None:
    file = tmp_path / "python/sledlab/cli/reproduce.py"
    file.parent.mkdir(parents=True)
    file.write_text("# docs/papers.md has titles; docs/images/papers/figure.svg\n", encoding="utf-8")
    assert list(references(tmp_path)) == []
