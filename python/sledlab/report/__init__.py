"""Reports: self-contained pages that open offline, on a phone and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab import __version__, plots, wording

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledlab.comparison import Comparison
    from sledlab.difference import Difference
    from sledlab.hybrid_studies import HybridStudy
    from sledlab.power_studies import PowerStudy
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


def write_comparison(comparison: Comparison, path: Path) -> Path:
    """Writes the page about a comparison: who is fastest and fairest at which load, and why."""
    from sledlab.comparison import figures, words

    races = [
        {
            "group": group,
            "figures": [
                (title, plots.to_svg(figures.load_curves(group, measure), title))
                for measure, title in COMPARED.items()
            ],
            "multiples": [
                (title, plots.to_svg(figures.each_alone(group, measure), f"{title}, one by one"))
                for measure, title in list(COMPARED.items())[:2]
                if len(group.curves) > len(group.highlighted) and len(group.speedups) > 1
            ],
        }
        for group in comparison.groups
    ]
    facts = _common_facts(comparison.config)
    return _write(path, "comparison.html.j2", race=comparison, races=races, words=words, facts=facts)


COMPARED = {
    "mean_ms": "Mean response time",
    "scv": "Fairness: SCV of response times",
    "p99_ms": "99 % answered within",
    "energy_per_request_mj": "Energy per request",
}
"""Measures that a comparison draws against the load, and their headings."""


def write_difference(difference: Difference, path: Path) -> Path:
    """Writes the page about the difference of two runs."""
    from sledlab.difference import figures, words

    drawn = [(title, plots.to_svg(figure, title)) for title, figure in figures.drawn(difference)]
    return _write(path, "difference.html.j2", found=difference, words=words, figures=drawn)


def write_power_study(study: PowerStudy, path: Path) -> Path:
    """Writes the page about a power study: where the energy goes and what would save some."""
    from sledlab.power_studies import figures, rows, words

    drawn = {
        (section, device): plots.to_svg(
            figures.draw(study, section, device), f"{function.__doc__} ({device})"
        )
        for section, function in figures.SECTIONS.items()
        for device in study.devices
    }
    facts = [*_common_facts(study.config)[1:-1], *words.facts(study), _common_facts(study.config)[-1]]
    return _write(path, "power.html.j2", study=study, words=words, texts=rows, figures=drawn, facts=facts)


def write_hybrid_study(study: HybridStudy, path: Path) -> Path:
    """Writes the page about a hybrid study: which store to build, and what it is worth."""
    from sledlab.hybrid_studies import figures, rows, words

    drawn = {
        section: plots.to_svg(figures.draw(study, section), function.__doc__ or section)
        for section, function in figures.SECTIONS.items()
        if study.rows[section]
    }
    facts = [*_common_facts(study.config)[1:-1], *words.facts(study), _common_facts(study.config)[-1]]
    return _write(path, "hybrid.html.j2", study=study, words=words, texts=rows, figures=drawn, facts=facts)


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
    page = environment.get_template(template).render(wording=wording, **values)
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


def _facts(result: Result) -> list[tuple[str, str]]:
    """What ran, as pairs of a name and a text."""
    operations = result.summary.get("operations", {})
    facts = _common_facts(result.config)
    at = next(index for index, (name, _) in enumerate(facts) if name == "replay")
    facts[at:at] = [
        ("scheduler", wording.scheduler_name(result.config)),
        ("power policy", wording.power_name(result.config)),
        ("merging", str(result.config.get("merge", {}).get("kind", "none"))),
        ("speed-up", f"{wording.speedup(result.config):g} times"),
    ]
    counts = ", ".join(f"{count:,} {name}" for name, count in operations.items() if count)
    return [*facts[:-1], ("operations", counts), ("seed", str(result.seed)), facts[-1]]


def _common_facts(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What all runs of a comparison have in common, and the version."""
    replay = config.get("replay", {})
    return [
        ("device", wording.device_name(config)),
        *_source_facts(config),
        ("replay", str(replay.get("mode", "open"))),
        ("warm-up", f"{int(replay.get('warmup') or 0):,} requests"),
        ("version", f"sledlab {__version__}"),
    ]


def _source_facts(config: Any) -> list[tuple[str, str]]:
    trace, workload = config.get("trace") or {}, config.get("workload") or {}
    if trace.get("file"):
        return [("trace", str(trace["file"]))]
    if workload:
        return [("workload", str(workload.get("kind", "")))]
    return [("requests", "from Python")]
