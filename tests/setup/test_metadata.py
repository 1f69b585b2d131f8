"""What says who we are agrees: the version, the licence, the address; and workflows are what they claim."""

import os
import re
import tomllib
from pathlib import Path

import yaml

from tests.conftest import PROJECT


def toml(name):
    return tomllib.loads((PROJECT / name).read_text(encoding="utf-8"))


def test_the_citation_is_that_of_this_version():
    cited = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    package = toml("Cargo.toml")["workspace"]["package"]
    assert cited["version"] == package["version"]
    assert cited["license"] == package["license"] == toml("pyproject.toml")["project"]["license"]
    assert cited["repository-code"] == package["repository"]
    assert cited["title"].startswith("sledlab")
    assert {"cff-version", "message", "authors"} <= set(cited)


def test_crates_can_be_packaged():
    """Those that are published say what they are and hold all that they include; others say they are not."""
    workspace = toml("Cargo.toml")["workspace"]
    crates = {file.parent: toml(file) for file in sorted(PROJECT.glob("crates/*/Cargo.toml"))}
    private = {crate.name for crate, said in crates.items() if said["package"].get("publish") is False}
    assert private == {"sledlab-python", "sledlab-web"}
    for crate, said in crates.items():
        assert {"description", "license", "version"} <= set(said["package"])
        if crate.name in private:
            continue
        own = workspace["dependencies"][crate.name]
        assert own["version"] == workspace["package"]["version"]
        for file in (crate / "src").rglob("*.rs"):
            code = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
            for included in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', code):
                inside = Path(os.path.normpath(file.parent / included))
                assert inside.is_relative_to(crate), f"{file}: {included}"
                assert inside.is_file(), f"{file}: {included}"


def test_workflows_build_every_platform_and_use_what_they_build():
    wheels = yaml.safe_load((PROJECT / ".github/workflows/wheels.yml").read_text(encoding="utf-8"))
    built = {
        (each["os"].split("-")[0], each["target"])
        for each in wheels["jobs"]["wheel"]["strategy"]["matrix"]["include"]
    }
    assert built == {
        ("ubuntu", "x86_64"),
        ("ubuntu", "aarch64"),
        ("macos", "x86_64"),
        ("macos", "aarch64"),
        ("windows", "x64"),
    }
    steps = [step.get("run", "") for step in wheels["jobs"]["wheel"]["steps"]]
    assert any("core.symlinks true" in step for step in steps)
    assert any("sledlab experiment list" in step for step in steps)
    ci = yaml.safe_load((PROJECT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    (script,) = re.findall(r"\.ci/[\w.-]+", ci["jobs"]["everything"]["steps"][-1]["run"])
    assert (PROJECT / script).stat().st_mode & 0o100


BUILT = "python/sledlab/view/"
"""Where `make web` puts the page, which is no part of the repository; tests of the wheel open it."""


def test_what_a_wheel_takes_along_is_there():
    for each in toml("pyproject.toml")["tool"]["maturin"]["include"]:
        assert list(PROJECT.glob(each["path"])) or each["path"].startswith(BUILT), each["path"]
