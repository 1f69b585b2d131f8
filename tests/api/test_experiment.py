"""Copies and pickles of experiments keep settings, files and allowed plug-ins."""

import copy
import pickle
import subprocess
import sys

import pytest
import sledlab as sl
from sledlab import _native

TEXT = (
    'seed = 7\n[device]\npreset = "mems-g2"\nsettle_us = 1e2\n[workload]\nkind = "uniform"\nrequests = 50\n'
)

MOVES = {
    "copied": copy.copy,
    "copied to the bottom": copy.deepcopy,
    **{f"pickled by protocol {n}": lambda it, n=n: pickle.loads(pickle.dumps(it, n)) for n in range(2, 6)},
}


@pytest.fixture(params=MOVES)
def move(request):
    return MOVES[request.param]


def test_an_experiment_can_be_copied_and_pickled(move):
    experiment = _native.Experiment(TEXT.replace("settle_us = 1e2\n", ""))
    moved = move(experiment)
    assert (moved.explicit_toml(), moved.to_toml()) == (experiment.explicit_toml(), experiment.to_toml())
    assert sl.run(moved).to_json() == sl.run(experiment).to_json()
    # Copies are independent.
    assert moved.with_setting("seed", "8").explicit_toml() != experiment.explicit_toml()


def test_copy_of_invalid_experiment_is_invalid(move, refused):
    experiment = move(_native.Experiment(TEXT))
    with refused("settle_us"):
        experiment.check()


def test_copy_allows_only_the_same_plug_ins(move):
    experiment = _native.Experiment().with_setting("scheduler.kind", "not_there:Mine")
    with pytest.raises(sl.Error, match="not allowed to run"):
        move(experiment).check()
    for plugins in (["not_there:Mine"], ["*"]):
        with pytest.raises(sl.Error, match="not_there") as caught:
            move(experiment.with_plugins(plugins)).check()
        assert "allows" not in str(caught.value)
    with pytest.raises(sl.Error, match="not allowed to run"):
        move(experiment.with_plugins(["another:Class"])).check()


def test_cluster_experiment_can_be_copied_and_pickled(move):
    experiment = _native.ClusterExperiment().with_device("mems-g2").with_setting("node.mhz", "500")
    work = _native.Work(
        "nothing", b'{"work": 1, "job": "nothing", "nodes": 1, "files": {}}\n{"phase": "a", "nodes": "all"}\n'
    )
    assert move(experiment).to_toml(work) == experiment.to_toml(work)


def test_copy_names_the_same_files(move, tmp_path, monkeypatch):
    (tmp_path / "app.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n")
    file = tmp_path / "e.toml"
    file.write_text('device = "mems-g2"\n[trace]\nfile = "app.csv"\n')
    monkeypatch.chdir("/")
    moved = move(_native.Experiment(file.read_text(), str(file)))
    assert moved.setting("trace.file") == str(tmp_path / "app.csv")


def test_another_process_reads_pickled_results():
    experiment = sl.Experiment(TEXT.replace("settle_us = 1e2\n", ""))
    pickled_hex = pickle.dumps(experiment).hex()
    program = f"import pickle; print(pickle.loads(bytes.fromhex('{pickled_hex}')).explicit_toml())"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == experiment.explicit_toml().strip()
