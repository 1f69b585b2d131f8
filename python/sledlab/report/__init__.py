"""Reports: self-contained pages that open offline, on a phone and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab import comparison, plots, wording

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.result import Result
    from sledlab.seek_maps import SeekMap


def write_run(result: Result, path: Path) -> Path:
    """Writes the page about one run."""
    figures = {
        kind: plots.to_svg(plots.draw(result, kind), function.__doc__ or kind)
        for kind, function in plots.KINDS.items()
    }
    return _write(
        path, "run.html.j2", result=result, figures=figures, facts=_facts(result), key=_key_figures(result)
    )


def write_comparison(runs: Sequence[Result], path: Path) -> Path:
    """Writes the page that sets runs of one trace side by side: schedulers at several speed-ups.

    Args:
        runs: At least one result; runs of one scheduler in order of speed-up.
        path: The page to write.
    """
    charts = (
        ("Mean response time", "mean response time (ms)", True, lambda run: run.response_time.mean),
        ("99 % answered within", "99th percentile (ms)", True, lambda run: run.response_time.p99),
        ("Queue length", "mean requests waiting", True, lambda run: run.queue_length.mean),
        (
            "Energy per request",
            "energy per request (mJ)",
            False,
            lambda run: run.energy.total / run.count * 1000,
        ),
    )
    figures = [
        (title, plots.to_svg(plots.comparison(runs, value, label, log=log), title))
        for title, label, log, value in charts
    ]
    return _write(path, "comparison.html.j2", runs=runs, figures=figures, facts=_facts(runs[0], shared=True))


def write_seek_map(found: SeekMap, path: Path) -> Path:
    """Writes the page about the seek times of a device."""
    figure = plots.to_svg(plots.seek_map(found), "seek-time map")
    return _write(path, "seek_map.html.j2", found=found, figure=figure)


def _write(path: Path, template: str, **values: Any) -> Path:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("sledlab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(template).render(wording=wording, comparison=comparison, **values)
    path.write_text(page, encoding="utf-8")
    return path


def _key_figures(result: Result) -> list[tuple[str, str, str]]:
    """The five numbers at the top: name, value, remark."""
    times = result.response_time
    half = times.ci95_half_width
    spread = (
        f"± {wording.milliseconds(half)} at 95 %" if half else f"median {wording.milliseconds(times.p50)}"
    )
    return [
        ("mean response", wording.milliseconds(times.mean), spread),
        ("99 % within", wording.milliseconds(times.p99), f"slowest {wording.milliseconds(times.max)}"),
        (
            "throughput",
            f"{wording.figure(result.throughput_iops)} /s",
            f"{wording.figure(result.throughput_mb_s)} MB/s",
        ),
        (
            "busy",
            wording.percent(result.utilization),
            f"queue {wording.figure(result.queue_length.mean)} on average",
        ),
        (
            "energy",
            wording.energy(result.energy.total),
            f"{wording.energy(result.energy.total / max(result.count, 1))} per request",
        ),
    ]


def _facts(result: Result, *, shared: bool = False) -> list[tuple[str, str]]:
    """What ran, as pairs of a name and a text; `shared` leaves out what differs between runs."""
    config = result.config
    replay = config.get("replay", {})
    operations = result.summary.get("operations", {})
    facts = [("device", wording.device_name(config)), *_source_facts(config)]
    if not shared:
        facts += [
            ("scheduler", wording.scheduler_name(config)),
            ("speed-up", f"{wording.speedup(config):g} times"),
        ]
    facts += [
        ("replay", str(replay.get("mode", "open"))),
        ("warm-up", f"{int(replay.get('warmup') or 0):,} requests"),
        ("operations", ", ".join(f"{count:,} {name}" for name, count in operations.items() if count)),
        ("seed", str(result.seed)),
        ("version", f"sledlab {result.version}"),
    ]
    return facts


def _source_facts(config: Any) -> list[tuple[str, str]]:
    trace, workload = config.get("trace") or {}, config.get("workload") or {}
    if trace.get("file"):
        return [("trace", str(trace["file"]))]
    if workload:
        return [("workload", str(workload.get("kind", "")))]
    return [("requests", "from Python")]
