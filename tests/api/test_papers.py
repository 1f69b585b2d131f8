"""Results for papers: tables in LaTeX, and figures that record version, seed and hash."""

import io
import itertools
import re

import pytest
import sledlab as sl


@pytest.fixture(scope="module")
def run():
    return sl.simulate(sl.workload("uniform"), "mems-g2", limit=200, seed=7)


@pytest.fixture(scope="module")
def race():
    return sl.compare(
        sl.workload("uniform"), "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 2], limit=200, seed=1
    )


def test_tables_are_latex(run, race):
    for result in (run, race):
        latex = result.latex()
        tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", latex, re.DOTALL)
        assert tables
        for alignment, body in tables:
            rows = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert all(len(re.findall(r"(?<!\\)&", row)) == len(alignment) - 1 for row in rows)
        assert not re.search(r"(?<!\\)[%#_]", latex.partition("\n")[2])
        assert not re.search(r"[\u00a0\u202f\u2212\u00d7\u00b5\u2192\u2248]", latex)
    mean = f"{run.response_time.mean:.3g}"
    assert re.search(rf"mean & ms & {re.escape(mean)}", run.latex())


def test_tables_are_markdown(run, race):
    for result in (run, race):
        lines = result.markdown().splitlines()
        columns = {line.replace(r"\|", "").count("|") for line in lines if line.startswith("|")}
        assert columns
        for head, rule in itertools.pairwise(lines):
            if set(rule) <= set("|:- ") and rule:
                assert head.startswith("|")
                assert head.replace(r"\|", "").count("|") == rule.count("|")
    assert f"| mean | ms | {run.response_time.mean:.3g} |" in run.markdown()


@pytest.mark.slow("draws figures in three formats, the first with all fonts to find")
def test_figures_contain_version_seed_and_hash(run, race, tmp_path):
    for result in (run, race):
        seed = 7 if result is run else 1
        for suffix in ("png", "svg", "pdf"):
            figure = result.plot()
            figure.savefig(tmp_path / f"figure.{suffix}")
            image_bytes = (tmp_path / f"figure.{suffix}").read_bytes()
            assert f"sledlab {sl.__version__}, seed {seed}, SHA-256".encode() in image_bytes
        figure.savefig(tmp_path / "own.svg", metadata={"Description": "of mine"})
        assert "of mine" in (tmp_path / "own.svg").read_text()
        buffer = io.BytesIO()
        figure.savefig(buffer)
        assert b"SHA-256" in buffer.getvalue()


def test_page_figures_contain_version_seed_and_hash(run, tmp_path):
    page = run.report(tmp_path / "report.html", static=True).read_text()
    assert page.count("<svg") == page.count(", seed 7, SHA-256 of the experiment ") > 0
