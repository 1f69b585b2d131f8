"""What a hybrid study found out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import outcomes
from sledlab.hybrid_studies.tables import Row, tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars
    from matplotlib.figure import Figure

    from sledlab.hybrid_studies.plan import Plan, Point


@dataclass(frozen=True, repr=False)
class HybridStudy:
    """What MEMS in front of a disk is worth for a workload, and which form of it.

    Times are in ms; sizes of MEMS and memory in 2^20 bytes, segments in 1024 bytes. Displays itself in a
    notebook, and prints as the text of `sledlab hybrid`.

    Attributes:
        rows: Every table as plain rows, by name.
        config: What all runs have in common, as plain data: the disk with its controller cache.
        study: What was swept, and what the requests are like, as plain data.

    Example:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segments_kb": [8], "price_ratios": [4], "limit": 300, "jobs": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configurations=["disk", "mems", "mcd-all"], **few)
        >>> study.of("mems")["mean_ms"] < study.of("disk")["mean_ms"]
        True
        >>> study.plot("sizes").axes[0].get_xlabel()
        'segment (KB)'
    """

    rows: Mapping[str, list[Row]] = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    study: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of_plan(cls, plan: Plan, found: Mapping[Point, Mapping[str, Row]]) -> HybridStudy:
        """The study of the points found, each with its `row`."""
        from sledlab.comparison.plan import plain

        config = plain(plan.base.to_toml())
        said = {
            "front": plan.front.name,
            "mems_devices": int(plan.bases["mems"].setting("system.devices") or 1),
            "configurations": list(plan.configurations),
            "mems_mb": list(plan.sizes_mb),
            "segments_kb": list(plan.segments_kb),
            "price_ratios": list(plan.ratios),
            "replacement": list(plan.replacement),
            "at_mb": plan.at_mb,
            "at_segment_kb": plan.at_segment_kb,
            "hybrid": dict(plan.extras),
            "seeds": list(plan.seeds),
            "scheduler": config["scheduler"]["kind"],
            "requests": asdict(plan.facts),
        }
        rows = tables(plan, {point: each["row"] for point, each in found.items()})
        return cls(rows=rows, config=config, study=said)

    @cached_property
    def tables(self) -> dict[str, polars.DataFrame]:
        """A frame for each section.

        `configurations`, `techniques`, `sizes`, `traffic`, `replacement`, `hits` and `prices`; empty where
        a section was left out.
        """
        return outcomes.frames(self.rows)

    def of(self, configuration: str) -> Row | None:
        """The row of a configuration, if it was compared."""
        rows = self.rows["configurations"]
        return next((row for row in rows if row["configuration"] == configuration), None)

    def plot(self, section: str = "configurations") -> Figure:
        """Draws a section.

        Args:
            section: `configurations`, `sizes`, `techniques`, `traffic`, `replacement` or `prices`.

        Raises:
            Error: There is no such section, or it was left out.
        """
        from sledlab.hybrid_studies import figures

        return figures.draw(self, section)

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML page about the study to `path` and returns the path."""
        from sledlab import report

        return report.write_hybrid_study(self, Path(path))

    def write(self, directory: str | Path) -> None:
        """Writes all tables, the summary and the report into a directory."""
        outcomes.write(self, Path(directory))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what `--json` prints."""
        from sledlab.hybrid_studies import words

        return {
            "answer": words.answer(self),
            "study": dict(self.study),
            "tables": dict(self.rows),
            "config": dict(self.config),
        }

    def __repr__(self) -> str:
        """The answer and a table of the configurations."""
        from sledlab.hybrid_studies import printing

        return printing.as_text(self)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from sledlab.hybrid_studies import printing

        return printing.as_html(self)
