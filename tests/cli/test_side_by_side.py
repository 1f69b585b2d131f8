"""`sledlab compare` with several devices, traces or workloads."""

import pytest

SIDE = ("compare", "--devices", "mems-g2,mems-g3", "--limit", 300, "--jobs", 1)
GENERATED = (*SIDE, "--workload", "uniform")

STABLE = (
    *("points.parquet", "points.csv", "curves.parquet", "curves.csv", "throughput.parquet", "throughput.csv"),
    *("study.toml", "summary.json", "report.html", "tables.tex"),
)


def test_a_table_and_the_answer(sledlab, tmp_path, bank):
    answer = sledlab(*SIDE, "--trace", bank, "--out", tmp_path / "side")
    assert (answer.code, answer.err) == (0, "")
    text = " ".join(answer.out.split())
    assert text.startswith("oltp-bank-a mems-g2 against mems-g3")
    assert "mems-g3 answers oltp-bank-a in" in text
    assert "mems-g2 (" in text
    assert f"report: {tmp_path / 'side'}" in answer.out.replace("\n", "")


def test_the_command_is_short():
    assert len("sledlab compare --devices mems-g2,atlas-10k --trace app.csv") < 80


def test_json(sledlab):
    found = sledlab(*GENERATED, "--json").json
    assert [row["device"] for row in found["tables"]["points"]] == ["mems-g2", "mems-g3"]
    assert found["answer"].startswith("mems-g3 answers uniform in")
    assert found["study"]["devices"] == ["mems-g2", "mems-g3"]


def test_the_file_that_is_left_gives_the_same_bytes(sledlab, tmp_path, bank):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    more = ("--speedups", "1,4", "--scheduler", "sptf", "--set", "device.idle_timeout_ms=20")
    assert sledlab(*SIDE, "--trace", bank, *more, "--out", first).code == 0
    assert sledlab("compare", first / "study.toml", "--jobs", 2, "--out", second).code == 0
    assert sledlab("compare", first / "study.toml", "--devices", "mems-g2,mems-g3", "--out", third).code == 0
    for name in STABLE:
        assert (first / name).read_bytes() == (second / name).read_bytes() == (third / name).read_bytes(), (
            name
        )


def test_several_traces_on_one_device(sledlab, bank):
    traces = f"{bank},{bank.with_name('oltp-orders-a.csv.zst')}"
    found = sledlab("compare", "--traces", traces, "--device", "mems-g2", "--limit", 200, "--json").json
    assert [row["trace"] for row in found["tables"]["points"]] == ["oltp-bank-a", "oltp-orders-a"]


def test_several_workloads_and_devices_with_parameters(sledlab):
    devices = ("--devices", "mems-g2,mems-g2:sleds=4:active_tips=3200")
    answer = sledlab("compare", *devices, "--workloads", "uniform,cello", "--limit", 200, "--json").json
    points = answer["tables"]["points"]
    assert {row["device"] for row in points} == {"mems-g2", "mems-g2:sleds=4:active_tips=3200"}
    assert {row["workload"] for row in points} == {"uniform", "cello"}
    assert len(points) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*GENERATED, "--schedulers", "fcfs"), "`--schedulers` does not go with --devices"),
        (
            ("compare", "--device", "mems-g2", "--workload", "uniform", "--scheduler", "sptf"),
            "goes only with",
        ),
        ((*GENERATED, "--device", "mems-g2"), "keep --device or --devices"),
        ((*SIDE, "--workload", "uniform", "--workloads", "cello"), "named in several ways"),
        ((*SIDE,), "no trace and no workload"),
        ((*SIDE, "--workload", "unifrom"), "did you mean `uniform`"),
        (("compare", "--devices", "mems-g2:sledz=4", "--workload", "uniform"), "did you mean `device.sleds`"),
        (("compare", "--traces", "a.csv,b.csv"), "no device"),
        ((*SIDE, "--traces", "a.csv,b.csv"), "a.csv"),
    ],
)
def test_mistakes_are_told_and_end_in_code_2(sledlab, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(says)


def test_a_study_of_another_kind_is_refused(sledlab, tmp_path):
    (tmp_path / "study.toml").write_text('[study]\nkind = "power"\n')
    sledlab("compare", tmp_path / "study.toml").assert_refused("run it with: sledlab power")
    (tmp_path / "side.toml").write_text('[study]\nkind = "side-by-side"\ndevice = "mems-g2"\n')
    sledlab("compare", tmp_path / "side.toml").assert_refused("did you mean `devices`")
