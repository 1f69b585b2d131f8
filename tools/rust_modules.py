"""Report import cycles between the top-level modules of each Rust crate. `make lint` runs it.

A top-level module is a file or folder of `src`. Cargo rejects cycles between crates, but rustc accepts cycles
between modules. Ignored are unit tests: `#[cfg(test)]` blocks, `tests.rs`, `*_tests.rs` and folders `tests`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"

COMMENT = re.compile(r"//[^\n]*")
TEST_BLOCK = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"\b((?:super::)+|crate::)(\{|\w+)")


def first_names(text: str, start: int) -> list[str]:
    """Return the first segments of the paths in the group that opens before `start`.

    >>> first_names("use crate::{device::{Bus, Unit}, power, self as own};", 12)
    ['device', 'power', 'self']
    """
    names, depth, is_first = [], 1, True
    for token in re.finditer(r"[{},]|\w+", text[start:]):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                break
        elif token[0] == ",":
            is_first = depth == 1
            continue
        elif is_first:
            names.append(token[0])
        is_first = False
    return names


def imports(text: str, module_path: tuple[str, ...]) -> set[str]:
    """Return the top-level modules that a source file names.

    `module_path` is the path of the file's module.

    >>> sorted(imports("use crate::device::Bus;\\nuse super::super::power::{Spent};", ("system", "array")))
    ['device', 'power']
    >>> imports("use super::array::Unit; // crate::power", ("system", "single"))
    {'system'}
    """
    text = TEST_BLOCK.sub("", COMMENT.sub("", text))
    modules = set()
    for path in PATH.finditer(text):
        base = () if path[1] == "crate::" else module_path[: len(module_path) - path[1].count("super")]
        names = first_names(text, path.end()) if path[2] == "{" else [path[2]]
        modules |= {(*base, name)[0] for name in names}
    return modules


def graph(source: Path) -> dict[str, set[str]]:
    """Return the imports between the top-level modules of a crate, from its folder `src`."""
    imports_by_module: dict[str, set[str]] = {}
    for file in source.rglob("*.rs"):
        parts = file.relative_to(source).with_suffix("").parts
        module_path = parts[:-1] if parts[-1] == "mod" else parts
        is_test = "tests" in module_path or module_path[-1].endswith("_tests")
        if module_path != ("lib",) and not is_test:
            imports_by_module.setdefault(module_path[0], set()).update(
                imports(file.read_text(encoding="utf-8"), module_path)
            )
    return {
        module: (names & imports_by_module.keys()) - {module} for module, names in imports_by_module.items()
    }


def cycles(imports_by_module: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others.

    >>> cycles({"device": {"power"}, "power": {"device"}, "system": {"device"}})
    [['device', 'power']]
    """
    reachable = {module: set(names) for module, names in imports_by_module.items()}
    for via in imports_by_module:
        for module in imports_by_module:
            if via in reachable[module]:
                reachable[module] |= reachable[via]
    groups = {
        tuple(sorted(other for other in reachable[module] if module in reachable[other]))
        for module in imports_by_module
        if module in reachable[module]
    }
    return [list(group) for group in sorted(groups)]


def report(crates: Path) -> list[str]:
    """Return one line for each import in a cycle."""
    lines = []
    for source in sorted(crates.glob("*/src")):
        crate, imports_by_module = source.parent.name, graph(source)
        for group in cycles(imports_by_module):
            lines += [
                f"{crate}: {module} imports {name} in the cycle of {', '.join(group)}"
                for module in group
                for name in sorted(imports_by_module[module] & set(group))
            ]
    return lines


def main() -> int:
    """Print the imports in cycles; return the exit code."""
    lines = report(CRATES)
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
