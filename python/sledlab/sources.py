"""Hashes of the sources that a result depends on: the compiled code, and modules with their imports."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PACKAGE = Path(__file__).parent

SHOWN_CHARACTERS = 12
"""Characters of the hash in the name of a build."""

IMPORT = re.compile(r"^(?: +(?=.*# noqa: PLC0415))?from (sledlab[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
"""An import; within a function it has a mark for the linter, and those for type checkers have none."""

LAZY_IMPORT = re.compile(r"\"(sledlab(?:\.\w+)+):[\w.]+\"")
"""Text that names an object of a module, which is imported on first use: see `sledlab.lazy.later`."""


@cache
def hash_sources(*modules: str) -> str:
    """Return a hash of the compiled sources, of some modules, and of all modules of sledlab that they import.

    Examples:
        >>> hash_sources("sledlab.errors") == hash_sources("sledlab.files")
        False
    """
    digest = hashlib.sha256(_native.__sources__.encode())
    for file, source in sorted(find_sources(*modules).items()):
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


def build_name(*modules: str) -> str:
    """Return the version of sledlab, and a hash of the sources of modules as of `hash_sources`.

    Examples:
        >>> version, sources = build_name("sledlab.errors").split()
        >>> len(sources)
        12
    """
    return f"{_native.__version__} {hash_sources(*modules)[:SHOWN_CHARACTERS]}"


def find_sources(*modules: str) -> Mapping[Path, bytes]:
    """Return the texts of modules and of all modules of sledlab that they import, also indirectly, by file.

    Lazy imports count. Imports for type checkers do not, as they do not change results.
    """
    sources_by_file: dict[Path, bytes] = {}
    module_names = [*modules]
    while module_names:
        file = _find_file(module_names.pop())
        if file is not None and file not in sources_by_file:
            # A checkout on Windows may have other ends of lines.
            sources_by_file[file] = file.read_bytes().replace(b"\r\n", b"\n")
            module_names += _find_imports(sources_by_file[file].decode())
    return sources_by_file


def _find_file(name: str) -> Path | None:
    """Return the file of a module of the package; `None` for other modules, and for names within modules.

    The package itself puts all modules together and is omitted.
    """
    package, *parts = name.split(".")
    path = PACKAGE.joinpath(*parts)
    candidates = (path.with_suffix(".py"), path / "__init__.py") if package == PACKAGE.name and parts else ()
    return next((file for file in candidates if file.is_file()), None)


def _find_imports(source: str) -> Iterator[str]:
    """Yield the names of modules that the text of a module may import.

    A pattern finds them twenty times as fast as a parser, and every study begins with this.
    """
    source = re.sub(r'""".*?"""', "", source, flags=re.DOTALL)
    for module, names in IMPORT.findall(source):
        yield from (module, *(f"{module}.{name}" for name in re.findall(r"\w+", names)))
    yield from LAZY_IMPORT.findall(source)
