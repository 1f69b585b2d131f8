"""Tables of studies as arrays with named axes."""

import numpy as np
import pytest
import sledlab as sl
from sledlab.study.labelled import to_xarray

from tests.require import need


@pytest.fixture(scope="module")
def race():
    need("xarray")
    axes = {
        "scheduler": ["fcfs", "sptf"],
        "speedup": [1, 2],
        "vary": {"device.sleds": [1, 2]},
        "seed": [1, 2],
    }
    return sl.compare(sl.workload("uniform"), "mems-g2", limit=200, parallel=1, **axes)


def test_axes_of_a_study_are_dimensions(race):
    data = race.to_xarray()
    assert dict(data.sizes) == {"scheduler": 2, "speedup": 2, "device.sleds": 2}
    assert data.mean_ms.attrs["units"] == "ms"
    row = race.group({"device.sleds": 2}).curves[1].run(2.0)
    assert float(data.mean_ms.sel({"scheduler": "sptf", "speedup": 2, "device.sleds": 2})) == row.mean_ms
    assert dict(race.to_xarray("runs").sizes) == {"scheduler": 2, "speedup": 2, "device.sleds": 2, "seed": 2}
    with pytest.raises(sl.Error, match="did you mean `curves`"):
        race.to_xarray("curve")


def test_absent_rows_are_nan(race):
    rows = race.rows["curves"]
    data = to_xarray(
        type("Part", (), {**vars(race), "rows": {"curves": rows[1:]}, "kinds": race.kinds}), None
    )
    assert int(np.isnan(data.mean_ms).sum()) == 1
    assert int(np.isnan(data.requests).sum()) == 1


def test_tables_of_power_have_devices_and_policies_as_dimensions():
    need("xarray")
    study = sl.power_study(sl.workload("uniform"), ["mems-g2", "mems-g3"], limit=200, parallel=1)
    data = study.to_xarray("policies")
    assert list(data.sizes) == ["device", "policy"]
    assert data.energy_j.shape == (2, data.sizes["policy"])
