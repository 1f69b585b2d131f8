"""The house of the Python package: imports go downwards only, in no circle, at the top of a file.

Every import counts: at the top, within functions, under `TYPE_CHECKING`, and by `import_module`, `later` or
`loaded` with a name written out. Names do not count in three places only: in `sledlab/__init__.py`, which
puts the package together, in `lazy.py`, and in the tables of commands and studies.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tools.layers import PROJECT, layers_of

PACKAGE = PROJECT / "python" / "sledlab"

LAYERS = (
    ("__init__", "__main__"),
    *(tuple(name.removeprefix("sledlab.") for name in layer) for layer in layers_of(PROJECT)),
    ("_native",),
)
"""From the top."""

LOADERS = ("import_module", "later", "loaded", "partial")
"""Functions that import by name."""

WAITING = ("sledlab.__init__", "sledlab.lazy", "sledlab.cli.__init__", "sledlab.studies.__init__")
"""Where names of modules may be written out, to be loaded when they are used."""

MOST_LOCAL = 10
MOST_LINES = 399


@dataclass(frozen=True)
class Import:
    """An import of one module of the package by another.

    Attributes:
        by: Who.
        of: What; a package by its `__init__`.
        line: Where.
        local: Whether it stands in a function.
    """

    by: str
    of: str
    line: int
    local: bool

    def __str__(self) -> str:
        return f"{self.by}:{self.line} imports {self.of}"


def modules(package: Path) -> dict[str, Path]:
    """Every module by its name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        found[".".join(("sledlab", *path.relative_to(package).with_suffix("").parts))] = path
    return found


def imports(package: Path) -> list[Import]:
    """All imports within the package, and those of anything else that stand in functions."""
    files = modules(package)
    known = frozenset(files)
    return [found for name, path in files.items() for found in _imports(name, path.read_text("utf-8"), known)]


@cache
def _imports(name: str, text: str, known: frozenset[str]) -> list[Import]:
    return [
        Import(name, target, getattr(node, "lineno", 0), local)
        for node, local in _nodes(ast.parse(text))
        for target in _targets(name, node, known)
    ]


def _nodes(node: ast.AST, local: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Everything below a node, and whether it stands in a function."""
    yield node, local
    local = local or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, local)


def _targets(name: str, node: ast.AST, known: frozenset[str]) -> Iterator[str]:
    """What a node imports; modules of others by their names."""
    if isinstance(node, ast.Import):
        yield from (_module(alias.name, known) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, f"{name}: relative import"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            inside = whole in known or f"{whole}.__init__" in known or whole == "sledlab._native"
            yield _module(whole if inside else str(node.module), known)
    elif isinstance(node, ast.Call) and name not in WAITING:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        words = [word.value for word in node.args if called in LOADERS and isinstance(word, ast.Constant)]
        yield from (_module(str(word).partition(":")[0], known) for word in words)


def _module(name: str, known: frozenset[str]) -> str:
    return f"{name}.__init__" if f"{name}.__init__" in known else name


def floor(module: str) -> int:
    """On which floor a module is, 0 the top."""
    part = module.split(".")[1] if "." in module else "__init__"
    return next(place for place, names in enumerate(LAYERS) if part in names)


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Circles in a graph, each broken before the next is looked for."""
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1]
            yield circle
            graph[circle[1]].remove(circle[0])
        else:
            return


def violations(package: Path) -> list[str]:
    """What is against the rules of the house."""
    everything = imports(package)
    own = [each for each in everything if each.of.split(".")[0] == "sledlab"]
    found = [f"upwards: {each}" for each in own if floor(each.of) < floor(each.by)]
    graph: dict[str, set[str]] = {}
    for each in own:
        graph.setdefault(each.by, set()).add(each.of)
    found += (f"in a circle: {' < '.join(circle)}" for circle in circles(graph))
    local = [each for each in everything if each.local]
    if len(local) > MOST_LOCAL:
        found.append(f"within functions: {len(local)}, {', '.join(map(str, local))}")
    for name, path in modules(package).items():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES:
            found.append(f"too long: {name} has {lines} lines")
    return found


def test_the_package_keeps_to_the_rules():
    assert violations(PACKAGE) == []
