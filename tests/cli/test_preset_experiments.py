"""The experiments of `presets/experiments` run."""

import re

import pytest
import sledlab as sl
from sledlab.cli.show import command_name

from tests.conftest import PROJECT

FILES = sorted((PROJECT / "presets" / "experiments").glob("*.toml"))


@pytest.mark.slow("runs a comparison")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_experiment_runs_and_writes_runs(sledlab, file, tmp_path, without_pages):
    command = command_name(sl.experiment.show(file.stem).study).split()
    arguments = ["--limit", "30", "--warmup", "0", "--seed", "1", "--parallel", "1", "--out", tmp_path]
    assert sledlab(*command, file, *arguments).code == 0
    assert (tmp_path / "runs.parquet").exists()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_experiment_states_its_command_and_source(file):
    text = file.read_text(encoding="utf-8")
    assert re.search(rf"^#   sledlab .* {file.stem}( |$)", text, re.MULTILINE)
    assert re.search(
        r"# ([A-Z][a-z]+ [0-9]{4}|What is known of .* et al\. [0-9]{4}|.* not from a paper)", text
    )
