"""Examples in docstrings that Python does not see at run time: of the extension and of catalogs."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from itertools import pairwise

from sledlab.model.catalog import CATALOGS

from tests.docs.blocks import PROJECT


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of each class of the stub and of each catalog."""
    package = PROJECT / "python" / "sledlab"
    for node in ast.walk(ast.parse((package / "_native.pyi").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
    lines = ast.parse((package / "model" / "catalog.py").read_text(encoding="utf-8")).body
    for assignment, expression in pairwise(lines):
        match assignment, expression:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def test_examples_outside_runtime_docstrings_run() -> None:
    tests = [doctest.DocTestParser().get_doctest(text, {}, name, None, 0) for name, text in docstrings()]
    with_examples = [test for test in tests if test.examples]
    assert sorted(test.name for test in with_examples) == sorted(["Experiment", *CATALOGS])
    assert all(doctest.DocTestRunner().run(test).failed == 0 for test in with_examples)
