"""Hits of caches over a trace, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sledlab.cli.options import show_json, show_table
from sledlab.show.wording import figure, percent
from sledlab.traces.hits import POLICIES, HitRatios, hit_ratios

if TYPE_CHECKING:
    from sledlab.traces.read import Trace


def run(
    trace: Trace,
    policies: list[str] | None,
    cache_mb: list[float] | None,
    segment_kb: float,
    *,
    as_json: bool,
) -> None:
    """Computes hit ratios and prints them."""
    found = hit_ratios(trace, policies=policies or POLICIES, cache_mb=cache_mb, segment_kb=segment_kb)
    if as_json:
        show_json(found.to_dict())
        return
    click.echo(
        f"{found.segments:,} segments of {segment_kb:g} KB are used, {figure(found.footprint_mb)} MB. "
        "Hits by size of the cache:"
    )
    _show(found)


def _show(found: HitRatios) -> None:
    sizes = dict.fromkeys(row.cache_mb for row in found.rows)
    head = ("policy", *(f"{figure(mb)} MB" for mb in sizes))
    rows = {row.policy: [row.policy] for row in found.rows}
    for row in found.rows:
        rows[row.policy].append(percent(row.hit_ratio))
    show_table(head, rows.values(), right=head[1:])
