"""Every public type has a unique name, so that a search for it finds one thing."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

from tests.conftest import PROJECT

TYPE = re.compile(
    r"^[ \t]*pub(?P<crate>\(crate\))?[ \t]+(?:struct|enum|trait|type|union)[ \t]+(?P<name>\w+)", re.M
)
TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.M)

SHARED_NAMES = {
    "Model": "what a model of the folder's kind is",
    "Make": "builds one of a table of parameters",
    "Entry": "a line of the folder's `LIST`: `registry::Entry` of that `Make`",
    "Facts": "what the list knows of a model",
    "Choice": "a model that was chosen, with its parameters",
    "Case": "cases of conformance rules, kind by kind",
    "Check": "a rule of conformance, kind by kind",
}
"""Names that all folders of models have, for the same structure in each; see ARCHITECTURE.md."""

VALIDATION = ("validation", "validation/sections", "validation/reference", "validation/evidence")
"""Folders of modules; benchmarks are scripts."""


def rust_types() -> dict[str, list[tuple[str, bool, Path]]]:
    """Types visible outside their module, by name: crate, whether it is public, and file."""
    types_by_name = defaultdict(list)
    for file in sorted(PROJECT.glob("crates/*/src/**/*.rs")):
        crate = file.relative_to(PROJECT / "crates").parts[0]
        text = TESTS.split(file.read_text(encoding="utf-8"))[0]
        for item in TYPE.finditer(text):
            types_by_name[item["name"]].append((crate, item["crate"] is None, file.relative_to(PROJECT)))
    return types_by_name


def test_type_names_of_crates_are_unique():
    """No two types of a crate, and no two public types, have the same name."""
    types_by_name = rust_types()
    assert len(types_by_name) > 300
    files_by_repeated_name = {
        name: [str(file) for *_, file in types]
        for name, types in types_by_name.items()
        if name not in SHARED_NAMES
        and (
            sum(is_public for _, is_public, _ in types) > 1
            or max(Counter(crate for crate, *_ in types).values()) > 1
        )
    }
    assert files_by_repeated_name == {}


def test_names_that_folders_share_are_shared():
    types_by_name = rust_types()
    assert [name for name in SHARED_NAMES if len(types_by_name[name]) < 3] == []


def test_class_names_of_package_and_validation_are_unique():
    files_by_name = defaultdict(list)
    for folder in ("python/sledlab/**", *VALIDATION):
        for file in sorted(PROJECT.glob(f"{folder}/*.py")):
            for each in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                    files_by_name[each.name].append(str(file.relative_to(PROJECT)))
    assert len(files_by_name) > 300
    assert {name: files for name, files in files_by_name.items() if len(files) > 1} == {}
