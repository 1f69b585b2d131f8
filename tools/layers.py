"""Check that lazy imports obey the layers of import-linter, which reads import statements only.

`later("package.module:name")` and other strings that name a module import it when it is first used. A module
must not name a module of a higher layer in this way either. The layers are those of pyproject.toml, and each
module and package directly in `sledlab` must be in one of them.

    python -m tools.layers
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECT = Path(__file__).parents[1]

NAME = re.compile(r"(sledlab(?:\.\w+)+)(?::[\w.]+)?")
"""A module, or an object in a module."""

Layers = list[set[str]]
"""Modules of each layer, the highest first."""


@dataclass(frozen=True)
class LazyImport:
    """A string that names a module of the package.

    Attributes:
        file: The file with the string, relative to the package's directory.
        line: The line of the string.
        module: The module that the string names.
    """

    file: Path
    line: int
    module: str

    @property
    def importer(self) -> str:
        """The module with the string."""
        return ".".join(self.file.with_suffix("").parts)


def read_layers(project: Path) -> Layers:
    """Return the layers of import-linter's contract."""
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return [{name.strip() for name in layer.split("|")} for layer in contract["layers"]]


def lazy_imports(package: Path) -> Iterator[LazyImport]:
    """Yield the strings that name a module of a package."""
    root = package.parent
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            match = NAME.fullmatch(node.value)
            if match and _exists(root, match[1]):
                yield LazyImport(path.relative_to(root), node.lineno, match[1])


def _exists(root: Path, module: str) -> bool:
    path = root.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def layer(module: str, layers: Layers) -> int | None:
    """Return the number of the layer of a module, 0 for the highest.

    Examples:
        >>> layer("sledlab.show.run", [{"sledlab.cli"}, {"sledlab.show"}])
        1
    """
    for number, names in enumerate(layers):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return number
    return None


def modules_without_layer(package: Path, layers: Layers) -> list[str]:
    """Return the modules and packages directly in a package that are in no layer."""
    names = [f"{package.name}.{path.stem}" for path in sorted(package.iterdir()) if _is_python(path)]
    return [name for name in names if layer(name, layers) is None]


def _is_python(path: Path) -> bool:
    """Whether a path is a package, or a module that is not special."""
    return (path / "__init__.py").is_file() or (path.suffix == ".py" and not path.stem.startswith("__"))


def violations(package: Path, layers: Layers) -> list[str]:
    """Return the lazy imports of higher layers, and the modules in no layer, which nothing checks."""
    messages = [f"{name} is in no layer of pyproject.toml" for name in modules_without_layer(package, layers)]
    for each in lazy_imports(package):
        importer_layer, module_layer = layer(each.importer, layers), layer(each.module, layers)
        if importer_layer is not None and module_layer is not None and module_layer < importer_layer:
            messages.append(f"{each.file}:{each.line}: `{each.module}` is in a higher layer")
    return messages


def main(arguments: Sequence[str] = ()) -> int:
    """Print the violations; the exit code is 1 if there are any."""
    package = Path(arguments[0]) if arguments else PROJECT / "python" / "sledlab"
    messages = violations(package, read_layers(PROJECT))
    print("\n".join(messages) or "lazy imports obey the layers")
    return int(bool(messages))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
