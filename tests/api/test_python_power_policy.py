"""Power policies written in Python."""

import sys
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"

POLICIES = """
import math

class Fixed:
    def __init__(self, ms=2.0):
        self.ms = ms

    def timeout_ms(self, prices):
        assert prices.idle_mw > prices.inactive_mw and prices.startup_uj == 50.0
        return self.ms


class Never(Fixed):
    def timeout_ms(self, prices):
        return math.inf


class PatientPolicy(Fixed):
    def patience_ms(self, waiting):
        return 0.0 if waiting >= 4 else 10.0


class Raises(Fixed):
    def learn(self, length_ms, timeout_ms, prices):
        raise RuntimeError("out of ideas")


class Negative(Fixed):
    def timeout_ms(self, prices):
        return -1


class Endless(PatientPolicy):
    def patience_ms(self, waiting):
        return math.inf
"""


@pytest.fixture(autouse=True)
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "sledlab_policies.py").write_text(POLICIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("sledlab_policies", None)


def simulate(policy, **settings):
    return sl.simulate(sl.workload("exponential"), "mems-g2", power=policy, limit=3000, **settings)


@pytest.mark.parametrize(
    ("built_in", "plug_in"),
    [
        ("fixed:timeout_ms=2", "sledlab_policies:Fixed"),
        ("never", "sledlab_policies:Never"),
        ("delayed-spinup:timeout_ms=2:requests=4:delay_ms=10", "sledlab_policies:PatientPolicy"),
    ],
)
def test_plug_in_equals_built_in_model(built_in, plug_in):
    built_in, plug_in = simulate(built_in), simulate(plug_in)
    assert built_in.requests.equals(plug_in.requests)
    assert built_in.summary["energy_j"] == plug_in.summary["energy_j"]


def test_experiment_with_plug_in_runs_again():
    first = simulate("sledlab_policies:Fixed", settings={"power.ms": 0.7})
    assert first.config["power"] == {"kind": "sledlab_policies:Fixed", "ms": 0.7}
    assert sl.run(sl.Experiment(first.experiment), allow_plugins=True).summary == first.summary


def test_example_policy_learns_that_idle_periods_are_long():
    example, immediate = simulate("mean_idle_period:MeanIdlePeriod"), simulate("immediate")
    assert example.summary["energy_j"]["total"] == pytest.approx(
        immediate.summary["energy_j"]["total"], rel=0.02
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Raises", "RuntimeError: out of ideas"),
        ("Negative", "timeout_ms must return 0 or more, not -1"),
        ("Endless", "patience_ms must be finite"),
        ("Missing", "has no attribute 'Missing'"),
    ],
)
def test_exception_ends_the_run_with_traceback(name, message):
    with pytest.raises(sl.Error, match="power policy `sledlab_policies:") as caught:
        simulate(f"sledlab_policies:{name}")
    assert message in str(caught.value)
    assert "sledlab.PowerPolicy" in str(caught.value)


@pytest.mark.usefixtures("without_pages")
def test_comparison_reloads_a_changed_policy(module_directory, tmp_path):
    def measure_energies_j():
        compared = sl.compare(
            sl.workload("exponential"),
            "mems-g2",
            scheduler=["fcfs"],
            speedup=[1],
            vary={"power.kind": ["immediate", "sledlab_policies:Fixed"]},
            limit=500,
            out=tmp_path / "race",
        )
        return {row["power.kind"]: row["energy_j"] for row in compared.runs.to_dicts()}

    old_energies_j = measure_energies_j()
    (module_directory / "sledlab_policies.py").write_text(POLICIES.replace("ms=2.0", "ms=20.0"))
    new_energies_j = measure_energies_j()
    assert new_energies_j["immediate"] == old_energies_j["immediate"]
    assert new_energies_j["sledlab_policies:Fixed"] > old_energies_j["sledlab_policies:Fixed"]


def test_command_line_accepts_python_policy(capsys):
    arguments = ["simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", "100"]
    assert run([*arguments, "--power", "sledlab_policies:Fixed"]) == 0
    assert run([*arguments, "--power", "sledlab_policies:Raises"]) == 2
    assert "out of ideas" in capsys.readouterr().err
