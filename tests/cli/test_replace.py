"""`--out`: a directory holds results of one kind; `--replace` removes only those."""

import json
from itertools import permutations
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.results import FORMAT, MANIFEST, list_in_manifest, prepare_directory

from tests.cached_runs import ended_file

SHORT_RUN = ("--limit", 200)
UNIFORM = ("--device", "mems-g2", "--workload", "uniform", *SHORT_RUN)
TWO_DEVICES = ("--device", "mems-g2,mems-g3", "--workload", "uniform", *SHORT_RUN)
SORT = "sample/work/sort.work"

COMMANDS = {
    "simulate": ("simulate", *UNIFORM),
    "compare": ("compare", *UNIFORM, "--scheduler", "fcfs", "--speedup", 1, "--parallel", 1),
    "side-by-side": ("compare", *TWO_DEVICES, "--parallel", 1),
    "smart": ("smart", "--work", SORT, "--device", "mems-g2", "--parallel", 1),
    "replay": ("smart", "replay", SORT, "--device", "mems-g2"),
}


def file_names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def files_of_command(sledlab, tmp_path: Path, kind: str) -> set[str]:
    """Names of the files that a command writes to a new directory."""
    directory = tmp_path / "alone" / kind
    assert sledlab(*COMMANDS[kind], "--out", directory).code == 0
    return file_names(directory)


@pytest.mark.slow("runs five commands, and four of them again over each other's results")
def test_other_kind_is_refused_unless_replace(sledlab, tmp_path, without_pages):
    out = tmp_path / "out"
    names_by_kind = {kind: files_of_command(sledlab, tmp_path, kind) for kind in COMMANDS}
    assert sledlab(*COMMANDS["replay"], "--out", out).code == 0
    own_names = {"notes.csv", "points.txt", ".hidden"}
    for name in own_names:
        (out / name).write_text("mine")
    (out / "figures").mkdir()
    previous_kind = "replay"
    for kind in ("simulate", "compare", "side-by-side", "smart", "replay"):
        contents = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        answer = sledlab(*COMMANDS[kind], "--out", out)
        if kind != previous_kind:
            answer.assert_refused(
                f"`{out}` holds results of another kind: of `{previous_kind}`, not of `{kind}`"
            )
            assert "--replace" in answer.err
            assert contents == {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
        assert sledlab(*COMMANDS[kind], "--out", out, "--replace").code == 0
        assert file_names(out) == names_by_kind[kind] | own_names | {"figures"}
        assert sledlab(*COMMANDS[kind], "--out", out).code == 0  # results of the same kind resume
        previous_kind = kind


@pytest.mark.parametrize("name", ["summary.json", "requests.parquet", "sledlab.json", "report.html"])
def test_run_is_not_written_through_links(sledlab, tmp_path, without_pages, name):
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.write_text("mine")
    (out / name).symlink_to("../victim")
    sledlab(*COMMANDS["simulate"], "--out", out).assert_refused(f"`{out / name}` is a symbolic link")
    assert victim.read_text() == "mine"
    assert file_names(tmp_path) == {"out", "victim"}
    assert file_names(out) == {name}
    assert sledlab(*COMMANDS["simulate"], "--out", out, "--replace").code == (
        2 if name != "sledlab.json" else 0
    )


@pytest.mark.parametrize("name", ["runs", "unfinished.json", "summary.json", "study.toml", "runs.csv"])
def test_study_is_not_written_through_links(sledlab, tmp_path, without_pages, name):
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.mkdir()
    (out / name).symlink_to("../victim", target_is_directory=True)
    sledlab(*COMMANDS["compare"], "--out", out).assert_refused(f"`{out / name}` is a symbolic link")
    assert file_names(victim) == set()


def test_damaged_cache_behind_a_link_is_not_repaired(sledlab, tmp_path, without_pages):
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("mine\n\n")
    ended_file(out).symlink_to(victim)
    assert sledlab(*COMMANDS["compare"], "--out", out).code == 0
    assert victim.read_text() == "mine\n\n"


KINDS = ("simulate", "compare", "side-by-side", "hybrid", "tune", "power", "smart", "replay", "size", "drive")


@pytest.mark.parametrize(("stored_kind", "new_kind"), list(permutations(KINDS, 2)))
def test_every_pair_of_kinds_is_refused(tmp_path, refused, stored_kind, new_kind):
    prepare_directory(tmp_path, stored_kind)
    list_in_manifest(tmp_path, stored_kind, ["summary.json"])
    with refused(f"holds results of another kind: of `{stored_kind}`, not of `{new_kind}`"):
        prepare_directory(tmp_path, new_kind)
    assert prepare_directory(tmp_path, stored_kind) == tmp_path


def test_every_command_with_a_directory_has_the_option(sledlab):
    commands = [("simulate",), ("compare",), ("hybrid",), ("hybrid", "tune"), ("power",), ("smart",)]
    for words in [*commands, ("smart", "replay"), ("smart", "size"), ("check",)]:
        printed = sledlab(*words, "--help-all" if words != ("check",) else "--help").out
        assert "--out DIR" in printed, words
        assert "--replace" in printed, words


@pytest.mark.usefixtures("without_pages")
def test_python_raises_the_same_error(tmp_path, refused):
    options = {"limit": 200, "out": tmp_path}
    uniform = sl.workload("uniform")
    sl.compare(uniform, "mems-g2", scheduler="fcfs", speedup=[1], parallel=1, **options)
    with refused("of `compare`, not of `simulate`"):
        sl.simulate(uniform, "mems-g2", **options)
    sl.simulate(uniform, "mems-g2", replace=True, **options)
    assert not (tmp_path / "runs").exists()
    with refused("of `simulate`, not of `hybrid`"):
        axes = {"configuration": ["disk"], "mems_mb": [], "segment_kb": [], "price_ratio": [], "parallel": 1}
        sl.hybrid_study(uniform, **axes, **options)


@pytest.mark.usefixtures("without_pages")
def test_a_mistake_is_found_before_results_are_removed(sledlab, tmp_path):
    assert sledlab(*COMMANDS["simulate"], "--out", tmp_path).code == 0
    names_before = file_names(tmp_path)
    for options in (("--scheduler", "sptff"), ("--set", "device.sledz=3")):
        assert sledlab(*COMMANDS["simulate"], *options, "--out", tmp_path, "--replace").code == 2
    for options in (("--parallel", 0), ("--speedup", "x"), ("--vary", "device.sledz=1,2")):
        assert sledlab(*COMMANDS["compare"], *options, "--out", tmp_path, "--replace").code == 2
    assert file_names(tmp_path) == names_before


def test_a_directory_without_a_name_is_refused(sledlab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = {kind: arguments for kind, arguments in COMMANDS.items() if SORT not in arguments}
    for arguments in commands.values():
        sledlab(*arguments, "--out", "").assert_refused("the directory for results has no name")
        assert "specify a directory" in sledlab(*arguments, "--out", "").err
    assert file_names(tmp_path) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("device", "seek-map", "mems-g2", "--save"),
        ("trace", "generate", "uniform"),
        ("diff", "a", "b", "--save"),
        (*COMMANDS["simulate"], "--requests"),
    ],
)
def test_file_without_a_name_is_refused(sledlab, arguments):
    assert sledlab(*arguments, "").code == 2


def test_replace_without_a_directory_is_refused(sledlab):
    sledlab(*COMMANDS["simulate"], "--replace").assert_refused("--replace requires a directory for results")


def test_only_names_within_the_directory_are_removed(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "mine").write_text("mine")
    (out / "deep").mkdir()
    names = ["../mine", str(tmp_path / "mine"), "..", ".", "", "deep", "a", 7, None]
    (out / MANIFEST).write_text(json.dumps({"kind": "smart", "files": names}))
    (out / "a").symlink_to(tmp_path / "mine")
    prepare_directory(out, "simulate", replace=True)
    assert (tmp_path / "mine").read_text() == "mine"
    assert file_names(out) == {"deep"}


@pytest.mark.parametrize(
    "manifest", ["", "3", "[]", "{}", '{"kind": 1}', "\xff", "[" * 100_000, '{"files": 3}']
)
def test_damaged_manifest_is_ignored(tmp_path, manifest):
    (tmp_path / MANIFEST).write_text(manifest, encoding="latin-1")
    prepare_directory(tmp_path, "simulate")
    list_in_manifest(tmp_path, "simulate", ["summary.json"])
    list_in_manifest(tmp_path, "simulate", ["more.csv"])
    assert json.loads((tmp_path / MANIFEST).read_text()) == {
        "format": FORMAT,
        "kind": "simulate",
        "files": ["more.csv", "summary.json"],
        "digests": {},
    }


def test_study_with_damaged_manifest_is_not_removed(tmp_path, refused):
    (tmp_path / "study.toml").write_text('[study]\nkind = "power"\n')
    (tmp_path / MANIFEST).write_text("{")
    with refused("delete them yourself"):
        prepare_directory(tmp_path, "power", replace=True)
    assert file_names(tmp_path) == {"study.toml", MANIFEST}


def test_older_study_is_recognized_by_its_file(tmp_path, refused):
    (tmp_path / "study.toml").write_text('[study]\nkind = "power"\n')
    with refused("of `power`, not of `simulate`"):
        prepare_directory(tmp_path, "simulate")
    with refused("delete them yourself"):
        prepare_directory(tmp_path, "simulate", replace=True)
    assert file_names(tmp_path) == {"study.toml"}
    prepare_directory(tmp_path, "power")
