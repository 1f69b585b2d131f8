"""`sledlab plot`: figures of saved results."""

import pytest

BEGINNINGS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture
def run_directory(sledlab, tmp_path):
    sledlab(
        "simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--out", tmp_path / "run"
    )
    return tmp_path / "run"


@pytest.mark.parametrize("ending", BEGINNINGS)
def test_ending_chooses_the_format(sledlab, run_directory, tmp_path, ending):
    file = tmp_path / f"figure.{ending}"
    assert sledlab("plot", run_directory, "--save", file).out == f"figure: {file}\n"
    assert file.read_bytes().startswith(BEGINNINGS[ending])


def test_default_file_is_among_the_results(sledlab, run_directory):
    assert sledlab("plot", run_directory).out == f"figure: {run_directory / 'figure.svg'}\n"
    assert "figure.svg" in (run_directory / "sledlab.json").read_text()


def test_other_endings_and_other_directories_are_refused(sledlab, run_directory, tmp_path):
    sledlab("plot", run_directory, "--save", "figure.doc").assert_refused("end the name in .svg, .png, .pdf")
    sledlab("plot", tmp_path).assert_refused("holds no results of sledlab")
