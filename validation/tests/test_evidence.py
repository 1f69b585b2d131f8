"""The manifest of measurements: stale entries, resuming, listing, and the required build."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from validation import build
from validation.evidence import __main__ as command
from validation.evidence import runner as running
from validation.evidence.entry import EvidenceEntry, Output
from validation.evidence.manifest import Manifest, Record, is_stale, summary
from validation.evidence.runner import Fingerprints, Runner, check

RECORD = Record("abc", "1234", "release", "a processor", "2030-01-31", 60.0)
PAGE = "docs/page.md"


class Bench:
    """Two entries of a page, whose results and failures tests set."""

    def __init__(self) -> None:
        self.results = {"one": "1", "two": "2"}
        self.measured: list[str] = []
        self.published: list[dict[str, str]] = []
        self.fail: dict[str, BaseException] = {}

    @property
    def outputs(self) -> list[Output]:
        entries = [
            EvidenceEntry(name, lambda name=name: self.results[name], self._measure(name), is_cheap=True)
            for name in self.results
        ]
        return [Output(PAGE, "bench", entries, lambda result: self.published.append(dict(result)))]

    def _measure(self, name: str) -> Callable[[str], None]:
        def measure(_: str) -> None:
            if name in self.fail:
                raise self.fail[name]
            self.measured.append(name)

        return measure


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    fake_bench = Bench()
    monkeypatch.setattr(build._native, "BUILD_PROFILE", "release")
    monkeypatch.setattr(running, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(command, "outputs", lambda: fake_bench.outputs)
    read = Manifest.read
    monkeypatch.setattr(command.Manifest, "read", lambda file=tmp_path / "manifest.json": read(file))
    return fake_bench


def test_record_is_stale_when_its_fingerprint_changes() -> None:
    assert not is_stale(RECORD, "abc")
    assert not is_stale(replace(RECORD, sources="5678", machine="another"), "abc")
    assert is_stale(RECORD, "abe")
    assert is_stale(None, "abc")


def test_command_measures_only_changed_entries(bench: Bench) -> None:
    assert command.main([]) == 0
    assert bench.measured == ["one", "two"]
    bench.results["two"] = "3"
    assert command.main([]) == 0
    assert bench.measured == ["one", "two", "two"]
    assert bench.published == [{"one": "1", "two": "2"}, {"two": "3"}]
    assert command.main([]) == 0
    assert len(bench.measured) == 3


def test_interrupted_command_resumes_with_the_next_entry(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.fail["two"] = KeyboardInterrupt()
    assert command.main([]) == 130
    assert "resumes" in capsys.readouterr().err
    assert bench.published == []
    assert command.Manifest.read().records == {}
    bench.fail.clear()
    assert command.main([]) == 0
    assert bench.measured == ["one", "two"]
    assert bench.published == [{"one": "1", "two": "2"}]


def test_failed_measurement_keeps_its_record_and_exits_1(bench: Bench) -> None:
    command.main([])
    bench.results.update(one="11", two="22")
    bench.fail["one"] = RuntimeError("no fio")
    assert command.main([]) == 1
    records = command.Manifest.read().records[PAGE]
    assert (records["one"].fingerprint, records["two"].fingerprint) == ("1", "22")
    assert records["one"].stale
    assert not records["two"].stale


def test_saved_fingerprints_are_used_until_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = ["1"]
    entry = EvidenceEntry("one", lambda: results[0], lambda _: None)
    file = tmp_path / "fingerprints.json"
    assert Fingerprints(file).get(entry) == "1"
    results[0] = "2"
    assert Fingerprints(file).get(entry) == "1"
    monkeypatch.setattr(running, "inputs_hash", lambda: "others")
    assert Fingerprints(file).get(entry) == "2"


def test_failed_publication_leaves_the_manifest_unchanged(bench: Bench) -> None:
    def fail(_: object) -> None:
        raise OSError("disk full")

    manifest = command.Manifest.read()
    outputs = [replace(output, publish=fail) for output in bench.outputs]
    runner = Runner(manifest)
    runner.run(check(outputs, manifest, Fingerprints()))
    assert runner.failed_names == [PAGE]
    assert manifest.get(PAGE, "one") is None


def test_check_lists_stale_entries_and_exits_0(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    command.main([])
    capsys.readouterr()
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out == "0 of 2 entries are not current\n"
    bench.results["two"] = "3"
    assert command.main(["--check"]) == 0
    printed = capsys.readouterr().out
    assert "two: measured" in printed
    assert "the result changed" in printed
    assert "one:" not in printed
    assert bench.measured == ["one", "two"]
    assert command.Manifest.read().records[PAGE]["two"].stale


def test_strict_check_exits_1_for_stale_entry(bench: Bench) -> None:
    assert command.main(["--check", "--strict"]) == 1
    command.main([])
    assert command.main(["--check", "--strict"]) == 0


def test_entry_without_reference_data_is_not_checked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (output,) = bench.outputs
    entries = [replace(output.entries[0], missing_reason="no data")]
    monkeypatch.setattr(command, "outputs", lambda: [replace(output, entries=entries)])
    assert command.main(["--check", "--strict"]) == 1
    assert "one: not checked: no data" in capsys.readouterr().out
    command.main([])
    assert bench.measured == []


def test_names_select_groups_pages_and_entries(bench: Bench) -> None:
    for name, selected_names in (("bench", ["one", "two"]), (PAGE, ["one", "two"]), ("two", ["two"])):
        outputs = command.select_outputs(bench.outputs, [name])
        assert [entry.name for output in outputs for entry in output.entries] == selected_names
    with pytest.raises(LookupError, match="named three"):
        command.select_outputs(bench.outputs, ["one", "three"])


def test_remaining_time_is_the_sum_of_recorded_durations(bench: Bench) -> None:
    (output,) = bench.outputs
    one, two = (running.Status(output, entry, RECORD, "x") for entry in output.entries)
    unmeasured = replace(two, record=None)
    record_of = lambda status: status.record  # noqa: E731
    assert running.remaining_text([one, two], record_of) == "2 left, about 2 min"
    assert (
        running.remaining_text([one, unmeasured], record_of) == "2 left, about 60 s and 1 of unknown duration"
    )
    assert running.remaining_text([unmeasured], record_of) == "1 left, durations unknown"
    parallel = replace(one, output=replace(output, workers=2))
    assert running.remaining_text([parallel], record_of) == "1 left, about 30 s"


def test_summary_names_date_sources_machine_and_stale_entries() -> None:
    sentence = summary({"one": RECORD, "two": replace(RECORD, date="2030-02-01", stale=True)})
    assert sentence == (
        "Measured 2030-01-31 to 2030-02-01, sources `1234` (release build), on a processor. "
        "Not confirmed for later sources: two."
    )


def test_other_build_is_refused_with_the_command(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build._native, "BUILD_PROFILE", "quick")
    assert command.main(["--check"]) == 2
    stderr = capsys.readouterr().err
    assert "`quick` build" in stderr
    assert "make release-build" in stderr
    assert bench.measured == []


def test_measuring_one_entry_keeps_the_other_records(bench: Bench) -> None:
    command.main([])
    record_before = command.Manifest.read().records[PAGE]["one"]
    command.main(["--again", "two"])
    assert command.Manifest.read().records[PAGE]["one"] == record_before


def test_records_of_removed_entries_disappear(bench: Bench) -> None:
    command.main([])
    del bench.results["two"]
    command.main(["--check"])
    assert set(command.Manifest.read().records[PAGE]) == {"one"}


def test_records_written_during_a_check_are_kept(bench: Bench) -> None:
    manifest = command.Manifest.read()
    other_manifest = command.Manifest.read()
    other_manifest.put("docs/other.md", {"other": RECORD})
    other_manifest.write()
    check(bench.outputs, manifest, Fingerprints())
    assert command.Manifest.read().records["docs/other.md"] == {"other": RECORD}


def test_manifest_is_read_as_written(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path / "manifest.json")
    manifest.put(PAGE, {"one": RECORD, "two": replace(RECORD, stale=True)})
    manifest.write()
    assert Manifest.read(manifest.file).records == manifest.records
