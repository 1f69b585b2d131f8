"""The characterization of a trace as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.cli.options import show_json, show_table
from sledlab.show import terminal
from sledlab.show.wording import figure, pluralize, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.traces.read import Trace


MAX_DEVICES = 20
"""Most devices of a trace that are listed."""

SHOWN_GAP_S = 1
"""The length above which gaps between arrivals are shown; JSON has further lengths."""

KINDS = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
"""Kinds of operation in the singular and the plural."""


def print_info(trace: Trace, *, as_json: bool) -> None:
    """Print the characterization of a trace as tables or as JSON."""
    result = {"file": trace.name, "format": trace.format, **trace.info()}
    if as_json:
        show_json(result)
    else:
        show(result)


def show(result: Mapping[str, Any]) -> None:
    """Prints the characterization `result`."""
    media = result["reads"] + result["writes"]
    for note in result["notes"]:
        terminal.tell(f"note: {note}")
    terminal.say(
        f"{result['file']} ({result['format']}): {pluralize(result['requests'], 'request')} "
        f"in {result['span_s']:,.1f} s; "
        + ", ".join(pluralize(result[kinds], kind, kinds) for kind, kinds in KINDS.items())
    )
    if not media:
        return
    show_table(("what", "value", "unit"), _rows(result), right=("value",))
    if len(result["devices"]) > 1:
        _show_devices(result["devices"])
    _show_sizes(result["sizes"])
    _show_caches(result)


def _rows(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    work, sequential, gaps = result["working_set"], result["sequentiality"], result["interarrival_ms"]
    rows = [
        ("rate", figure(result["rate_per_s"]), "requests/s"),
        ("reads", share(result["read_share"]), "of requests"),
        *([("metadata", share(result["metadata_share"]), "of requests")] if result["metadata_share"] else []),
        ("data read", figure(result["bytes_read"] / 1e6), "MB"),
        ("data written", figure(result["bytes_written"] / 1e6), "MB"),
        ("highest address", figure(result["end_block"] * 512 / 1e9), "GB"),
        ("aligned to 4 KiB", share(result["aligned_4k_share"]), "of requests"),
        ("working set, read", figure(work["read_4k_bytes"] / 1e6), "MB"),
        ("working set, written", figure(work["written_4k_bytes"] / 1e6), "MB"),
        ("working set, all", figure(work["all_4k_bytes"] / 1e6), "MB"),
        ("overwritten", share(result["overwrite_ratio"]), "of 4 KiB blocks written"),
        ("at the 50 hottest addresses", share(result["hot_50_write_share"]), "of writes"),
        ("sequential, one stream", share(sequential["one_stream_share"]), "of requests"),
        ("sequential, 32 streams", share(sequential["streams_32_share"]), "of requests"),
        ("near the previous request", share(sequential["local_share"]), "of requests"),
        ("mergeable reads", share(sequential["mergeable_read_pairs_share"]), "of requests"),
        ("between arrivals, mean", figure(gaps["mean"]), "ms"),
        ("between arrivals, median", figure(gaps["p50"]), "ms"),
        ("between arrivals, 99 %", figure(gaps["p99"]), "ms"),
        ("between arrivals, SCV", figure(gaps["scv"]), "1 is Poisson"),
    ]
    rows.extend(_gap_rows(result["arrival_gaps"]))
    for window in result["dispersion"]:
        if window["index"] is not None:
            name = f"dispersion over {window['window_s']} s"
            busiest = pluralize(window["busiest"], "request")
            rows.append((name, figure(window["index"]), f"1 is Poisson; busiest {busiest}"))
    return rows


def _gap_rows(gaps: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Rows about gaps between arrivals, which a device may spend serving earlier requests."""
    if gaps["longest_s"] is None:
        return []
    rows = [("between arrivals, longest", figure(gaps["longest_s"]), "s")]
    for row in gaps["long"]:
        if row["longer_than_s"] == SHOWN_GAP_S and row["time_share"] is not None:
            name = f"gaps above {row['longer_than_s']:g} s"
            time = f"{share(row['time_share'])} of the time; a device is idle for at most that"
            rows.append((name, f"{row['count']:,}", time))
    return rows


def _show_caches(result: Mapping[str, Any]) -> None:
    """Prints hit ratios by cache size, and those of reads if a cache holds only written data."""
    written = result["written_reuse"]
    rows = [
        (f"{cache['cache_mb']}", share(cache["hit_ratio"]), share(recent["read_share"]))
        for cache, recent in zip(result["cache_hits"], written["caches"], strict=True)
    ]
    head = ("cache (MiB)", "hits", "reads that hit if it holds only writes")
    unlimited = ("unlimited", share(result["unlimited_hit_ratio"]), share(written["read_share"]))
    show_table(head, [*rows, unlimited], right=head)


def _show_devices(devices: Sequence[Mapping[str, Any]]) -> None:
    head = ("device", "requests")
    rows = [(each["name"], f"{each['requests']:,}") for each in devices]
    show_table(head, rows[:MAX_DEVICES], right=("requests",))
    terminal.say(
        f"The trace has {len(devices):,} devices. Choose one: sledlab trace slice FILE OUT --device NAME. "
        "Or place them one after another: --set trace.devices=place."
    )


def _show_sizes(sizes: Mapping[str, Any]) -> None:
    columns = ("mean_kb", "p50_kb", "p90_kb", "p99_kb", "max_kb")
    rows = [
        (name, f"{sizes[name]['requests']:,}", *(figure(sizes[name][column]) for column in columns))
        for name in ("all", "read", "write")
        if sizes[name]["requests"]
    ]
    head = ("size (KB)", "requests", "mean", "median", "90 %", "99 %", "largest")
    show_table(head, rows, right=head[1:])
    common = ", ".join(
        f"{size['op']} {size['kb']:g} KB {share(size['share'])}" for size in sizes["commonest"][:6]
    )
    terminal.say(f"most common: {common}")
