"""A hybrid study as rows of text: tables of the terminal, of notebooks and of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.wording import figure, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.hybrid_studies.outcome import HybridStudy
    from sledlab.hybrid_studies.tables import Row

    Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def size(mb: float) -> str:
    """Room in 2^20 bytes, with the unit that reads best.

    Example:
        >>> [size(x) for x in (64.0, 25.6, 3072.0)]
        ['64 MB', '25.6 MB', '3 GB']
    """
    return f"{mb / 1024:g} GB" if mb >= 1024 and mb % 1024 == 0 else f"{mb:.3g} MB"


def times(factor: float | None) -> str:
    """A ratio; a dash where there is none."""
    return "–" if factor is None else f"{figure(factor, 2)} ×"


def share(value: float | None) -> str:
    """A share as a percentage; a dash where there is none."""
    return "–" if value is None else percent(value)


def starred(label: str, row: Row) -> str:
    """A label with a star where the queue kept growing."""
    return f"{label} *" if row["saturated"] else label


def configurations(study: HybridStudy) -> Table:
    """Response by configuration."""
    head = ("", "mean", "median", "95 %", "99 %", "a read", "a write", "faster than DISK", "of MEMS")
    return head, [
        (
            starred(row["label"], row),
            *(figure(row[name]) for name in ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "read_ms", "write_ms")),
            times(row["faster_than_disk"]),
            share(row["share_of_mems"]),
        )
        for row in study.rows["configurations"]
    ]


def techniques(study: HybridStudy) -> Table:
    """What each technique of the caching disk saves."""
    head = ("", "mean", "99 %", "a read", "a write", "less than NONE")
    return head, [
        (
            starred(row["label"], row),
            *(figure(row[name]) for name in ("mean_ms", "p99_ms", "read_ms", "write_ms")),
            f"{row['saved'] * 100:.1f} %".replace("-", "−"),
        )
        for row in study.rows["techniques"]
    ]


def sizes(study: HybridStudy) -> Table:
    """Mean response by size and segment."""
    rows = study.rows["sizes"]
    columns = sorted({row["mems_mb"] for row in rows})
    found = {(row["segment_kb"], row["mems_mb"]): row for row in rows}
    head = ("segment", *(size(mb) for mb in columns))
    segments: Sequence[int] = sorted({row["segment_kb"] for row in rows})
    return head, [
        (
            f"{segment} KB",
            *(starred(figure(found[segment, mb]["mean_ms"]), found[segment, mb]) for mb in columns),
        )
        for segment in segments
    ]


def hits(study: HybridStudy) -> Table:
    """What of the configurations' requests MEMS and cache held."""
    head = ("", "cache, reads", "MEMS, reads", "MEMS, writes", "superseded", "live room")
    names = ("cache_read_hits", "mems_read_hits", "mems_write_hits", "superseded", "live_share")
    return head, [
        (row["label"], *(share(row[name]) for name in names)) for row in study.rows["configurations"]
    ]


def traffic(study: HybridStudy) -> Table:
    """What the devices were asked for."""
    head = ("", "device", "reads", "MB read", "mean read", "writes", "MB written", "mean write")
    return head, [
        (
            row["label"],
            row["device"],
            f"{row['reads']:,.0f}",
            f"{row['read_mb']:,.0f}",
            kilobytes(row["read_kb"]),
            f"{row['writes']:,.0f}",
            f"{row['written_mb']:,.0f}",
            kilobytes(row["write_kb"]),
        )
        for row in study.rows["traffic"]
    ]


def kilobytes(value: float | None) -> str:
    """A mean size."""
    return "–" if value is None else f"{figure(value)} KB"


def replacement(study: HybridStudy) -> Table:
    """The replacement policies: what they hold of the trace, and the response they give."""
    head = ("policy", "mean", "99 %", "found on MEMS", "found, of the trace alone")
    measured = {row["policy"]: row for row in study.rows["replacement"]}
    out: list[tuple[str, ...]] = []
    for bound in study.rows["hits"]:
        row = measured.get(bound["policy"])
        out.append(
            (
                starred(bound["policy"], row) if row else bound["policy"],
                figure(row["mean_ms"] if row else None),
                figure(row["p99_ms"] if row else None),
                share(row["mems_read_hits"] if row else None),
                share(bound["hit_ratio"]),
            )
        )
    return head, out


def prices(study: HybridStudy) -> Table:
    """Memory of equal cost against the caching disk."""
    head = ("memory over MEMS, price", "memory", "DISK-RAM", "MCD ALL", "MCD ALL is faster")
    return head, [
        (
            f"{row['ratio']:g}",
            size(row["memory_mb"]),
            starred(figure(row["mean_ms"]), row),
            figure(row["mcd_ms"]),
            times(row["mcd_faster"]),
        )
        for row in study.rows["prices"]
    ]
