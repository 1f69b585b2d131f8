"""The result cache: keys of runs, and damaged lines."""

import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import sledlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from sledlab.errors import Notice
from sledlab.sources import PACKAGE, find_sources
from sledlab.study.measure import MeasuredRun, RunFigures
from sledlab.study.result_cache import ResultCache, _checksum, format_line

from tests.cached_runs import cached_lines, ended_file, write_cached_lines

TRACE = "time_us,op,offset_bytes,length_bytes\n" + "".join(
    f"{700 * i},{'RW'[i % 2]},{4096 * (i * 7919 % 5000)},4096\n" for i in range(60)
)


def touch(file: Path, directory: Path) -> Path:
    os.utime(file, (1, 1))
    return file


def copy(file: Path, directory: Path) -> Path:
    return Path(shutil.copy(file, directory / f"copy{file.suffix}"))


def move(file: Path, directory: Path) -> Path:
    (directory / "deep").mkdir()
    return Path(shutil.move(file, directory / "deep" / file.name))


def link(file: Path, directory: Path) -> Path:
    (directory / "link").symlink_to(file)
    return directory / "link"


def change_directory(file: Path, directory: Path) -> Path:
    os.chdir(file.parent)
    return Path(file.name)


RELOCATIONS = [touch, copy, move, link, change_directory]


@pytest.fixture
def trace(tmp_path, monkeypatch, without_pages) -> Path:
    monkeypatch.chdir(tmp_path)  # and back
    (tmp_path / "trace.csv").write_text(TRACE)
    return tmp_path / "trace.csv"


def cached_run_lines(out: Path) -> list[str]:
    return cached_lines(out)


def race(source: object, out: Path, **options: object) -> list[str]:
    sl.compare(source, "mems-g2", scheduler="fcfs", speedup=[1, 2], parallel=1, out=out, **options)
    return cached_run_lines(out)


@pytest.mark.parametrize("change", RELOCATIONS)
def test_moved_trace_is_not_run_again(trace, tmp_path, change):
    lines_before = race(trace, tmp_path / "out")
    assert len(lines_before) == 2
    assert race(change(trace, tmp_path), tmp_path / "out") == lines_before


def test_changed_byte_makes_another_trace(trace, tmp_path):
    race(trace, tmp_path / "out")
    status = trace.stat()
    trace.write_text(TRACE.replace("R,0,", "W,0,", 1))
    os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert trace.stat().st_size == status.st_size
    assert len(race(trace, tmp_path / "out")) == 4
    trace.write_text(TRACE)
    assert len(race(trace, tmp_path / "out")) == 4


def test_rewritten_trace_has_its_own_arrival_rate(tmp_path):
    file = tmp_path / "rate.csv"
    for gap_ms in (20, 5):
        rows = [f"{1000 * gap_ms * i},R,{4096 * i},4096" for i in range(201)]
        file.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *rows]))
        race = sl.compare(file, "mems-g2", scheduler="fcfs", speedup=[1], parallel=1)
        assert race.runs["arrival_rate_iops"][0] == pytest.approx(201 / (0.2 * gap_ms))


IMPORT = """
import importlib, sys, types
module, directory = sys.argv[1:]
package = module.rpartition(".")[0]
if directory:
    __import__(package.rpartition(".")[0])
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [directory]
importlib.import_module(module)
print(*(vars(each).get("__file__") for each in sys.modules.values()))
"""
"""A program that imports a module; with a directory, without what the `__init__.py` there imports."""


@pytest.mark.parametrize(
    ("measuring", "directory"),
    [
        ("study.measure", ""),
        ("studies.smart.replays", "studies/smart"),
        ("studies.fleet.measurement", "studies/fleet"),
        ("job.record", ""),
        ("job.query", ""),
    ],
)
def test_hashed_sources_are_all_imported_modules(measuring, directory):
    module = f"sledlab.{measuring}"
    command = [sys.executable, "-c", IMPORT, module, directory and str(PACKAGE / directory)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {Path(file) for file in completed.stdout.split() if Path(file).is_relative_to(PACKAGE)}
    imported = {file for file in imported if file.suffix == ".py" and file.name != "__init__.py"}
    hashed = {*find_sources(module)}
    assert imported - hashed == set()
    assert len(hashed) > 40
    assert not any(part in file.parts for file in hashed for part in ("cli", "reproduction"))


def test_trace_of_a_volume_has_an_arrival_rate(trace, tmp_path):
    (volume,) = sl.read_volumes(trace.parent)
    for source in (volume.trace, trace):
        race = sl.compare(source, "mems-g2", scheduler="fcfs", speedup=[1], parallel=1)
        assert race.runs["arrival_rate_iops"][0] == pytest.approx(60 / (59 * 700e-6))


def test_hashed_sources_of_a_fleet_have_its_histograms():
    names = {file.name for file in find_sources("sledlab.studies.fleet.measurement")}
    assert {"measurement.py", "split_times.py", "histogram.py", "volumes.py", "measure.py"} <= names


def test_trace_read_with_other_options_runs_again(trace, tmp_path):
    race(trace, tmp_path / "out")
    assert len(race(sl.read_trace(trace, sort_window=5), tmp_path / "out")) == 4
    assert len(race(trace, tmp_path / "out", limit=30)) == 6


@pytest.mark.parametrize("change", RELOCATIONS)
def test_fitted_parquet_trace_is_recognized_elsewhere(trace, tmp_path, change):
    file = tmp_path / "trace.parquet"
    sl.read_trace(trace).write(file)

    def side_by_side(source: Path) -> list[str]:
        options = {"speedup": [1], "outside": "wrap", "parallel": 1}
        sl.side_by_side(source, ["mems-g2", "mems-g3"], out=tmp_path / "out", **options)
        return cached_run_lines(tmp_path / "out")

    lines_before = side_by_side(file)
    assert side_by_side(change(file, tmp_path)) == lines_before
    assert len(lines_before) == 2


@pytest.mark.parametrize("change", [touch, copy, move])
@pytest.mark.usefixtures("without_pages")
def test_moved_work_record_is_not_run_again(tmp_path, change):
    record = Path(shutil.copy(Path(__file__).parents[2] / "sample/work/scan.work", tmp_path / "scan.work"))

    def smart(file: Path) -> list[str]:
        sl.smart_study(file, "mems-g2", network=["hub"], parallel=1, out=tmp_path / "out")
        return cached_run_lines(tmp_path / "out")

    lines_before = smart(record)
    assert smart(change(record, tmp_path)) == lines_before
    assert len(lines_before) == 1


@pytest.mark.parametrize("change", [touch, copy, move])
def test_moved_device_file_is_not_run_again(trace, tmp_path, change):
    file = tmp_path / "mine.toml"
    file.write_text('kind = "mems"\nname = "mine"\n')

    def run(device: Path) -> list[str]:
        options = {"scheduler": "fcfs", "speedup": [1], "parallel": 1, "out": tmp_path / "out"}
        sl.compare(trace, device, **options)
        return cached_run_lines(tmp_path / "out")

    lines_before = run(file)
    moved_file = change(file, tmp_path)
    assert run(moved_file) == lines_before
    moved_file.write_text('kind = "mems"\nname = "mine"\nactive_tips = 3200\n')
    assert len(run(moved_file)) == 2


PLUG_IN_SOURCE = """
class First:
    def __init__(self):
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        return self.queue.pop(0)

    def __len__(self):
        return len(self.queue)
"""


def test_moved_plug_in_is_not_run_again(trace, tmp_path, monkeypatch):
    def run(directory: str) -> list[str]:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(tmp_path / directory)
            options = {"scheduler": "sledlab_moved:First", "speedup": [1], "parallel": 1}
            sl.compare(trace, "mems-g2", out=tmp_path / "out", **options)
        sys.modules.pop("sledlab_moved", None)
        return cached_run_lines(tmp_path / "out")

    for directory in ("here", "there"):
        (tmp_path / directory).mkdir()
    (tmp_path / "here" / "sledlab_moved.py").write_text(PLUG_IN_SOURCE)
    lines_before = run("here")
    (tmp_path / "here" / "sledlab_moved.py").rename(tmp_path / "there" / "sledlab_moved.py")
    assert run("there") == lines_before
    (tmp_path / "there" / "sledlab_moved.py").write_text(PLUG_IN_SOURCE.replace("pop(0)", "pop()"))
    assert len(run("there")) == 2


def change_number(line: bytes) -> bytes:
    record = json.loads(line)
    record["row"]["mean_ms"] += 1
    return json.dumps(record).encode()


DAMAGES = {
    "not UTF-8": lambda line: line[:60] + b"\xff\xfe" + line[62:],
    "half a line": lambda line: line[: len(line) // 2],
    "too deep": lambda line: b"[" * 100_000,
    "too deep within": lambda line: line[:60] + b'"x": ' + b"[" * 100_000 + line[60:],
    "no row": lambda line: json.dumps({**json.loads(line), "row": None}).encode(),
    "a number of 5,000 digits": lambda line: (
        json.dumps(json.loads(line) | {"x": 0})[:-2].encode() + b"1" * 5000 + b"}"
    ),
    "another number": change_number,
    "no object": lambda line: b"3",
    "a letter within": lambda line: line[:-20] + b"7" + line[-19:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_cache_line_is_reported_and_rerun(trace, tmp_path, damage):
    lines_before = race(trace, tmp_path / "out")
    tables = {name: (tmp_path / "out" / name).read_bytes() for name in ("runs.csv", "summary.json")}
    first, second = (line.encode() for line in lines_before)
    write_cached_lines(tmp_path / "out", damage(first) + b"\n" + second + b"\n")
    with pytest.warns(Notice, match=r"-1.jsonl: 1 line is damaged") as notices:
        lines_after = race(trace, tmp_path / "out")
    assert len(notices) == 1
    assert (len(lines_after), lines_after[0]) == (2, lines_before[1])
    assert tables == {name: (tmp_path / "out" / name).read_bytes() for name in tables}
    assert race(trace, tmp_path / "out") == lines_after  # and the notice appears once


def test_command_line_counts_damaged_lines(sledlab, trace, tmp_path):
    arguments = (
        "compare",
        "--device",
        "mems-g2",
        "--trace",
        trace,
        "--scheduler",
        "fcfs",
        "--speedup",
        "1,2",
    )
    assert sledlab(*arguments, "--parallel", 1, "--out", tmp_path / "out").err == ""
    write_cached_lines(tmp_path / "out", "{}\n{}\n\n")
    answer = sledlab(*arguments, "--parallel", 1, "--out", tmp_path / "out", "--json")
    assert answer.code == 0
    assert len(answer.json["runs"]) == 2
    assert "-1.jsonl: 2 lines are damaged or of an older sledlab" in answer.err
    assert len(answer.err.splitlines()) == 1


def test_truncated_cache_line_is_rerun_silently(trace, tmp_path):
    lines_before = race(trace, tmp_path / "out")
    write_cached_lines(tmp_path / "out", f"{lines_before[0]}\n{lines_before[1][:70]}")
    assert race(trace, tmp_path / "out")[0] == lines_before[0]
    write_cached_lines(tmp_path / "out", "\n".join(lines_before))  # complete, without the final newline
    assert race(trace, tmp_path / "out") == lines_before


def test_lines_of_other_programs_are_kept_and_ignored(trace, tmp_path):
    lines_before = race(trace, tmp_path / "out")
    record = json.loads(lines_before[0])
    del record["check"]
    other_lines = [
        format_line(record | {"key": "of another program"}),
        format_line(record | {"row": {"other": 1}}),
    ]
    write_cached_lines(tmp_path / "out", b"".join(other_lines))
    lines_after = race(trace, tmp_path / "out")
    assert len(lines_after) == 4
    assert [line.encode() + b"\n" for line in lines_after[:2]] == other_lines


RUN = MeasuredRun({"mean_ms": 1.25, "words": "über\u2028 \x85 \ud800"}, {"wall_s": 0.5})


def read_cache(path: Path) -> dict[str, MeasuredRun]:
    with ResultCache(path.parents[1], dict) as cache:
        return cache.known


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 3), st.binary(max_size=40))
def test_damaged_cache_returns_intact_runs_only(tmp_path_factory, seed, line_count, cut_count, noise):
    path = ended_file(tmp_path_factory.mktemp("kept"))
    runs_by_key = {
        f"k{number}": MeasuredRun(RUN.row | {"number": number}, RUN.timing) for number in range(line_count)
    }
    content = b"".join(
        format_line({"key": key, "run": {}, **intact_runs.to_dict()})
        for key, intact_runs in runs_by_key.items()
    )
    path.write_bytes(content)
    assert read_cache(path) == runs_by_key
    rng = random.Random(seed)
    for _ in range(cut_count):
        position = rng.randrange(len(content) + 1)
        replacement = rng.choice([b"", noise, content[position : position + 9] * 2])
        content = content[:position] + replacement + content[position + rng.randrange(9) :]
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        intact_runs = read_cache(path)
    assert intact_runs.items() <= runs_by_key.items()
    repaired = path.read_bytes()
    assert repaired == b"" or repaired.endswith(b"\n")
    assert read_cache(path) == intact_runs  # repaired: no further notice


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=400))
def test_random_text_is_never_a_run(tmp_path_factory, content):
    path = ended_file(tmp_path_factory.mktemp("kept"))
    path.write_bytes(content + b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        assert read_cache(path) == {}


def test_trace_is_not_hashed_without_cache(trace, monkeypatch):
    hashed_paths = []
    monkeypatch.setattr("sledlab.study.result_cache.content", lambda path: hashed_paths.append(path) or "")
    result = sl.compare(trace, "mems-g2", scheduler="fcfs", speedup=[1, 2], parallel=1)
    assert (hashed_paths, result.runs.height) == ([], 2)


FORGED = (
    *("NaN", "Infinity", "-Infinity", "1e999", "1e308", "-1e308", "9" * 400, str(2**63), "null", "true"),
    *('"word"', '"' + "9" * 50 + '"', "[]", "{}", "[1]", '{"a": 1}'),
)
"""Values that another program may write into a cached run, with a check that matches."""


def forge(record: dict, part: str, name: str, value: str) -> bytes:
    text = json.dumps({**record, part: {**record[part], name: "FORGED"}}).replace('"FORGED"', value)
    body = text.encode()[1:]
    return b'{"check": "' + _checksum(body) + b'", ' + body + b"\n"


@pytest.mark.parametrize("part", ["row", "timing"])
def test_forged_cached_run_causes_no_traceback(sledlab, trace, tmp_path, part):
    out = tmp_path / "forged"
    command = ("compare", "--trace", trace, "--device", "mems-g2", "--scheduler", "fcfs", "--parallel", 1)
    command = (*command, "--speedup", 1, "--out", out)
    assert sledlab(*command).code == 0
    record = json.loads(cached_lines(out)[0])
    del record["check"]
    runs = sl.open(out).runs
    for name in record[part]:
        for value in FORGED:
            write_cached_lines(out, forge(record, part, name, value))
            cache = ResultCache(out, RunFigures)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", Notice)
                cache.reload()
            if cache.known:
                assert value in ("null", "true", "{}", '{"a": 1}', '"word"', "[]"), (name, value)
                continue
            assert "damaged" in str(caught[0].message), (name, value)
    write_cached_lines(out, forge(record, part, name, "1e999"))
    answer = sledlab(*command)
    assert (answer.code, "damaged" in answer.err) == (0, True)
    assert (
        sl.open(out)
        .runs.drop("decision_cost_ns", strict=False)
        .equals(runs.drop("decision_cost_ns", strict=False))
    )


@pytest.mark.usefixtures("without_pages")
def test_runs_with_large_seeds_are_cached(tmp_path):
    uniform = sl.workload("uniform")
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sl.compare(
                uniform, "mems-g2", scheduler="fcfs", speedup=[1], seed=2**62 + 1, limit=50, out=tmp_path
            )
    assert len(cached_run_lines(tmp_path)) == 1
