"""A fleet on a cluster: the same bytes, with a corrupt volume named in both."""

from pathlib import Path

import pytest
import sledlab as sl

from tests.machines.cluster import Cluster


@pytest.mark.slow("runs a fleet here and on a cluster")
def test_fleet_on_a_cluster_gives_equal_bytes(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sledlab.display.DisplayedResult.report", lambda *_: None
    )  # drawing takes most of the time
    volumes = tmp_path / "volumes"
    volumes.mkdir()
    for number, volume in enumerate(sl.read_volumes("cloud:volumes=3,requests=3000,footprint_gb=0.1")):
        volume.trace.write(volumes / f"{number}.csv")
    (volumes / "bad.csv").write_text("time_us,op,offset_bytes,length_bytes\n1,R,oops,512\n")

    def run_fleet(out: str, **options: object) -> dict[str, bytes]:
        result = sl.fleet(
            volumes, ["mems-g2", "ram"], placement="packed", goal="p99=9ms", out=tmp_path / out, **options
        )
        assert [row.volume for row in result.table_rows("failed")] == ["bad"]
        return {path.name: path.read_bytes() for path in (tmp_path / out).glob("*.csv")}

    assert run_fleet("here", parallel=1) == run_fleet("dask", cluster=cluster.file)
    with pytest.raises(sl.Error, match="`--share` cannot be combined with `fleet`"):
        sl.fleet(volumes, ["mems-g2"], out=tmp_path / "share", share="1/2")
