"""`sledlab compare` with several devices, traces or workloads."""

import pytest

TWO_DEVICES = ("compare", "--device", "mems-g2,mems-g3", "--limit", 300, "--parallel", 1)
GENERATED_WORKLOAD = (*TWO_DEVICES, "--workload", "uniform")


def test_several_workloads_and_devices_with_parameters(sledlab):
    devices = ("--device", "mems-g2,mems-g2:sleds=4:active_tips=3200")
    answer = sledlab("compare", *devices, "--workload", "uniform,cello", "--limit", 200, "--json").json
    runs = answer["tables"]["runs"]
    assert {row["device"] for row in runs} == {"mems-g2", "mems-g2:sleds=4:active_tips=3200"}
    assert {row["workload"] for row in runs} == {"uniform", "cello"}
    assert len(runs) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*GENERATED_WORKLOAD, "--scheduler", "fcfs,sptf"), "`scheduler` takes one value here, not 2"),
        (
            (*GENERATED_WORKLOAD, "--vary", "device.sleds=1,4"),
            "`--vary` cannot be combined with several values of --device",
        ),
        ((*GENERATED_WORKLOAD, "--device", "mems-g2"), "use --device mems-g2,mems-g3,mems-g2"),
        ((*TWO_DEVICES, "--workload", "uniform", "--trace", "a.csv"), "both --trace and --workload"),
        ((*TWO_DEVICES,), "no trace and no workload"),
        ((*TWO_DEVICES, "--workload", "unifrom"), "did you mean `uniform`"),
        (("compare", "--device", "mems-g2:sledz=4", "--workload", "uniform"), "did you mean `device.sleds`"),
        (("compare", "--trace", "a.csv,b.csv"), "no device"),
        ((*TWO_DEVICES, "--trace", "a.csv,b.csv"), "a.csv"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(message)


def test_a_study_of_another_kind_is_refused(sledlab, tmp_path):
    (tmp_path / "study.toml").write_text('[study]\nkind = "power"\n')
    sledlab("compare", tmp_path / "study.toml").assert_refused("run it with: sledlab power")
    (tmp_path / "side.toml").write_text('[study]\nkind = "side-by-side"\ndevice = "mems-g2"\n')
    sledlab("compare", tmp_path / "side.toml").assert_refused("no trace and no workload")
