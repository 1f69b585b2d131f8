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
"""Names that folders of models share on purpose, so that who knows one knows all; ARCHITECTURE.md says so."""


def rust() -> dict[str, list[tuple[str, bool, Path]]]:
    """Types that more than their module sees: crate, whether other crates do too, and file; by name."""
    result = defaultdict(list)
    for file in sorted(PROJECT.glob("crates/*/src/**/*.rs")):
        crate = file.relative_to(PROJECT / "crates").parts[0]
        text = TESTS.split(file.read_text(encoding="utf-8"))[0]
        for item in TYPE.finditer(text):
            result[item["name"]].append((crate, item["crate"] is None, file.relative_to(PROJECT)))
    return result


def test_type_names_of_crates_are_unique():
    """No two that a crate sees, and no two that all crates see."""
    result = rust()
    assert len(result) > 300
    twice = {
        name: [str(file) for *_, file in types]
        for name, types in result.items()
        if name not in SHARED_NAMES
        and (
            sum(public for _, public, _ in types) > 1
            or max(Counter(crate for crate, *_ in types).values()) > 1
        )
    }
    assert twice == {}


def test_names_that_folders_share_are_shared():
    result = rust()
    assert [name for name in SHARED_NAMES if len(result[name]) < 3] == []


def test_class_names_of_package_and_lab_are_unique():
    result = defaultdict(list)
    for place in ("python/sledlab", "lab"):
        for file in sorted((PROJECT / place).rglob("*.py")):
            for each in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                    result[each.name].append(str(file.relative_to(PROJECT)))
    assert len(result) > 300
    assert {name: files for name, files in result.items() if len(files) > 1} == {}
