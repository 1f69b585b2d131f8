"""The power study: the energy of a device on a workload by its parts, and ways to save some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import later
from sledlab.runs.keywords import accept_options
from sledlab.studies.power.options import PowerArguments, PowerOptions
from sledlab.study.run import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Unpack

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.power.tables import PowerStudy

__all__ = ["STUDY", "power_study"]

STUDY: Study[PowerStudy] = Study(
    name="power",
    meaning="Study energy and power policies.",
    help="""Study the energy of devices and how to save it.

    Sweeps idle timeout, start-up time and load, compares power policies and strategies, and estimates battery
    life. STUDY is a study.toml of an earlier run; options override it.

    \b
    Examples:
      sledlab power --device mems-g2 --trace app.csv --out study
      sledlab power --device mems-g2 --workload hplajw --limit 20000
      sledlab power study/study.toml --battery-wh 5
    """,
    options=PowerArguments,
    plan=later("sledlab.studies.power.plan:plan"),
    conclude=later("sledlab.studies.power.tables:conclude"),
    device=False,
)


@accept_options(PowerOptions)
def power_study(
    source: Source | None = None,
    device: Sequence[Device] | Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[PowerOptions],
) -> PowerStudy:
    """Study the energy of devices on a workload: its parts, and what policies and strategies save.

    Args:
        source: A trace or a workload, as in `simulate`.
        device: One device or several, to see side by side.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables and report; an interrupted study resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below. `strategy` is one or several of `base`, `immediate`,
            `merging`, `subsector` and `all` of these together; the word `all` by itself means each one
            that the device knows. `speedup` is that of all sections but those on loads and on strategies.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> study = sl.power_study(
        ...     sl.workload("uniform", mean_interarrival_ms=20), "mems-g2", limit=300, load=[1], parallel=1
        ... )
        >>> energy = study.tables["timeouts"].sort("timeout_ms")["energy_j"]
        >>> energy.is_sorted()
        True
        >>> study.tables["break_even"]["break_even_ms"].item() < 1
        True
    """
    all_options: dict[str, Any] = {**options, "device": device}
    return STUDY.run(source, None, all_options, study=study, out=out, replace=replace)
