"""Each gate of `make lint` stops a planted fault: in Rust, what it is built of, Python, words and pages.

The faults are planted in a workspace of their own, under the project's settings.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.require import need
from tools import stub

PART = '[package]\nname = "{name}"\nversion = "{version}"\nlicense = "{license}"\nedition = "2024"\n'
SIMULATION = ("core", "models", "trace", "sim")
"""Crates that results depend on."""


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A workspace of one crate, under the project's lints and settings; what it needs is put beside it."""
    house = tmp_path / "house"
    crate(house / "core", "sledlab-core")
    for name in ("clippy.toml", "deny.toml"):
        shutil.copy(PROJECT / name, house)
    project = (PROJECT / "Cargo.toml").read_text(encoding="utf-8")
    lints = re.search(r"^\[workspace\.lints\.rust\].*?(?=^\[profile)", project, re.DOTALL | re.MULTILINE)
    assert lints is not None
    with (house / "core" / "Cargo.toml").open("a") as file:
        file.write(f'rust-version = "{least_rust()}"\n[lints]\nworkspace = true\n')
    (house / "Cargo.toml").write_text(
        f'[workspace]\nresolver = "3"\nmembers = ["core"]\n{lints.group()}', encoding="utf-8"
    )
    return house


def least_rust() -> str:
    manifest = tomllib.loads((PROJECT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["rust-version"])


def crate(folder: Path, name: str, version: str = "1.0.0", license: str = "MIT") -> None:
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(PART.format(name=name, version=version, license=license))
    (folder / "src" / "lib.rs").touch()


def needs(workspace: Path, *lines: str) -> None:
    """Gives the crate dependencies."""
    with (workspace / "core" / "Cargo.toml").open("a") as file:
        file.write("[dependencies]\n" + "\n".join(lines) + "\n")


def run(workspace: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs cargo there; nothing planted needs the network."""
    need("cargo")
    if command[0] != "doc":
        need(f"cargo-{command[0]}")
    own = {"CARGO_HOME": str(workspace / "home"), "CARGO_TARGET_DIR": str(workspace / "target")}
    return subprocess.run(
        ["cargo", *command],
        cwd=workspace,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("code", "sound"), [("pub fn planted() {}\n", True), ("pub fn planted( ) { }\n", False)]
)
def test_rustfmt(planted: Path, code: str, sound: bool) -> None:
    (planted / "core" / "src" / "lib.rs").write_text(code)
    assert (run(planted, "fmt", "--all", "--check").returncode == 0) == sound


FAULTS = {
    "ptr_arg": "pub fn planted(x: &Vec<u8>) -> usize { x.len() }",
    "disallowed_types": "pub fn planted() -> std::collections::HashMap<u8, u8> { Default::default() }",
    "disallowed_methods": "pub fn planted(x: f64) -> f64 { x.sin() }",
    "incompatible_msrv": "pub fn planted(x: Result<Result<u8, ()>, ()>) -> Result<u8, ()> { x.flatten() }",
}


@pytest.mark.slow("compiles a crate with clippy")
@pytest.mark.parametrize("lint", [None, *FAULTS])
def test_clippy(planted: Path, lint: str | None) -> None:
    code = FAULTS[lint] if lint else "pub fn sound() {}"
    source = f"//! Planted.\n{simulation_head('core')}\n/// Planted.\n{code}\n"
    (planted / "core" / "src" / "lib.rs").write_text(source)
    done = run(planted, "clippy", "--all-targets", "--", "-D", "warnings")
    assert (done.returncode == 0) == (lint is None), done.stderr
    assert lint is None or f"#{lint}" in done.stderr, done.stderr


@pytest.mark.parametrize("sound", [True, False])
def test_links_of_rust_docs(planted: Path, sound: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = "planted" if sound else "nowhere"
    source = f"//! Planted, see [`{linked}`].\n/// Planted.\npub fn planted() {{}}\n"
    (planted / "core" / "src" / "lib.rs").write_text(source)
    monkeypatch.setenv("RUSTDOCFLAGS", "-D warnings")
    done = run(planted, "doc", "--no-deps")
    assert (done.returncode == 0) == sound, done.stderr
    assert sound or "unresolved link to `nowhere`" in done.stderr, done.stderr


def simulation_head(name: str) -> str:
    """What a crate that results depend on says of lints."""
    source = (PROJECT / "crates" / f"sledlab-{name}" / "src" / "lib.rs").read_text(encoding="utf-8")
    found = re.findall(r"^#!\[cfg_attr\(not\(test\), warn\(.*\)\)\]$", source, re.MULTILINE)
    assert len(found) == 1, name
    return str(found[0])


def test_all_of_simulation_is_under_the_same_lints() -> None:
    assert {simulation_head(name) for name in SIMULATION} == {
        "#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]"
    }


@pytest.mark.parametrize("fault", [None, "licenses", "duplicate", "git"])
def test_deny(planted: Path, fault: str | None) -> None:
    first, second = planted.parent / "first", planted.parent / "second"
    crate(first, "other", license="GPL-3.0" if fault == "licenses" else "MIT")
    crate(second, "other", version="2.0.0")
    lines = [f'other = {{ path = "{first}", version = "1" }}']
    if fault == "duplicate":
        lines.append(f'second = {{ path = "{second}", package = "other", version = "2" }}')
    if fault == "git":
        for command in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "Other"]):
            subprocess.run(["git", *command], cwd=first, check=True)
        lines = [f'other = {{ git = "file://{first}" }}']
    needs(planted, *lines)
    settings = planted / "deny.toml"
    # A workspace this small has few licences.
    settings.write_text(settings.read_text().replace('unused-allowed-license = "deny"', ""))
    done = run(planted, "deny", "check", "bans", "licenses", "sources")
    said = {
        "licenses": "error[rejected]",
        "duplicate": "error[duplicate]",
        "git": "error[source-not-allowed]",
    }
    assert (done.returncode == 0) == (fault is None), done.stderr
    assert fault is None or said[fault] in done.stderr, done.stderr


AUTHOR = ("-c", "user.name=planted", "-c", "user.email=planted@example.org")


@pytest.mark.parametrize("used", [True, False])
def test_shear(planted: Path, used: bool) -> None:
    (planted / "core" / "src" / "lib.rs").write_text("pub use other::*;" if used else "")
    crate(planted.parent / "other", "other")
    needs(planted, 'other = { path = "../../other", version = "1" }')
    done = run(planted, "shear")
    assert (done.returncode == 0) == used, done.stdout + done.stderr
    assert ("unused dependency `other`" in done.stdout + done.stderr) != used


@pytest.mark.slow("mypy reads the stub")
@pytest.mark.parametrize(
    ("sound", "fault", "said"),
    [
        ("", "", ""),
        ("def write_trace(", "def write_traces(", "write_traces is not present at runtime"),
        ("segment_blocks: int) -> SegmentUses", "blocks: int) -> SegmentUses", "SegmentUses.__new__"),
        ("def hits(", "def misses(", "SegmentUses.misses is not present at runtime"),
    ],
)
def test_stub(tmp_path: Path, sound: str, fault: str, said: str) -> None:
    found = importlib.util.find_spec("sledlab._native")
    assert found is not None
    assert found.origin is not None
    text = stub.STUB.read_text(encoding="utf-8")
    assert text.count(sound) == 1 or not sound
    planted = tmp_path / stub.STUB.name
    planted.write_text(text.replace(sound, fault) if sound else text, encoding="utf-8")
    done = stub.check(planted, Path(found.origin))
    assert (done.returncode == 0) == (not fault), done.stdout + done.stderr
    assert said in done.stdout


PYTHON = {
    "ruff format --check planted.py": "planted = [1,2]\n",
    "ruff check planted.py": '"""Planted."""\n\nimport os\n',
    "mypy --no-incremental planted.py": "def planted(it):\n    return it\n",
    "codespell planted.py": "# {slip}\n",
}
"""Gates of Python and words, and a fault for each."""


@pytest.mark.slow("mypy reads the standard library")
@pytest.mark.parametrize("gate", PYTHON)
def test_python_and_words(tmp_path: Path, gate: str) -> None:
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    planted = tmp_path / "planted.py"
    for text, sound in (('"""Planted."""\n', True), (PYTHON[gate].format(slip="t" + "eh"), False)):
        planted.write_text(text)
        done = tool(tmp_path, *gate.split())
        assert (done.returncode == 0) == sound, done.stdout + done.stderr
        assert sound or "planted" in done.stdout + done.stderr


def tool(folder: Path, name: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs one of Python's tools there."""
    return subprocess.run(
        [Path(sys.executable).parent / name, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("fault", [None, "import sledlab.cli\n"])
def test_imports(tmp_path: Path, fault: str | None) -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    floors = re.findall(r"\w+", " ".join(settings["contracts"][0]["layers"]))
    package = tmp_path / "sledlab"
    package.mkdir()
    for name in set(floors) - {"sledlab"}:
        (package / f"{name}.py").write_text(fault if fault and name == "traces" else "")
    # That the package is put together above all floors is no fault, and has to be there.
    (package / "__init__.py").write_text("from sledlab import cli\n")
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    done = tool(tmp_path, "lint-imports", PYTHONPATH=str(tmp_path))
    assert (done.returncode == 0) == (fault is None), done.stdout + done.stderr
    assert fault is None or "sledlab.traces is not allowed to import sledlab.cli" in done.stdout


@pytest.mark.slow("builds two pages")
@pytest.mark.parametrize("fault", [None, "[there](nowhere.md)", "[there](index.md#nowhere)"])
def test_pages(tmp_path: Path, fault: str | None) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Planted\n\n{fault or 'Sound.'}\n")
    project = (PROJECT / "mkdocs.yml").read_text(encoding="utf-8")
    (validation,) = re.findall(r"^validation:\n(?:  .*\n)+", project, re.MULTILINE)
    (tmp_path / "mkdocs.yml").write_text(f"site_name: planted\n{validation}")
    done = tool(tmp_path, "mkdocs", "build", "--strict", NO_MKDOCS_2_WARNING="1")
    assert (done.returncode == 0) == (fault is None), done.stderr


def test_lint_runs_every_gate() -> None:
    text = (PROJECT / "Makefile").read_text(encoding="utf-8")
    lint = text.partition("\nlint:")[2].partition("\n\n")[0]
    for gate in (
        "cargo fmt",
        "cargo clippy --workspace --all-targets -- -D warnings",
        "cargo deny",
        "cargo shear",
    ):
        assert gate in lint
    for gate in ("ruff check", "mypy", "tools/stub.py", "codespell", "mkdocs build --strict", "lint-imports"):
        assert gate in lint
