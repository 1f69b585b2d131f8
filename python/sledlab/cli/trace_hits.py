"""Hits of caches over a trace, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sledlab.cli.options import listed, number, show_json, show_table
from sledlab.hits import POLICIES, HitRatios, hit_ratios
from sledlab.wording import figure, percent

if TYPE_CHECKING:
    from sledlab.traces import Trace


def run(
    trace: Trace, policies: str | None, cache_mb: str | None, segment_kb: float, *, as_json: bool
) -> None:
    """Computes hit ratios and prints them."""
    found = hit_ratios(
        trace,
        policies=listed(policies) if policies else POLICIES,
        cache_mb=[number("--cache-mb", word) for word in listed(cache_mb)] if cache_mb else None,
        segment_kb=segment_kb,
    )
    if as_json:
        show_json({"segment_kb": segment_kb, "segments": found.segments, "hits": found.frame.to_dicts()})
        return
    click.echo(
        f"{found.segments:,} segments of {segment_kb:g} KB are used, {figure(found.footprint_mb)} MB. "
        "Hits by size of the cache:"
    )
    _show(found)


def _show(found: HitRatios) -> None:
    sizes = found.frame["cache_mb"].unique(maintain_order=True).to_list()
    head = ("policy", *(f"{figure(mb)} MB" for mb in sizes))
    rows = (
        (str(policy), *(percent(ratio) for ratio in group["hit_ratio"]))
        for (policy,), group in found.frame.group_by("policy", maintain_order=True)
    )
    show_table(head, rows, right=head[1:])
