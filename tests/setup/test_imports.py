"""Imports of the Python package: no cycles, lazy imports included, and few imports within functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tools.layers import PROJECT, lazy_imports

PACKAGE = PROJECT / "python" / "sledlab"

TABLES = {"sledlab.__init__", "sledlab.cli.__init__", "sledlab.job.data.__init__", "sledlab.studies.__init__"}
"""Modules with tables of names, which are loaded when a user names them: their lazy imports may be cyclic."""

EXTENSION = "sledlab._native"

MAX_LOCAL_IMPORTS = 10
MAX_LINES = 399

FILES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


def full_name(module: str) -> str:
    """Return the name of a module; that of a package ends in `__init__`."""
    return f"{module}.__init__" if f"{module}.__init__" in FILES else module


def statements(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that the import statements of a module or function import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (full_name(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                member = full_name(f"{node.module}.{alias.name}")
                yield member if member in FILES or member == EXTENSION else full_name(str(node.module))


def import_graph() -> dict[str, set[str]]:
    """Return the modules of the package that each module imports."""
    imports = {name: {each for each in statements(tree) if each in FILES} for name, tree in TREES.items()}
    for each in lazy_imports(PACKAGE):
        if each.importer not in TABLES:
            imports[each.importer].add(full_name(each.module))
    return {name: imported - {name} for name, imported in imports.items()}


def cycles(imports: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield the cycles of a graph; each is broken before the next search."""
    while True:
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            cycle = error.args[1]
            yield cycle
            imports[cycle[1]].remove(cycle[0])
        else:
            return


def test_modules_import_each_other_without_cycles():
    assert list(cycles(import_graph())) == []


def test_cycle_is_reported():
    assert list(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == [["a", "c", "b", "a"]]


def test_few_imports_are_within_functions():
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    local_imports = {
        (name, module)
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for module in statements(node)
    }
    assert len(local_imports) <= MAX_LOCAL_IMPORTS, local_imports


def test_modules_are_short():
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}
