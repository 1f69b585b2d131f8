"""Runs that need more memory than is available are refused before they allocate it."""

import os
import subprocess
import sys

import pytest

from tests.conftest import PEAK_KIB

SIMULATE = (
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
SLEDS = ("--set", "device.sleds=1024", "--set", "device.sled_motion=independent")


def test_an_array_that_would_not_fit_is_refused(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "60")
    answer = sledlab(*SIMULATE, *STRIPE)
    answer.assert_refused("1000 devices would take about")
    assert "60 MB are available" in answer.err.replace("\n", " ")
    assert "SLEDLAB_MEMORY_MB" in answer.err


def test_device_units_are_counted(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "60")
    sledlab(*SIMULATE, *SLEDS, "--json").assert_refused("1024 devices would take about")


def test_small_systems_are_estimated(sledlab, monkeypatch):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "60")
    sledlab(*SIMULATE, "--system", "stripe", "--set", "system.devices=3").assert_refused(
        "3 devices would take"
    )
    assert sledlab(*SIMULATE, "--json").json["requests"] == 10


@pytest.mark.slow("runs a thousand sleds")
def test_a_thousand_sleds_take_little():
    code = (
        "import sledlab as sl\n"
        f"before = {PEAK_KIB}\n"
        "busy = sl.workload('uniform', mean_interarrival_ms=0.0005)\n"
        "sleds = sl.device('mems-g3', sleds=1024, sled_motion='independent')\n"
        "sl.simulate(busy, sleds, scheduler='pa-sptf', limit=20000, requests=False)\n"
        f"print({PEAK_KIB} - before)"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(completed.stdout) < 500 * 1024


def test_a_limit_of_the_address_space_is_heeded():
    """A failed allocation would abort the process without a message."""
    code = (
        "import re, resource, time, sledlab as sl\n"
        "from pathlib import Path\n"
        "def address_space():\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(re.search(r'VmSize:\\s+(\\d+)', status)[1]) * 1024\n"
        "options = {'device': 'mems-g3', 'scheduler': 'pa-sptf', 'limit': 10}\n"
        "sl.simulate(sl.workload('uniform'), **options)\n"
        "size = 0\n"
        "while size != (size := address_space()):\n"  # threads of polars start in the background
        "    time.sleep(0.5)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + (60 << 20),) * 2)\n"
        "many = {'system': sl.system('stripe', devices=1000)}\n"
        "sl.simulate(sl.workload('uniform'), **options, **many)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SLEDLAB_MEMORY_MB"}
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert completed.returncode == 1, completed.stderr
    assert "1000 devices would take about" in completed.stderr


OVERLOAD = (
    "simulate",
    "--device",
    "mems-g2",
    "--workload",
    "uniform",
    "--speedup",
    "1e6",
    "--quiet",
    "--json",
)


@pytest.mark.parametrize(
    "scheduler",
    [
        "fcfs",
        "sptf",
        *(pytest.param(name, marks=pytest.mark.slow("a second queue")) for name in ("c-scan", "wstf")),
    ],
)
def test_queue_that_exceeds_memory_is_refused(sledlab, monkeypatch, scheduler):
    monkeypatch.setenv("SLEDLAB_MEMORY_MB", "60")
    options = ("--set", "workload.requests=20000000", "--scheduler", scheduler)
    answer = sledlab(*OVERLOAD, *options)
    answer.assert_refused("queued requests use")
    queued = int(answer.err.split()[1])
    assert 100_000 < queued < 3_000_000
    assert "SLEDLAB_MEMORY_MB" in answer.err
    assert sledlab(*OVERLOAD, "--scheduler", scheduler, "--limit", "100000").json["requests"] == 100_000


def test_a_queue_beyond_the_address_space_is_refused():
    """Without the check, the queue could not grow, and the process would abort."""
    code = (
        "import re, resource, time, sledlab as sl\n"
        "from pathlib import Path\n"
        "def address_space():\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(re.search(r'VmSize:\\s+(\\d+)', status)[1]) * 1024\n"
        "options = {'device': 'mems-g2', 'speedup': 1e6}\n"
        "sl.simulate(sl.workload('uniform'), **options, limit=10)\n"
        "size = 0\n"
        "while size != (size := address_space()):\n"  # threads of polars start in the background
        "    time.sleep(0.5)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + (300 << 20),) * 2)\n"
        "sl.simulate(sl.workload('uniform', requests=20_000_000), **options, requests=False)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SLEDLAB_MEMORY_MB"}
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert completed.returncode == 1, completed.stderr
    assert "queued requests use" in completed.stderr


MAX_REQUEST_BYTES = 2**41 - 512
"""Bytes of the longest request."""

LONG_REQUESTS = """
import sledlab as sl
columns = {"time_us": [0, 1], "op": ["R", "W"], "offset_bytes": [0, 0]}
long = sl.trace({**columns, "length_bytes": [LONGEST] * 2})
short = sl.trace({**columns, "length_bytes": [512] * 2})
""".replace("LONGEST", str(MAX_REQUEST_BYTES))


def growth_mib(before: str, after: str) -> float:
    """Growth of the peak memory of a process while it executes `after`, following `before`."""
    code = f"{LONG_REQUESTS}\n{before}\npeak = {PEAK_KIB}\n{after}\nprint({PEAK_KIB} - peak)"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(completed.stdout) / 1024


def test_long_requests_of_a_trace_take_no_memory():
    assert growth_mib("short.info()", "assert long.info()['bytes_read'] == 2**41 - 512") < 20


def test_segments_of_long_requests_take_no_memory():
    call = "sl.hit_ratios({}, replacement=['lru', 'belady'], cache_mb=3000, segment_kb=2**20)"
    assert growth_mib(call.format("short"), call.format("long")) < 20


DEVICES = """
import tomllib
from sledlab import _native
kinds = {tomllib.loads(_native.device_text(name))["kind"]: name for name in reversed(list(sl.device))}
# The table of a flash device's pages is filled by writing all of them, so this device is small.
kinds["ssd"] = sl.device("ssd-tlc", blocks_per_die=40, over_provisioning=0.3)
devices = [*kinds.values(), "mems-g2-disksim", "atlas-10k", "mobile-disk", "super-disk"]
def run(trace):
    for device in devices:
        done = sl.simulate(trace, device, outside="clip", requests=False)
        assert done.count == 2, device
"""


def test_long_requests_take_no_memory_on_any_device():
    assert growth_mib(f"{DEVICES}\nrun(short)", "run(long)") < 25


SYSTEMS = """
systems = {
    "stripe": {"system": sl.system("stripe", devices=4)},
    "mirror": {"system": sl.system("mirror", devices=2)},
    "rebuilt mirror": {"system": sl.system("mirror", devices=3, failed=1, failed_at_s=5, rebuild_mb_s=100)},
    "raid5": {"system": sl.system("raid5", devices=4)},
    "raid5, sptf": {"system": sl.system("raid5", devices=4), "scheduler": "sptf"},
    "degraded raid5": {"system": sl.system("raid5", devices=4, failed=1)},
    "rebuilt raid5": {"system": sl.system("raid5", devices=4, failed=1, failed_at_s=5, rebuild_mb_s=500)},
    "lost raid5": {"system": sl.system("raid5", devices=4, failed=[0, 1])},
    "cached raid5": {"system": sl.system("raid5", devices=4), "cache": sl.cache("write-back")},
    "raid5 of hybrids": {"system": sl.system("raid5", devices=3), "hybrid": sl.hybrid("write-buffer")},
    "write-back": {"cache": sl.cache("write-back")},
    "caching-disk": {"hybrid": sl.hybrid("caching-disk", segment_kb=64)},
    "write-buffer": {"hybrid": sl.hybrid("write-buffer")},
    "mirror of devices": {"hybrid": sl.hybrid("mirror")},
    "chains": {"merge": "chains"},
    "sleds": {"settings": {"device.sleds": 4, "device.sled_motion": "independent"}},
}
def run(trace):
    for name, options in systems.items():
        done = sl.simulate(trace, "mems-g2", outside="clip", requests=False, **options)
        assert done.count == 2, name
"""


def test_long_requests_take_no_memory_in_any_system():
    assert growth_mib(f"{SYSTEMS}\nrun(short)", "run(long)") < 40
