"""Memory that a run would take, and that is not there, is refused before it is taken."""

import os
import resource
import subprocess
import sys

import pytest

ARRAY = (
    "simulate",
    "--device",
    "mems-g3",
    "--workload",
    "uniform",
    "--limit",
    "10",
    "--scheduler",
    "pa-sptf",
)
STRIPE = ("--system", "stripe", "--set", "system.devices=1000", "--json")


def test_an_array_that_would_not_fit_is_refused(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "2000")
    answer = sledlab(*ARRAY, *STRIPE)
    answer.assert_refused("1000 devices would take about")
    assert "2000 MB are available" in answer.err.replace("\n", " ")
    assert "SLEDLAB_MEMORY_MB" in answer.err


def test_units_of_a_device_count_too(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "100")
    sleds = ("--set", "device.sleds=64", "--set", "device.sled_motion=independent", "--json")
    sledlab(*ARRAY, *sleds).assert_refused("64 devices would take about")


@pytest.mark.slow("builds a hundred devices, three times")
def test_what_fits_runs(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "4000")
    found = sledlab(*ARRAY, "--system", "stripe", "--set", "system.devices=40", "--json")
    assert found.json["requests"] == 10


def test_a_limit_of_the_address_space_is_heeded():
    """What cannot be had would abort the process: no message, and a core file."""
    gigabytes = 3 << 30

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (gigabytes, gigabytes))

    own = {name: value for name, value in os.environ.items() if name != "SLEDLAB_MEMORY_MB"}
    found = subprocess.run(
        [sys.executable, "-m", "sledlab", *ARRAY, *STRIPE],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        env=own,
    )
    assert found.returncode == 2, found.stderr
    assert "1000 devices would take about" in found.stderr.replace("\n", " ")
