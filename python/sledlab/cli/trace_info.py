"""The characterization of a trace as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.cli.options import show_json, show_table
from sledlab.lazy import later
from sledlab.show import terminal
from sledlab.show.wording import figure, pluralize, share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.traces.read import Trace


distance_text = later("sledlab.show.reuse_figure:distance_text")

MAX_DEVICES = 20
"""Most devices of a trace that are listed."""

SHOWN_GAP_S = 1
"""The length above which gaps between arrivals are shown; JSON has further lengths."""

MAX_HOURS = 10
"""Most hours of a trace that are listed: the busiest ones."""

KINDS = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
"""Kinds of operation in the singular and the plural."""


def print_info(trace: Trace, characteristics: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the characteristics of a trace as tables or as JSON."""
    info = {"file": trace.name, "format": trace.format, **characteristics}
    if as_json:
        show_json(info)
    else:
        show(info)


def show(info: Mapping[str, Any]) -> None:
    """Print the characterization `info`."""
    media_operations = info["reads"] + info["writes"]
    for note in info["notes"]:
        terminal.tell(f"note: {note}")
    terminal.say_sentences(
        f"{info['file']} ({info['format']}): {pluralize(info['requests'], 'request')} "
        f"in {info['span_s']:,.1f} s; "
        + ", ".join(pluralize(info[kinds], kind, kinds) for kind, kinds in KINDS.items())
    )
    if not media_operations:
        return
    show_table(("what", "value", "unit"), _rows(info), right=("value",))
    if len(info["devices"]) > 1:
        _show_devices(info["devices"])
    _show_sizes(info["sizes"])
    _show_caches(info)
    _show_reuse_distances(info["reuse_distances"])
    _show_hours(info["hours"])


def _rows(info: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    working_set, sequential, gaps = info["working_set"], info["sequentiality"], info["interarrival_ms"]
    rows = [
        ("rate", figure(info["rate_per_s"]), "requests/s"),
        ("reads", share(info["read_share"]), "of requests"),
        *([("metadata", share(info["metadata_share"]), "of requests")] if info["metadata_share"] else []),
        ("data read", figure(info["bytes_read"] / 1e6), "MB"),
        ("data written", figure(info["bytes_written"] / 1e6), "MB"),
        ("highest address", figure(info["end_block"] * 512 / 1e9), "GB"),
        ("aligned to 4 KiB", share(info["aligned_4k_share"]), "of requests"),
        ("working set, read", figure(working_set["read_4k_bytes"] / 1e6), "MB"),
        ("working set, written", figure(working_set["written_4k_bytes"] / 1e6), "MB"),
        ("working set, all", figure(working_set["all_4k_bytes"] / 1e6), "MB"),
        ("address span", figure(info["address_span_bytes"] / 1e9), "GB"),
        ("overwritten", share(info["overwrite_ratio"]), "of 4 KiB blocks written"),
        ("at the 50 hottest addresses", share(info["hot_50_write_share"]), "of writes"),
        ("sequential, one stream", share(sequential["one_stream_share"]), "of requests"),
        ("sequential, 32 streams", share(sequential["streams_32_share"]), "of requests"),
        ("near the previous request", share(sequential["local_share"]), "of requests"),
        ("mergeable reads", share(sequential["mergeable_read_pairs_share"]), "of requests"),
        ("between arrivals, mean", figure(gaps["mean"]), "ms"),
        ("between arrivals, median", figure(gaps["p50"]), "ms"),
        ("between arrivals, 99 %", figure(gaps["p99"]), "ms"),
        ("between arrivals, SCV", figure(gaps["scv"]), "1 is Poisson"),
    ]
    rows.extend(_gap_rows(info["arrival_gaps"]))
    for window in info["dispersion"]:
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
            meaning = f"{share(row['time_share'])} of the time; a device is idle for at most that"
            rows.append((name, f"{row['count']:,}", meaning))
    return rows


def _show_caches(info: Mapping[str, Any]) -> None:
    """Print hit ratios by cache size, and those of reads if a cache holds only written data."""
    written_reuse = info["written_reuse"]
    rows = [
        (f"{cache['cache_mb']}", share(cache["hit_ratio"]), share(written_cache["read_share"]))
        for cache, written_cache in zip(info["cache_hits"], written_reuse["caches"], strict=True)
    ]
    head = ("cache (MiB)", "hits", "reads that hit if it holds only writes")
    unlimited = ("unlimited", share(info["unlimited_hit_ratio"]), share(written_reuse["read_share"]))
    show_table(head, [*rows, unlimited], right=head)


def _show_reuse_distances(distances: Mapping[str, Any]) -> None:
    """Print shares of accesses by reuse distance."""
    read, write = distances["read"], distances["write"]
    rows = [
        (f"to {distance_text(read_bin['max_kb'])}", share(read_bin["share"]), share(write_bin["share"]))
        for read_bin, write_bin in zip(read["bins"], write["bins"], strict=True)
    ]
    rows.append(("farther", share(read["farther_share"]), share(write["farther_share"])))
    rows.append(("first access", share(read["first_share"]), share(write["first_share"])))
    head = ("reuse distance", "blocks read", "blocks written")
    show_table(head, rows, right=head[1:])


def _show_hours(hours: Sequence[Mapping[str, Any]]) -> None:
    """Print the busiest hours in order of time, if there are several."""
    if len(hours) == 1 and hours[0]["cylinders"] is None:
        return
    busiest = sorted(hours, key=lambda hour: -hour["requests"])[:MAX_HOURS]
    has_cylinders = hours[0]["cylinders"] is not None
    rows = [
        (
            f"{hour['from_s']:,}",
            f"{hour['requests']:,}",
            figure(hour["working_set_bytes"] / 1e6),
            figure(hour["address_span_bytes"] / 1e6),
            *([f"{hour['cylinders']:,}"] if has_cylinders else []),
        )
        for hour in sorted(busiest, key=lambda hour: hour["from_s"])
    ]
    head = (
        "hour from (s)",
        "requests",
        "working set (MB)",
        "span (MB)",
        *(["cylinders"] if has_cylinders else []),
    )
    show_table(head, rows, right=head)
    if len(hours) > MAX_HOURS:
        terminal.say(f"the {MAX_HOURS} busiest of {len(hours):,} hours with requests")


def _show_devices(devices: Sequence[Mapping[str, Any]]) -> None:
    head = ("device", "requests")
    rows = [(each["name"], f"{each['requests']:,}") for each in devices]
    show_table(head, rows[:MAX_DEVICES], right=("requests",))
    terminal.say_sentences(
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
    commonest = ", ".join(
        f"{size['op']} {size['kb']:g} KB {share(size['share'])}" for size in sizes["commonest"][:6]
    )
    terminal.say_sentences(f"most common: {commonest}")
