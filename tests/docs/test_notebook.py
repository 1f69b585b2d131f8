"""The notebook of first steps runs from its first cell to its last, and what it shows is what comes out."""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import PROJECT
from tests.require import need

NOTEBOOK = PROJECT / "examples" / "first-steps.ipynb"


def cell_outputs(notebook: Any) -> list[tuple[str, list[str]]]:
    """Return the text that each cell of code prints, and the kinds of its other outputs.

    Progress, on standard error, depends on the speed of the machine and is omitted.
    """
    return [
        (
            "".join(
                "".join(each.get("text", "")) for each in cell["outputs"] if each.get("name") != "stderr"
            ),
            [" ".join(sorted(each["data"])) for each in cell["outputs"] if "data" in each],
        )
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.fixture(scope="module")
def committed_notebook() -> Any:
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


@pytest.mark.slow("starts a kernel and races schedulers")
@pytest.mark.filterwarnings("default")
def test_committed_notebook_equals_new_outputs(
    committed_notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat, nbclient, _ = (import_module(need(name)) for name in ("nbformat", "nbclient", "ipykernel"))
    package = os.pathsep.join((str(PROJECT / "python"), os.environ.get("PYTHONPATH", "")))
    monkeypatch.setenv("PYTHONPATH", package)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    assert cell_outputs(notebook) == cell_outputs(committed_notebook)


def test_committed_notebook_has_outputs(committed_notebook: Any) -> None:
    assert all(output or kinds for output, kinds in cell_outputs(committed_notebook))
    assert sum("image/png" in kind for _, kinds in cell_outputs(committed_notebook) for kind in kinds) == 3


def test_notebook_contains_no_machine_path() -> None:
    text = re.sub(r'"image/png": "[^"]+"', "", NOTEBOOK.read_text(encoding="utf-8"))
    assert not re.search(r"(/home|/root|/tmp|/Users|/work|[A-Z]:\\\\)", text)
    assert str(Path.home()) not in text
