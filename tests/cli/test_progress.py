"""Progress reports: few lines in a log, a bar in notebooks, nothing with --quiet."""

import math
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from sledlab.show import progress
from sledlab.show.progress import LOG_INTERVAL_S, Progress, is_notebook, suppress_progress
from sledlab.study import bench, work_done
from sledlab.study.plan import RunSpec
from sledlab.study.work_done import PATIENCE_S, WorkProgress, sample_first


@pytest.fixture
def clock(monkeypatch):
    fake_clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: fake_clock.now))
    return fake_clock


def progress_lines(clock, duration_s, progress_at, capsys, *, step_s=1.0):
    """The lines printed by work that takes `duration_s`, each with its time."""
    lines = []
    with Progress("simulating") as progress_bar:
        while clock.now < duration_s:
            clock.now += step_s
            progress_bar.update(*progress_at(clock.now))
            lines += [(clock.now, line) for line in capsys.readouterr().err.splitlines()]
    return lines


def test_short_work_prints_nothing_to_a_log(clock, capsys):
    assert progress_lines(clock, LOG_INTERVAL_S - 1, lambda now: (int(now), now / 60), capsys) == []


def test_a_line_for_every_tenth_of_long_work(clock, capsys):
    lines = progress_lines(clock, 6000, lambda now: (int(now * 1e6), now / 6000), capsys)
    assert [time_s for time_s, _ in lines] == [600.0 * turn for turn in range(1, 11)]
    assert lines[0][1] == "simulating: 10%, 600,000,000 requests, 1.00 M/s, about 90 min left"


def test_progress_prints_at_most_a_line_per_minute(clock, capsys):
    lines = progress_lines(clock, 300, lambda now: (int(now), now / 300), capsys)
    assert [time_s for time_s, _ in lines] == [60.0, 120.0, 180.0, 240.0, 300.0]


def test_unknown_end_prints_a_line_per_minute(clock, capsys):
    lines = progress_lines(clock, 200, lambda now: (int(now), None), capsys)
    assert lines == [(60.0 * turn, f"simulating: {60 * turn} requests") for turn in (1, 2, 3)]


@pytest.mark.parametrize(
    ("runs", "at_once", "remaining_s", "estimate"),
    [
        (95, 2, 117.5, "comparing: 95 runs, about 2 min on 2 processors"),
        (95, 1, 237.5, "comparing: 95 runs, about 4 min on 1 processor"),
        (5, 2, 250.0, None),
        (95, 2, 4.0, None),
    ],
)
def test_an_estimate_before_many_runs(clock, capsys, runs, at_once, remaining_s, estimate):
    with Progress("comparing", unit="runs") as progress_bar:
        clock.now += 2.5
        progress_bar.print_estimate(runs, remaining_s, at_once)
        progress_bar.print_estimate(runs, 1000.0, at_once)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ([] if estimate is None else [estimate])


def test_study_estimates_duration_unless_quiet(sledlab, monkeypatch):
    monkeypatch.setattr(progress, "MAX_UNESTIMATED_S", 0.0)
    arguments = ("compare", "--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--parallel", 1)
    arguments = (*arguments, "--scheduler", "fcfs,sptf", "--speedup", "1,2,4", "--overload", "drain")
    assert sledlab(*arguments).err == "comparing: 6 runs, about 1 s on 1 processor\n"
    assert sledlab(*arguments, "--quiet").err == ""
    assert sledlab(*arguments, "-q").err == ""


@pytest.mark.usefixtures("without_pages")
def test_cached_runs_are_not_estimated(sledlab, monkeypatch, tmp_path):
    run_counts = []
    monkeypatch.setattr(
        bench.Progress,
        "print_estimate",
        lambda _, runs, remaining_s, at_once: run_counts.append(runs),
    )
    arguments = ("compare", "--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--parallel", 1)
    arguments = (*arguments, "--scheduler", "fcfs,sptf", "--out", tmp_path / "race")
    assert sledlab(*arguments, "--speedup", "1,2").code == 0
    assert sledlab(*arguments, "--speedup", "1,2,4").code == 0
    assert run_counts == [4, 2]


def test_remaining_time_is_that_of_the_step(clock, capsys):
    with Progress("recording", unit="") as shown:
        for step in range(3):
            for second in range(100):
                clock.now += 1
                shown.show_step(f"replaying on {2**step} nodes", second / 100)
    lines = [
        re.fullmatch(r"replaying on \d nodes: (.*)%, about (.*) s left", line)
        for line in capsys.readouterr().err.splitlines()
    ]
    assert len(lines) == 5
    assert all(float(line[1]) + float(line[2]) == pytest.approx(100, abs=2) for line in lines)


def test_quiet_prints_no_progress(clock, capsys):
    with suppress_progress():
        assert progress_lines(clock, 1000, lambda now: (int(now), now / 1000), capsys) == []
    assert not Progress.silent


def test_notebook_shows_a_progress_bar(monkeypatch):
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    for is_installed in (True, False):
        monkeypatch.setattr(
            progress, "find_spec", lambda name, is_installed=is_installed: name if is_installed else None
        )
        assert is_notebook() == is_installed
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not is_notebook()


def test_fast_work_writes_nothing_to_a_log(tmp_path):
    command = ["simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", "1000", "--json"]
    completed = subprocess.run([sys.executable, "-m", "sledlab", *command], capture_output=True, check=True)
    assert completed.stderr == b""


@pytest.fixture
def work_clock(monkeypatch):
    fake_clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(work_done, "time", SimpleNamespace(monotonic=lambda: fake_clock.now))
    return fake_clock


def test_progress_counts_work_and_names_the_slowest_run(work_clock):
    runs = [RunSpec("", (), seed) for seed in range(4)]
    work = WorkProgress({run: f"run {run.seed}" for run in runs}, runs, 2)
    assert (work.fraction, work.slowest) == (0.0, None)
    work.update_pending(runs)
    for now_s, run in ((1.0, runs[1]), (2.0, runs[2])):
        work_clock.now = now_s
        work.complete(run, 1.0)
        work.update_pending([each for each in runs if each != run][:2])
    work.update_pending([runs[0]])
    work_clock.now = 62.0
    assert work.slowest == ("run 0", 62.0)
    assert work.completed_count == 2
    assert 0.4 < work.fraction < 0.6  # counted in runs it would be at 50 % already after 2 of 124 s


@pytest.mark.parametrize(
    "time_of",
    [
        lambda place: 1.0,
        lambda place: 20.0 - 19 * place,
        lambda place: 30.0 if place < 0.2 else 1.0,
        lambda place: 10.0 * math.exp(-5 * place),
        lambda place: 1.0 + 3 * (round(place * 240) % 3 == 0),
    ],
    ids=["equal", "falling", "steps", "exponential", "every third"],
)
@pytest.mark.parametrize("count", [12, 48, 240])
def test_time_is_estimated_within_a_factor_of_two_by_a_sample(work_clock, time_of, count):
    runs = [RunSpec("", (), seed) for seed in range(count)]
    times_s = {run: time_of(run.seed / count) for run in runs}
    work = WorkProgress(dict.fromkeys(runs, ""), runs, 1)
    executed = sample_first(runs)
    assert sorted(executed, key=lambda run: run.seed) == runs
    done_s = 0.0
    for done, run in enumerate(executed):
        done_s += times_s[run]
        work.complete(run, times_s[run])
        if work.is_sampled:
            remaining_s = sum(times_s.values()) - done_s
            assert 0.5 < (done_s + work.remaining_s) / sum(times_s.values()) < 2, done
            assert work.remaining_s < 2 * remaining_s + done_s
    assert work.fraction == pytest.approx(1)


def test_kinds_of_runs_that_alternate_are_in_the_sample(work_clock):
    merge = (("merge.kind", "chains"),)
    alternating = [merge if place % 4 in (1, 2) else () for place in range(12)]
    runs = [RunSpec("", settings, seed) for seed, settings in enumerate([*alternating, *[()] * 23])]
    times_s = {run: 30.0 if run.settings else 1.0 for run in runs}
    work = WorkProgress(dict.fromkeys(runs, ""), runs, 1)
    executed = sample_first(runs)
    while not work.is_sampled:
        run = executed[work.completed_count]
        work.complete(run, times_s[run])
    done_s = sum(times_s[run] for run in executed[: work.completed_count])
    assert 0.5 < (done_s + work.remaining_s) / sum(times_s.values()) < 2


def test_time_that_runs_have_executed_counts_as_work(work_clock):
    runs = [RunSpec("", (), seed) for seed in range(20)]
    work = WorkProgress(dict.fromkeys(runs, ""), runs, 2)
    executed = sample_first(runs)
    work.complete(executed[0], 1.0)
    work.update_pending(executed[1:])
    for run in executed[2:8]:  # one processor executes the second run all the time
        work_clock.now += 1.0
        work.complete(run, 1.0)
    assert work.remaining_wall_s == pytest.approx(work.remaining_s / 2)


def test_estimate_waits_for_a_long_run_of_the_sample(work_clock):
    runs = [RunSpec("", (), seed) for seed in range(20)]
    work = WorkProgress(dict.fromkeys(runs, ""), runs, 2)
    executed = sample_first(runs)
    work.update_pending(executed)
    for run in executed[1:]:  # one processor executes the first run all the time
        assert work.is_sampled == (work_clock.now >= PATIENCE_S)
        work_clock.now += 1.0
        work.complete(run, 1.0)
        work.update_pending([executed[0]])
    assert work.remaining_s >= PATIENCE_S


def test_time_between_runs_counts(work_clock):
    runs = [RunSpec("", (), seed) for seed in range(20)]
    work = WorkProgress(dict.fromkeys(runs, ""), runs, 1)
    work_clock.now = 100.0  # the start of processes does not count
    for run in sample_first(runs)[:10]:
        work.complete(run, 1.0)
        work_clock.now += 2.0
    assert work.remaining_s == pytest.approx(10.0)
    assert work.remaining_wall_s == pytest.approx(20.0, rel=0.2)


def test_run_without_its_time_counts_as_long_as_it_was_seen(work_clock):
    runs = [RunSpec("", (), seed) for seed in range(4)]
    work = WorkProgress({run: f"run {run.seed}" for run in runs}, runs, 1)
    for done, run in enumerate(runs):
        work.update_pending(runs[done:])
        assert work.fraction == pytest.approx(done / 4)
        work_clock.now += 10.0
        work.complete(run, None)


def test_log_names_a_long_run(clock, capsys):
    with Progress("comparing", unit="runs") as progress_bar:
        while clock.now < 1000:
            clock.now += 1
            progress_bar.update(19, 0.95, ("mine:Lcfs at speed-up 16", clock.now))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "comparing: 95%, 19 runs, mine:Lcfs at speed-up 16 for 60 s, about 3 s left"
    assert len(lines) == 5  # after 1, 2, 4, 8 and 16 minutes
