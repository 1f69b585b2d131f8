"""The reference runs to validate."""

from __future__ import annotations

import pytest

from tests.conftest import studies_run_in_one_process  # noqa: F401 - a fixture of these tests too
from validation import reference
from validation.sections import agreement

SUBSET = (
    "mech_G1_f0_mixed",
    "mech_G2_f1_r8_light",
    "mech_G2_simple_mixed",
    "mech_G3_nospring_r8_light",
    "mech_V1_f0_edges",
    "base_G1_f0_rw8_mod",
    "base_G2_f0_rw8_heavy",
    "base_V1_f0_mixed",
    "sched_G1_SPTF_OPT",
    "sched_G2_ASPTF_OPT",
    "sched_G2_CYCLE_LBN",
    "sched_G2_SDF_APPROX",
    "sched_G2_SDF_EXACT",
    "sched_G2_SPTF_OPT",
    "sched_G2_WPTF_OPT",
    "sched_G2_heavy_ELEVATOR_LBN",
    "sched_G3_SSTF_LBN",
    "sweep_G2_idlegap_inact5",
    "sweep_G3_idlegap_inact100",
    "hp_G2_x10",
    "hp_G3_x500",
    "excl_G2_rw8_heavy",
    "stock_G2_sat_SPTF_OPT",
    "stock_G3_mixed",
)
"""Runs of every family, device, seek function, layout and scheduler."""


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether all reference runs are requested."""
    return bool(pytestconfig.getoption("--everything", default=False))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "run" not in metafunc.fixturenames:
        return
    if not reference.is_present():
        missing = pytest.mark.skip(reason=reference.MISSING_MESSAGE)
        metafunc.parametrize("run", [pytest.param("none", marks=missing)])
    elif metafunc.config.getoption("--everything", default=False):
        metafunc.parametrize("run", [run.name for run in agreement.compared_runs()])
    else:
        metafunc.parametrize("run", SUBSET)
