"""Errors about values of a file name its line, unless another option overrides the value."""

import pytest
from sledlab.model.error_location import parse_lines

EXPERIMENT = """# an experiment
seed = 1

[device]
preset = "mems-g2"
active_tips = 3200

[workload]
kind = "uniform"

[scheduler]
kind = "sptf"

[replay]
limit = 100
"""
STUDY = (
    EXPERIMENT + '\n[study]\nkind = "compare"\nscheduler = ["fcfs", "sptf"]\nspeedup = [1, 2]\nseed = [1]\n'
)
DEVICE = 'kind = "mems"\n\n# measured\nactive_tips = 3200\n'
DISK = """kind = "disk"
heads = 2

[[zones]]
first_cylinder = 0
cylinders = 50
sectors_per_track = 9

[[zones]] # the inner one
first_cylinder = 50
cylinders = 50
sectors_per_track = 8
"""
NODE = "mhz = 600\npage_kb = 8\n"
NETWORK = 'kind = "switch"\nlatency_us = 10\n'
SORT = "sample/work/sort.work"


def replace_once(text, old, new):
    assert text.count(old) == 1
    return text.replace(old, new)


def error_line_and_message(sledlab, tmp_path, text, command, name="mine.toml"):
    """Return the line that the error names, and its message."""
    file = tmp_path / name
    file.write_text(text)
    answer = sledlab(*(str(argument).replace("FILE", str(file)) for argument in command))
    assert (answer.code, answer.out) == (2, ""), answer
    error_line, found_line, help_line = answer.err.splitlines()
    assert error_line.startswith(f"error: {file}:"), answer.err
    assert found_line.startswith("  found: ")
    assert help_line.startswith("  help: ")
    number, _, message = error_line.removeprefix(f"error: {file}:").partition(": ")
    line = text.splitlines()[int(number) - 1]
    assert found_line == f"  found: {line.strip()}"
    return line, message


EXPERIMENT_ERRORS = [
    ("active_tips = 3200", "activ_tips = 3200", "unknown key `device.activ_tips`"),
    ("active_tips = 3200", "active_tips = 0", "device.active_tips = 0 tips is out of range"),
    ("active_tips = 3200", 'active_tips = "many"', "device.active_tips: expected a whole number"),
    ('preset = "mems-g2"', 'preset = "mems-g4"', "unknown device `mems-g4`"),
    ('kind = "sptf"', 'kind = "sptff"', "unknown scheduler `sptff`"),
    ('kind = "sptf"', "kind = 4", "scheduler.kind: expected text"),
    ('kind = "uniform"', 'kind = "unifrom"', "unknown workload `unifrom`"),
    ("limit = 100", "limits = 100", "unknown key `replay.limits`"),
    ("limit = 100", "limit = -1", "replay.limit: expected a whole number, 0 or more"),
    ("limit = 100", 'mode = "closed:8"\nspeedup = 2', "replay.speedup has no meaning in a closed replay"),
    ("seed = 1", "seed = 1.5", "seed: expected a whole number"),
    ("seed = 1", "seed = 1\nmerge = 4", "merge: expected a table"),
    ("[replay]", "[reply]", "unknown table `reply`"),
    (
        '[device]\npreset = "mems-g2"\nactive_tips = 3200\n',
        'device = {preset = "mems-g2", tips = 4}\n',
        "unknown",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "message"), EXPERIMENT_ERRORS, ids=[new for _, new, _ in EXPERIMENT_ERRORS]
)
def test_error_in_an_experiment_names_its_line(sledlab, tmp_path, old, new, message):
    line, error = error_line_and_message(
        sledlab, tmp_path, replace_once(EXPERIMENT, old, new), ["simulate", "FILE"]
    )
    assert line in new.splitlines()
    assert error.startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        *EXPERIMENT_ERRORS[:4],
        ('["fcfs", "sptf"]', '["fcfs", "sptff"]', "unknown scheduler `sptff`"),
        ("speedup = [1, 2]", "speedup = [1, -2]", "`-2` is not a speed-up"),
        ("speedup = [1, 2]", "speedups = [1, 2]", "unknown key of [study] `speedups`"),
        ("seed = [1]", "seed = [-1]", "`-1` is not a seed"),
    ],
)
def test_error_in_a_study_names_its_line(sledlab, tmp_path, old, new, message):
    line, error = error_line_and_message(
        sledlab, tmp_path, replace_once(STUDY, old, new), ["compare", "FILE", "--parallel", 1]
    )
    assert new in line
    assert error.startswith(message)


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", "--device", "FILE", "--workload", "uniform"],
        ["compare", "--device", "FILE", "--workload", "uniform"],
        ["smart", "replay", SORT, "--device", "FILE"],
        ["show", "device", "FILE"],
        ["device", "seek-map", "FILE"],
        [
            "simulate",
            "--device",
            "atlas-10k",
            "--hybrid",
            "caching-disk",
            "--front",
            "FILE",
            "--workload",
            "uniform",
        ],
        ["compare", "--device", "FILE,mems-g2", "--workload", "uniform"],
        ["power", "--device", "FILE", "--workload", "uniform"],
        ["hybrid", "--front", "FILE", "--workload", "cello"],
        ["trace", "generate", "uniform", "out.csv", "--device", "FILE"],
        ["trace", "slice", "sample/traces/oltp-bank-a.csv.zst", "out.csv", "--fit", "FILE"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("setting", ["active_tips = 0", "active_tips = true", "activ_tips = 3200"])
def test_error_in_a_device_names_its_line(sledlab, tmp_path, command, setting):
    line, _ = error_line_and_message(
        sledlab, tmp_path, replace_once(DEVICE, "active_tips = 3200", setting), command
    )
    assert line == setting


def test_error_in_device_of_experiment_names_its_line(sledlab, tmp_path):
    (tmp_path / "run.toml").write_text(replace_once(EXPERIMENT, "mems-g2", str(tmp_path / "mine.toml")))
    text = replace_once(DEVICE, "# measured", "mobility_nm = true")
    line, _ = error_line_and_message(sledlab, tmp_path, text, ["simulate", tmp_path / "run.toml"])
    assert line == "mobility_nm = true"


def test_error_in_a_zone_names_its_line(sledlab, tmp_path):
    last_setting = "sectors_per_track = 8"
    for replacement, named_line in (
        (f"{last_setting}\nspare = 1", "spare = 1"),
        ("", "[[zones]] # the inner one"),
    ):
        line, _ = error_line_and_message(
            sledlab, tmp_path, replace_once(DISK, last_setting, replacement), ["show", "device", "FILE"]
        )
        assert line == named_line


@pytest.mark.parametrize(
    ("option", "text", "old", "new"),
    [
        ("--node", NODE, "mhz = 600", "mhz = 0"),
        ("--node", NODE, "page_kb = 8", "pages_kb = 8"),
        ("--network", NETWORK, "latency_us = 10", 'latency_us = "fast"'),
        ("--network", NETWORK, "latency_us = 10", "latency_ms = 1"),
    ],
)
def test_error_in_node_or_network_names_its_line(sledlab, tmp_path, option, text, old, new):
    replay_command = ["smart", "replay", SORT, "--device", "mems-g2", option, "FILE"]
    for command in (replay_command, ["show", option.removeprefix("--"), "FILE"]):
        line, _ = error_line_and_message(sledlab, tmp_path, replace_once(text, old, new), command)
        assert line == new


def test_a_device_file_without_a_kind_is_named(sledlab, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("active_tips = 3200\n")
    for command in (("show", "device", file), ("simulate", "--workload", "uniform", "--device", file)):
        answer = sledlab(*command)
        assert answer.code == 2
        assert answer.err.startswith(f"error: {file}: a device file must contain its kind")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "device.active_tips=0"],
        ["--limit", "-1"],
        ["--scheduler", "sptff"],
        ["--device", "mems-g4"],
        ["--replay", "opened"],
    ],
    ids=" ".join,
)
def test_error_in_an_option_names_no_file(sledlab, tmp_path, arguments):
    file = tmp_path / "mine.toml"
    file.write_text(EXPERIMENT)
    answer = sledlab("simulate", file, *arguments)
    assert answer.code == 2
    assert "mine.toml" not in answer.err


def test_lines_know_their_tables():
    text = '[a.b]\nx = """\ny = 1\n"""\n"z w" = 2 # [c]\n[[c]]\n[[c]]\nd.e = 3\n'
    assert [(line.number, line.key) for line in parse_lines(text)] == [
        (1, "a.b"),
        (2, "a.b.x"),
        (5, "a.b.z w"),
        (6, "c[0]"),
        (7, "c[1]"),
        (8, "c[1].d.e"),
    ]
