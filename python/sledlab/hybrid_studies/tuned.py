"""The caching disk that tuning chose, in words, as rows and as an experiment."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab import _native, settings, terminal, wording
from sledlab.comparison.plan import plain
from sledlab.devices import describe
from sledlab.hybrid_studies.requests import Requests
from sledlab.hybrid_studies.rows import share, size, starred
from sledlab.hybrid_studies.words import SAME
from sledlab.recording import EXPERIMENT, SUMMARY
from sledlab.wording import figure, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars

    from sledlab.hybrid_studies.plan import Plan, Point
    from sledlab.hybrid_studies.tables import Row

__all__ = ["SAME", "TunedHybrid", "experiment"]


@dataclass(frozen=True, repr=False)
class TunedHybrid:
    """The caching disk that suits a workload and a budget best.

    Attributes:
        title: What was tuned for what.
        choice: The run that was chosen: `mems_mb` in 2^20 bytes, `segment_kb` in 1024 bytes, `policy`,
            `mean_ms`, `p99_ms` and more.
        runs: Every run that was made, in order: `stage`, `requests`, and the columns of `choice`.
        baselines: What `disk` and `mems` alone do with the same requests.
        budget_mb: MEMS that was allowed, in 2^20 bytes.
        price_per_mb: What that costs each, where it was said.
        experiment: The choice as TOML, for `sledlab simulate`.
    """

    title: str
    choice: Row
    runs: Sequence[Row] = field(repr=False)
    baselines: Mapping[str, Row] = field(repr=False)
    budget_mb: float
    price_per_mb: float | None
    experiment: str = field(repr=False)

    @classmethod
    def of(
        cls,
        plan: Plan,
        choice: Row,
        runs: Sequence[Row],
        baselines: Mapping[str, Row],
        text: str,
        price_per_mb: float | None,
    ) -> TunedHybrid:
        """What tuning found for a plan."""
        config = plain(plan.base.to_toml())
        title = f"{wording.source_name(config)} on {wording.device_name(config)} with {plan.front.name}"
        return cls(title, choice, runs, baselines, plan.at_mb, price_per_mb, text)

    @property
    def table(self) -> polars.DataFrame:
        """The runs as a frame."""
        import polars

        return polars.DataFrame(self.runs, infer_schema_length=None)

    @property
    def answer(self) -> str:
        """The choice in a few sentences."""
        chosen, disk, mems = self.choice, self.baselines["disk"], self.baselines["mems"]
        mb = chosen["mems_mb"]
        cost = f" at a cost of {figure(mb * self.price_per_mb)}" if self.price_per_mb else ""
        store = f"{size(mb)} of MEMS{cost} in segments of {chosen['segment_kb']} KB under {chosen['policy']}"
        if chosen["mean_ms"] >= disk["mean_ms"]:
            return (
                f"MEMS does not pay within this budget: the disk alone answers in "
                f"{milliseconds(disk['mean_ms'])} on average, the best caching disk, {store}, in "
                f"{milliseconds(chosen['mean_ms'])}."
            )
        said = [
            f"Take {store}: {milliseconds(chosen['mean_ms'])} on average, "
            f"{figure(disk['mean_ms'] / chosen['mean_ms'], 2)} times as fast as the disk alone, with "
            f"{percent(mems['mean_ms'] / chosen['mean_ms'])} of the speed of MEMS alone."
        ]
        if mb < self.budget_mb:
            said.append(f"All {size(self.budget_mb)} would gain less than {percent(SAME)}.")
        if chosen["saturated"]:
            said.append("It could not keep up: such response times say how long the run was.")
        elif disk["saturated"]:
            said.append("The disk alone could not keep up, so its response time says how long the run was.")
        return " ".join(said)

    def write(self, directory: Path) -> None:
        """Writes the experiment, the runs and the summary into a directory."""
        (directory / EXPERIMENT).write_text(self.experiment, encoding="utf-8")
        self.table.write_parquet(directory / "runs.parquet")
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        (directory / SUMMARY).write_text(text + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what `--json` prints."""
        return {
            "answer": self.answer,
            "choice": self.choice,
            "budget_mb": self.budget_mb,
            "price_per_mb": self.price_per_mb,
            "baselines": dict(self.baselines),
            "runs": list(self.runs),
            "experiment": self.experiment,
        }

    def show(self, show: Any) -> None:
        """Hands the choice and the runs to `show`, a `rich` console's `print`."""
        show(f"[bold]{self.title}[/bold]")
        show(self.answer)
        show(terminal.table(HEAD, self._rows()))
        show(
            "[dim]times in ms; found: of the segments that the requests touch; * the queue kept growing[/dim]"
        )

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                run["stage"],
                f"{run['requests']:,}",
                size(run["mems_mb"]),
                f"{run['segment_kb']} KB",
                starred(run["policy"], run),
                share(run["hit_ratio"]) if run["stage"] != "less MEMS" else "–",
                figure(run["mean_ms"]),
                figure(run["p99_ms"]),
                "chosen" if run is self.choice else "",
            )
            for run in self.runs
        ]

    def __repr__(self) -> str:
        """The choice and the runs."""
        return terminal.as_text(self.show)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        said = f"<h4>{html.escape(self.title)}</h4><p>{html.escape(self.answer)}</p>"
        return said + terminal.html_table(HEAD, self._rows())


HEAD = ("requests", "of them", "MEMS", "segment", "policy", "found", "mean", "99 %", "")
"""Columns of the table of runs."""


def experiment(plan: Plan, point: Point) -> str:
    """A run as a file for `sledlab simulate`: devices by their presets, and what differs from them."""
    config = plain(plan.text(point))
    opener = plan.trace.opener
    assert isinstance(opener, Requests)
    config["replay"]["outside"] = opener.outside
    if "trace" in config:
        config["trace"]["devices"] = opener.devices
    for table, preset in (("device", plan.base.setting("device.preset")), ("front", plan.front.name)):
        if preset:
            known = describe(_native.Experiment().with_device(preset))
            changed = {key: value for key, value in config[table].items() if known[key] != value}
            config[table] = {"preset": preset, **changed}
    return settings.document(config)
