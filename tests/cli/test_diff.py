"""`sledlab diff`: words, JSON, page, mistakes."""

import pytest
from sledlab.cli import run
from sledlab.display import DisplayedResult

SIMULATE = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 2000, "--speedup", 1.3)


def simulate(scheduler, seed, place):
    """The directory that a run leaves."""
    assert run([*map(str, SIMULATE), "--scheduler", scheduler, "--seed", str(seed), "--out", str(place)]) == 0
    return place


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DisplayedResult, "report", lambda _self, path: path)  # as `without_pages`
        return simulate("fcfs", 1, place / "fcfs"), simulate("sptf", 1, place / "sptf")


def test_words_json_and_page(sledlab, runs, tmp_path):
    answer = sledlab("diff", *runs)
    assert (answer.code, answer.err) == (0, "")
    assert "scheduler.kind: fcfs → sptf" in answer.out
    text = " ".join(answer.out.split())
    assert "faster on average over the same 2,000 requests" in text
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
