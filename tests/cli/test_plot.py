"""`sledlab plot`: figures of saved results."""

import pytest
import sledlab as sl

MAGIC_BYTES = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture
def run_directory(sledlab, tmp_path):
    sledlab(
        "simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--out", tmp_path / "run"
    )
    return tmp_path / "run"


@pytest.mark.parametrize("suffix", MAGIC_BYTES)
def test_suffix_selects_the_format(sledlab, run_directory, tmp_path, suffix):
    file = tmp_path / f"figure.{suffix}"
    assert sledlab("plot", run_directory, "--save", file).out == f"figure: {file}\n"
    assert file.read_bytes().startswith(MAGIC_BYTES[suffix])


def test_default_file_is_among_the_results(sledlab, run_directory):
    assert sledlab("plot", run_directory).out == f"figure: {run_directory / 'figure.svg'}\n"
    assert "figure.svg" in (run_directory / "sledlab.json").read_text()


def test_other_suffixes_and_directories_are_refused(sledlab, run_directory, tmp_path):
    sledlab("plot", run_directory, "--save", "figure.doc").assert_refused(
        "use a name that ends in .pdf, .svg, .png"
    )
    sledlab("plot", tmp_path).assert_refused("holds no results of sledlab")


@pytest.fixture(scope="module")
def study_directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("studies") / "study"
    sl.compare(
        sl.workload("uniform"),
        "mems-g2",
        limit=200,
        seed=[1, 2, 3],
        speedup=[1, 2],
        scheduler=["fcfs", "sptf"],
        vary={"device.active_tips": [640, 1280]},
        out=directory,
    )
    return directory


def test_swept_setting_gives_lines_with_bands(study_directory):
    figure = sl.open(study_directory).plot_columns("energy_j", "speedup")
    (axes,) = figure.axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert len(lines) == 4
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 4
    assert len(axes.collections) == 4
    assert axes.get_ylabel() == "energy (J)"


def test_overloaded_runs_have_no_response_time(study_directory):
    (axes,) = sl.open(study_directory).plot_columns("mean_ms", "speedup").axes
    assert axes.get_title("right") == "4 overloaded runs omitted"
    assert axes.get_ylabel() == "mean (ms)"


def test_measure_without_own_interval_has_bands_over_seeds(study_directory):
    (axes,) = sl.open(study_directory).plot_columns("throughput_iops", "speedup").axes
    assert len(axes.collections) == 4


def test_third_setting_makes_small_multiples(sledlab, study_directory, tmp_path):
    columns = ("--x", "speedup", "--x", "device.active_tips", "--y", "energy_j")
    sledlab("plot", study_directory, *columns, "--save", tmp_path / "map.svg")
    figure = sl.open(study_directory).plot_columns("energy_j", ["speedup", "device.active_tips"])
    assert [axes.get_title("left") for axes in figure.axes[:2]] == ["FCFS", "SPTF"]


def test_where_selects_rows(sledlab, study_directory, tmp_path):
    arguments = ("--x", "speedup", "--y", "energy_j", "--save", tmp_path / "figure.svg")
    sledlab(
        "plot", study_directory, *arguments, "--where", "scheduler=sptf", "--where", "device.active_tips=640"
    )
    where = {"scheduler": "sptf", "device.active_tips": 640}
    (axes,) = sl.open(study_directory).plot_columns("energy_j", "speedup", where=where).axes
    assert len(axes.lines) == 2  # with its overloaded points
    sledlab("plot", study_directory, *arguments, "--where", "speedup=3").assert_refused("its values are 1, 2")
    sledlab("plot", study_directory, *arguments, "--where", "speedup").assert_refused("--where speedup=2")


def test_where_selects_the_combination_of_the_default_figure(sledlab, study_directory, tmp_path):
    arguments = ("plot", study_directory, "--panel", "mean_ms", "--save", tmp_path / "figure.svg")
    sledlab(*arguments, "--where", "device.active_tips=1280")
    sledlab(*arguments, "--where", "device.active_tips=7").assert_refused("choose one of")


def test_panel_draws_one_plot(sledlab, run_directory, tmp_path):
    figure = sl.open(run_directory).plot("response", width="3.3in")
    assert len(figure.axes) == 1
    sledlab("plot", run_directory, "--panel", "response", "--save", tmp_path / "response.pdf")
    sledlab("plot", run_directory, "--panel", "respons").assert_refused("did you mean `response`?")
    sledlab("plot", run_directory, "--panel", "cdf", "--y", "response_ms").assert_refused("omit --panel")


def test_columns_of_requests_are_drawn(sledlab, run_directory, tmp_path):
    columns = ("--x", "lbn", "--y", "positioning_ms", "--where", "op=R")
    sledlab("plot", run_directory, *columns, "--save", tmp_path / "figure.svg")
    sledlab("plot", run_directory, "--y", "respons_ms").assert_refused("unknown column `respons_ms`")
    sledlab("plot", run_directory, "--y", "op").assert_refused("has no numbers")
    sledlab("plot", run_directory, "--y", "response_ms", "--where", "op=X").assert_refused("values are R, W")


def test_two_varied_settings_are_a_map_by_default():
    vary = {"device.active_tips": [320, 1280], "device.spring_factor": [0.25, 0.75]}
    result = sl.compare(
        sl.workload("uniform"), "mems-g2", limit=200, scheduler="sptf", speedup=[1], vary=vary, parallel=1
    )
    axes = result.plot().axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == tuple(vary)
    assert sum(text.get_fontweight() == "bold" for text in axes.texts) == len(axes.patches) == 1
    assert result.plot("effects").axes[0].get_xlabel() == "mean response time (ms)"


def test_heat_map_has_no_times_of_overloaded_runs():
    workload = sl.workload("uniform", mean_interarrival_ms=0.9)
    vary = {"device.active_tips": [320, 1280], "device.spring_factor": [0.25, 0.75]}
    result = sl.compare(workload, "mems-g2", limit=3000, scheduler="fcfs", speedup=[1], vary=vary, parallel=1)
    overloaded_count = sum(row.run.saturated for row in result.rows["runs"])
    assert 0 < overloaded_count < 4
    for column, text_count in (("mean_ms", 4 - overloaded_count), ("energy_j", 4)):
        axes = result.plot_columns(column, list(vary)).axes[0]
        assert len(axes.texts) == text_count
        assert sum(patch.get_hatch() is not None for patch in axes.collections) == overloaded_count
        assert "hatched: overloaded" in result.plot_columns(column, list(vary)).axes[1].get_ylabel()


def test_unknown_columns_and_widths_are_refused(sledlab, run_directory, study_directory):
    sledlab("plot", study_directory, "--y", "mean_mss").assert_refused("unknown column `mean_mss`")
    sledlab("plot", study_directory, "--x", "speedup", "--y", "scheduler").assert_refused("has no numbers")
    sledlab("plot", run_directory, "--y", "mean_ms").assert_refused("unknown column `mean_ms`")
    sledlab("plot", run_directory, "--width", "1in").assert_refused("give a width of 2.5 to 40 inches")
    sledlab("plot", run_directory, "--width", "column").assert_refused("use ieee, acm, slides, or a length")


@pytest.mark.parametrize(("width", "inches"), [("ieee", 3.5), ("acm", 3.33), ("slides", 10), ("89mm", 3.5)])
def test_labels_stay_inside_at_every_width(study_directory, width, inches):
    outcome = sl.open(study_directory)
    for figure in (outcome.plot(width=width), outcome.plot_columns("p99_ms", "speedup", width=width)):
        assert figure.get_size_inches()[0] == pytest.approx(inches, rel=0.01)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 >= -0.02
        assert box.x1 <= figure.get_size_inches()[0] + 0.02


def test_pdf_has_truetype_fonts_only(sledlab, study_directory, tmp_path):
    file = tmp_path / "figure.pdf"
    sledlab("plot", study_directory, "--x", "speedup", "--y", "p99_ms", "--width", "ieee", "--save", file)
    contents = file.read_bytes()
    assert b"/TrueType" in contents or b"/CIDFontType2" in contents
    assert b"/Type3" not in contents


def test_format_names_the_default_file(sledlab, study_directory):
    assert "figure.pdf" in sledlab("plot", study_directory, "--format", "pdf").out
    sledlab("plot", study_directory, "--format", "pdf", "--save", "a.svg").assert_refused("omit --format")
