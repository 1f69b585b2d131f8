"""`sledlab diff`: text, JSON, page, errors."""

import pytest
from sledlab.cli import run
from sledlab.display import DisplayedResult

SIMULATE = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 2000, "--speedup", 1.3)


def simulate(scheduler, seed, directory):
    """Simulate, and return the directory of the results."""
    assert (
        run([*map(str, SIMULATE), "--scheduler", scheduler, "--seed", str(seed), "--out", str(directory)])
        == 0
    )
    return directory


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DisplayedResult, "report", lambda _self, path: path)  # as `without_pages`
        return simulate("fcfs", 1, directory / "fcfs"), simulate("sptf", 1, directory / "sptf")


def test_diff_prints_text_json_and_page(sledlab, runs, tmp_path):
    answer = sledlab("diff", *runs)
    assert (answer.code, answer.err) == (0, "")
    assert "scheduler.kind: fcfs → sptf" in answer.out
    one_line = " ".join(answer.out.split())
    assert "faster on average over the same 2,000 requests" in one_line
    result = sledlab("diff", *runs, "--json").json
    assert result["requests"] == 2000
    assert result["mean_ms"] < 0
    assert result["settings"] == {"scheduler.kind": ["fcfs", "sptf"]}
    assert result["a"]["response_time_ms"]["mean"] > result["b"]["response_time_ms"]["mean"]
    page = tmp_path / "difference.html"
    assert sledlab("diff", *runs, "--save", page).code == 0
    assert "<svg" in page.read_text()
    tables = [run / "requests.parquet" for run in runs]
    assert sledlab("diff", *tables, "--json").json["mean_ms"] == result["mean_ms"]


def test_invalid_input_exits_with_code_2(sledlab, runs, tmp_path):
    other = simulate("fcfs", 2, tmp_path / "other")
    (tmp_path / "other.csv").write_text("id,lbn\n1,2\n")
    for b, says in (
        (other, "is not the same in both"),
        (tmp_path, "is not the result of a run"),
        (tmp_path / "none.parquet", "none.parquet"),
        (tmp_path / "other.csv", "the column `blocks` is missing"),
        (other / "summary.json", "not a table of requests"),
    ):
        sledlab("diff", runs[0], b).assert_refused(says)
    assert sledlab("diff", *runs, "--save", "d.pdf").code == 2
