"""`sledlab trace hits`: hit ratios of caches, and miss-ratio curves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.completion import trace_or_file
from sledlab.cli.options import (
    REPLACE,
    json_option,
    option,
    options,
    quiet_option,
    seed_option,
    show_json,
    show_table,
    static_option,
)
from sledlab.cli.trace_files import pass_trace, reading_option_group
from sledlab.display import find_presentation
from sledlab.errors import Error
from sledlab.files import check_writable
from sledlab.lazy import later
from sledlab.results import REPORT
from sledlab.runs.options import Option
from sledlab.runs.parsing import KIB, MB, number, size, sizes, words
from sledlab.show import figure_files, terminal

if TYPE_CHECKING:
    from sledlab.traces.read import Trace

add_location = later("sledlab.model.error_location:add_location")
figure = later("sledlab.show.wording:figure")
share = later("sledlab.show.wording:share")
miss_ratio_curves = later("sledlab.studies.miss_ratio:miss_ratio_curves")
hit_ratios_of_sizes = later("sledlab.traces.hits:hit_ratios")

CURVE_OPTIONS = {
    "sample": Option("Share of the segments to sample; 1 for none.", "SHARE", read=number),
    "device": Option("Device behind the cache: also simulate caches of some sizes.", "NAME|FILE"),
    "out": Option("Directory for tables and report.", "DIR"),
    **REPLACE,
    "save": Option("Write a figure of the misses: .svg, .png or .pdf.", "FILE"),
}
"""Options of `trace hits --curve`."""


@click.command("hits")
@click.argument("file", shell_complete=trace_or_file)
@options(
    {
        "replacement": Option(
            "Replacement policies (sledlab list replacement), or all.",
            "P,P,..",
            "all",
            read=words,
        ),
        "cache_mb": Option(
            "Cache sizes.", "MB,MB", "1 to 50 % of the footprint", read=partial(sizes, unit=MB)
        ),
        "admit": Option("Requests whose segments enter the cache: all | writes.", "KIND", "all"),
    }
)
@option(
    "--segment-kb",
    metavar="KB",
    help="Segment size: unit of loading and eviction.  [default: 64; 8 with --curve]",
)
@option("--curve", "is_curve", is_flag=True, help="Compute miss-ratio curves, of 40 sizes by default.")
@options(CURVE_OPTIONS)
@static_option
@seed_option
@reading_option_group
@quiet_option
@json_option
@pass_trace
def hits(
    trace: Trace,
    replacement: list[str] | None,
    cache_mb: list[float] | None,
    admit: str | None,
    segment_kb: str | None,
    seed: int,
    *,
    is_curve: bool,
    as_json: bool,
    **curve_options: Any,
) -> None:
    """Compute hit ratios by replacement policy and cache size.

    With --curve, misses of 40 sizes up to the size of all segments used: of lru exactly in one pass, of other
    policies exactly for up to 400,000 uses of segments and else from a sample, with its error.

    \b
    Examples:
      sledlab trace hits app.csv --replacement lru,arc,belady --cache-mb 16,64,256
      sledlab trace hits app.csv --curve --replacement lru,arc,belady --out curves
      sledlab trace hits app.csv --curve --device hdd-20tb
    """
    segment = {} if segment_kb is None else {"segment_kb": size(segment_kb, KIB)}
    caches = {"replacement": replacement or "all", "cache_mb": cache_mb, "admit": admit or "all", **segment}
    if is_curve:
        _show_curves(trace, caches | {"seed": seed}, curve_options, as_json=as_json)
        return
    for name, value in curve_options.items():
        if value is not None:
            raise Error(f"--{name} needs --curve", remedy=f"add --curve, or omit --{name}")
    hit_ratios = hit_ratios_of_sizes(trace, **caches)
    if as_json:
        show_json(hit_ratios.to_dict())
        return
    entering = "" if hit_ratios.admit == "all" else f", which only {hit_ratios.admit} enter"
    terminal.say_sentences(
        f"{hit_ratios.segments:,} segments of {hit_ratios.segment_kb:g} KB are used, "
        f"{figure(hit_ratios.footprint_mb)} MB. Hits by size of the cache{entering}:"
    )
    cache_sizes_mb = dict.fromkeys(row.cache_mb for row in hit_ratios.rows)
    head = ("policy", *(f"{figure(mb)} MB" for mb in cache_sizes_mb))
    cells_by_policy = {row.policy: [row.policy] for row in hit_ratios.rows}
    for row in hit_ratios.rows:
        cells_by_policy[row.policy].append(share(row.hit_ratio))
    show_table(head, cells_by_policy.values(), right=head[1:])


def _show_curves(
    trace: Trace, caches: dict[str, Any], curve_options: dict[str, Any], *, as_json: bool
) -> None:
    """Compute and print miss-ratio curves."""
    save, out = curve_options.pop("save"), curve_options["out"]
    if save is not None:
        figure_files.check_name(save)
        check_writable(Path(save))
    with add_location(None, {"device": curve_options["device"]}):
        curves = miss_ratio_curves(
            trace, **caches, **curve_options | {"replace": bool(curve_options["replace"])}
        )
    if save is not None:
        figure_files.write(curves.plot(), save)
    if as_json:
        show_json(curves.to_dict())
        return
    find_presentation(curves).show(curves)
    if out is not None:
        terminal.note(f"report: {Path(out) / REPORT}")
