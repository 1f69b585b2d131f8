"""Metadata files agree on version, license and address, and workflows are complete."""

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.conftest import PROJECT


def toml(name):
    return tomllib.loads((PROJECT / name).read_text(encoding="utf-8"))


def test_the_citation_is_that_of_this_version():
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    package = toml("Cargo.toml")["workspace"]["package"]
    assert citation["version"] == package["version"]
    assert citation["license"] == package["license"] == toml("pyproject.toml")["project"]["license"]
    assert citation["repository-code"] == package["repository"]
    assert citation["title"].startswith("sledlab")
    assert {"cff-version", "message", "authors"} <= set(citation)


def test_crates_can_be_packaged():
    """Published crates have metadata and all files that they include; others are marked as unpublished."""
    workspace = toml("Cargo.toml")["workspace"]
    crates = {file.parent: toml(file) for file in sorted(PROJECT.glob("crates/*/Cargo.toml"))}
    private = {
        crate.name for crate, manifest in crates.items() if manifest["package"].get("publish") is False
    }
    assert private == {"sledlab-python", "sledlab-web"}
    for crate, manifest in crates.items():
        assert {"description", "license", "version"} <= set(manifest["package"])
        if crate.name in private:
            continue
        dependency = workspace["dependencies"][crate.name]
        assert dependency["version"] == workspace["package"]["version"]
        for file in (crate / "src").rglob("*.rs"):
            code = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
            for included in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', code):
                included_file = Path(os.path.normpath(file.parent / included))
                assert included_file.is_relative_to(crate), f"{file}: {included}"
                assert included_file.is_file(), f"{file}: {included}"


def test_workflows_build_and_use_every_platform():
    wheels = workflow("wheels")
    platforms = {
        (each["os"].split("-")[0], each["target"])
        for each in wheels["jobs"]["wheel"]["strategy"]["matrix"]["include"]
    }
    assert platforms == {
        ("ubuntu", "x86_64"),
        ("ubuntu", "aarch64"),
        ("macos", "x86_64"),
        ("macos", "aarch64"),
        ("windows", "x64"),
    }
    step_commands = [step.get("run", "") for step in wheels["jobs"]["wheel"]["steps"]]
    assert any("core.symlinks true" in step for step in step_commands)
    assert any("sledlab list experiment" in step for step in step_commands)


def test_changes_are_tested_on_three_systems():
    ci = workflow("ci")
    (script,) = re.findall(r"\.ci/[\w.-]+", ci["jobs"]["everything"]["steps"][-1]["run"])
    assert (PROJECT / script).stat().st_mode & 0o100
    other_systems = ci["jobs"]["systems"]["strategy"]["matrix"]["os"]
    systems = {name.split("-")[0] for name in (ci["jobs"]["everything"]["runs-on"], *other_systems)}
    assert systems == {"ubuntu", "macos", "windows"}
    assert ci["env"] == {"SLEDLAB_REFERENCE": "none"}
    step_commands = " ".join(step.get("run", "") for step in ci["jobs"]["systems"]["steps"])
    assert "pytest validation/tests/bundled" in step_commands
    named_crates = set(re.findall(r"-p (sledlab-\w+)", step_commands))
    assert named_crates <= {folder.name for folder in (PROJECT / "crates").iterdir()}
    assert all((PROJECT / name).exists() for name in re.findall(r"-r (\S+)", step_commands))


@pytest.mark.parametrize("name", ["ci", "wheels"])
def test_workflows_have_all_required_keys(name):
    parsed = workflow(name)
    # `on` is a boolean in YAML 1.1.
    assert {"name", True, "permissions", "jobs"} <= set(parsed)
    for job in parsed["jobs"].values():
        assert "runs-on" in job
        assert {"timeout-minutes", "environment"} & set(job)
        assert set(as_list(job.get("needs"))) <= set(parsed["jobs"])
        for step in job["steps"]:
            assert len({"uses", "run"} & set(step)) == 1
            assert "uses" not in step or re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", step["uses"])


def as_list(needs):
    return [needs] if isinstance(needs, str) else needs or []


def workflow(name):
    return yaml.safe_load((PROJECT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))


ISSUE_FORMS = {"bug", "model", "deviation"}


def test_issue_forms_request_the_required_facts():
    folder = PROJECT / ".github" / "ISSUE_TEMPLATE"
    assert {file.stem for file in folder.glob("*.yml")} == ISSUE_FORMS | {"config"}
    for name in ISSUE_FORMS:
        form = yaml.safe_load((folder / f"{name}.yml").read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(form)
        fields = form["body"]
        assert {field["type"] for field in fields} <= {"textarea", "input", "dropdown", "checkboxes"}
        assert len({field["id"] for field in fields}) == len(fields)
        assert all(field["attributes"]["label"] for field in fields)
        assert any(field.get("validations", {}).get("required") for field in fields)
    assert (PROJECT / ".github" / "pull_request_template.md").read_text(encoding="utf-8").count("- [ ]") >= 4


BUILT_DIRECTORY = "python/sledlab/view/"
"""Directory into which `make web` builds the page; tests of the wheel open it."""


def test_wheel_data_files_exist():
    for each in toml("pyproject.toml")["tool"]["maturin"]["include"]:
        assert list(PROJECT.glob(each["path"])) or each["path"].startswith(BUILT_DIRECTORY), each["path"]
