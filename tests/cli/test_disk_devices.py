"""Disks on the command line: their lists, and their import from parameter files."""

import pytest

MODEL = """
dm_disk sample_model {
   Number of data surfaces = 2, Block count = 792,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0, Sparing scheme used = 9, Rangesize for sparing = 1,
      Zones = [ dm_layout_g1_zone {
         First cylinder number = 0, Last cylinder number = 19, Blocks per track = 20,
         Offset of first block = 0, Empty space at zone front = 0, Skew for track switch = 3,
         Skew for cylinder switch = 4, Number of spares = 8, slips = [ 7 ] } ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation, Seek type = extracted, Full seek curve = sample.seek,
      Add. write settling delay = 0.5, Head switch time = 0.9, Rotation speed (in rpms) = 6000
   }
}
"""
OVERHEADS = (
    "Read hit over. after read, Read hit over. after write, Read miss over. after read, "
    "Read miss over. after write, Write hit over. after read, Write hit over. after write, "
    "Write miss over. after read, Write miss over. after write, Read completion overhead, "
    "Write completion overhead, Data preparation overhead, First reselect overhead, Other reselect overhead, "
    "Read disconnect afterread, Read disconnect afterwrite, Extradisc command overhead, "
    "Extradisc disconnect overhead, Extradisc inter-disconnect delay, Extradisc seek delta, "
    "Minimum seek delay, Bulk sector transfer time, Hold bus entire read xfer, Never disconnect, "
    "Allow read hits on write data, "
    "Number of buffer segments, Maximum number of write segments, Segment size (in blks), "
    "Use separate write segment, Low (write) water mark, High (read) water mark, Buffer continuous read, "
    "Maximum read-ahead (blks), Read-ahead over requested, Read-ahead on idle hit, Fast write level, "
    "Read any free blocks, Immediate buffer read, Immediate buffer write, Combine seq writes, "
    "Stop prefetch in sector, Extra write disconnect"
)


def write_disk(directory):
    """A small disk in three files."""
    settings = ", ".join(f"{key} = 0" for key in OVERHEADS.split(", "))
    (directory / "sample.seek").write_text("Seek distances measured: 2\n1, 1.5\n19, 9.0\n")
    (directory / "sample.model").write_text(MODEL)
    path = directory / "sample.diskspecs"
    parameters = f"Model = source sample.model, Max queue length = 1, {settings}"
    path.write_text(f"disksim_disk sample {{ {parameters} }}\n")
    return path


def test_disk_is_imported_with_included_files(sledlab, tmp_path):
    out = tmp_path / "sample.toml"
    answer = sledlab("device", "import", write_disk(tmp_path), "--save", out)
    assert answer.code == 0
    assert "Power and idle timeout are assumptions" in answer.err
    shown_device = sledlab("show", "device", out)
    assert "792 blocks of 512 bytes" in shown_device.out
    assert "2 seek times: 1.5 ms over 1, 9 ms over 19 cylinders" in shown_device.out
    simulation = sledlab("simulate", "--device", out, "--workload", "uniform", "--limit", 100, "--json")
    assert simulation.code == 0


def test_a_missing_file_is_named(sledlab, tmp_path):
    path = write_disk(tmp_path)
    (tmp_path / "sample.model").unlink()
    answer = sledlab("device", "import", path)
    assert answer.code == 2
    assert "sample.diskspecs:1:38: cannot read" in answer.err
    assert "sample.model" in answer.err


def test_all_faults_are_reported_at_once(sledlab, tmp_path):
    path = write_disk(tmp_path)
    path.write_text(path.read_text().replace("Never disconnect = 0", "Preseeking level = 1, Never mind = 0"))
    model = tmp_path / "sample.model"
    model.write_text(model.read_text().replace("rpms) = 6000", "rpms) = fast"))
    (tmp_path / "sample.seek").write_text("Seek distances measured: 2\n1, 1.5, 0.02, 7\n19, 9.0\n")
    answer = sledlab("device", "import", path)
    answer.assert_refused("4 faults in")
    for message in (
        "queued requests take longer here",
        "unknown parameter `Never mind`",
        "`Rotation speed (in rpms)`: expected a number, found `fast`",
        "sample.seek:2: expected a distance",
    ):
        assert message in answer.err
    assert "--help" not in answer.err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_files_in_other_encodings_are_imported(sledlab, tmp_path, encoding):
    path = write_disk(tmp_path)
    utf8_import = sledlab("device", "import", path).out
    for file in tmp_path.iterdir():
        text = file.read_text().replace("\n", "\r\n")
        file.write_bytes(text.encode(encoding))
    assert sledlab("device", "import", path).out == utf8_import


def test_deviations_of_seek_times_are_ignored(sledlab, tmp_path):
    path = write_disk(tmp_path)
    without_deviations = sledlab("device", "import", path).out
    (tmp_path / "sample.seek").write_text("Seek distances measured: 2\n1, 1.5, 0.02\n19, 9.0, 0.1\n")
    answer = sledlab("device", "import", path)
    assert "sample.seek, the deviation of the measured times, is ignored" in answer.err
    assert [
        line for line in answer.out.splitlines() if "deviation" not in line
    ] == without_deviations.splitlines()


def test_a_drive_shows_its_zones(sledlab):
    printed = sledlab("show", "device", "ibm-18es").out
    assert printed.count(" 5,") > 0
    assert "151 seek times: 1.062 ms over 1, 12.853 ms over 11,377 cylinders" in printed
    parameters = sledlab("show", "device", "atlas-10k-double-density", "--json").json
    assert [zone["sectors_per_track"] for zone in parameters["zones"]][:2] == [668, 668]
    assert parameters["capacity_blocks"] == 2 * 17_966_953


def test_double_density_shortens_long_reads_most(sledlab):
    settings = {
        "workload.mean_interarrival_ms": 200,
        "workload.blocks": 2048,
        "workload.read_share": 1,
        "device.bus_sector_us": 0,
    }
    arguments = [argument for key, value in settings.items() for argument in ("--set", f"{key}={value}")]

    def mean_ms(device):
        run = ("simulate", "--device", device, "--workload", "uniform", "--limit", 300, "--json")
        return sledlab(*run, *arguments).json["service_time_ms"]["mean"]

    original_ms, fast_ms, dense_ms = map(mean_ms, ("atlas-10k", "atlas-10k-50mb", "atlas-10k-double-density"))
    assert fast_ms == pytest.approx(original_ms, rel=0.05)
    assert fast_ms < original_ms
    assert dense_ms < 0.65 * original_ms
