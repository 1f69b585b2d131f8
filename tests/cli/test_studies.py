"""All studies on the command line: the outcome equals Python's, and the study file repeats it."""

import json
from pathlib import Path
from typing import Any

import pytest
from sledlab.model.settings import document
from sledlab.results import STUDY

from tests.keys import RUN_STUDY, STUDIES, study_file

COMMANDS = {"side-by-side": ("compare",), "tune": ("hybrid", "tune")}
"""Commands of studies whose command is not their kind."""

TIMED_RESULTS = {"runs", "decision_cost.csv", "decision_cost.parquet", "timing.json", "sledlab.json"}
"""Names of results that hold wall-clock times, or hashes of these."""


def without_timing(data: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome as plain data, without wall-clock times."""
    untimed = {name: value for name, value in data.items() if name != "decision_cost"}
    return untimed | {"tables": without_timing(untimed["tables"])} if "tables" in untimed else untimed


@pytest.fixture
def study_toml(kind: str, tmp_path: Path) -> Path:
    """A small study of a kind."""
    file = tmp_path / "small.toml"
    file.write_text(document(study_file(kind)))
    return file


@pytest.mark.parametrize("kind", STUDIES)
def test_json_is_the_outcome_in_python(sledlab, kind, study_toml):
    command = COMMANDS.get(kind, (kind,))
    answer = sledlab(*command, study_toml, "--parallel", 1, "--json")
    assert answer.code == 0, answer.err
    outcome = RUN_STUDY[kind](study=study_toml, parallel=1)
    assert without_timing(answer.json) == without_timing(json.loads(json.dumps(outcome.to_dict())))


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("kind", STUDIES)
def test_study_file_repeats_the_results(sledlab, kind, study_toml, tmp_path):
    command = COMMANDS.get(kind, (kind,))
    first, second = tmp_path / "first", tmp_path / "second"
    answer = sledlab(*command, study_toml, "--seed", 3, "--parallel", 1, "--out", first)
    assert answer.code == 0, answer.err
    assert f"report: {first}" in answer.out.replace("\n", "")
    assert sledlab(*command, first / STUDY, "--parallel", 1, "--out", second).code == 0
    names = {path.name for path in first.iterdir()} - TIMED_RESULTS
    assert {STUDY, "summary.json", "tables.tex"} <= names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
