"""Schedulers compared over a range of loads: curves, a ranking, a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, overload

from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.model.choices import models, numbers, parse_word
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import ModelList, Numbers, Option, StorageOptions, StudyOptions
from sledlab.runs.parsing import pair
from sledlab.runs.parsing import words as word_list
from sledlab.studies.side_by_side import STUDY as OF_DEVICES
from sledlab.studies.side_by_side import SideBySideOptions, side_by_side
from sledlab.study.run import Study
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.compare.tables import Comparison
    from sledlab.studies.side_by_side.tables import SideBySide


def parse_vary(texts: Sequence[str]) -> dict[str, list[Any]] | None:
    """Return the values of each key from texts `KEY=V,V`: numbers, truth values or words.

    Raises:
        Error: A text has no value, or two texts have the same key.
    """
    values_by_key: dict[str, str] = {}
    for key, values in (pair("--vary", text) for text in texts):
        if key in values_by_key:
            raise Error(
                f"`--vary {key}` is given twice", remedy=f"use --vary {key}={values_by_key[key]},{values}"
            )
        values_by_key[key] = values
    return {
        key: [_plain(each) for each in word_list(values)] for key, values in values_by_key.items()
    } or None


def _plain(text: str) -> Any:
    try:
        value = parse_toml(f"value = {text}", "--vary")["value"]
    except Error:
        return text
    return value if isinstance(value, (int, float)) else text


class CompareOptions(StorageOptions, StudyOptions, total=False):
    """The options of a comparison of schedulers."""

    scheduler: Annotated[
        ModelList,
        Option(
            "Schedulers (sledlab list scheduler)",
            "A,B|all",
            "not oracles",
            parse=partial(
                models, "scheduler", all_names=later("sledlab.studies.compare.plan:race_schedulers")
            ),
        ),
    ]
    speedup: Annotated[
        Numbers,
        Option(
            "Replay S times as fast.",
            "S,S",
            "1,2,4,8,16; 1 if closed",
            parse=partial(numbers, "speed-up", above=True),
        ),
    ]
    vary: Annotated[
        Mapping[str, Sequence[Any] | Mapping[str, Any]],
        Option(
            "Vary settings: device.sleds=1,4; repeatable.",
            "KEY=V,V",
            read=parse_vary,
            parse=later("sledlab.studies.compare.vary:parse"),
            repeated=True,
        ),
    ]
    overload: Annotated[
        Literal["stop", "drain"],
        Option(
            "Overloaded runs: stop at the last arrival, or drain the queue.",
            "HOW",
            "stop",
            parse=partial(parse_word, "value of overload", known=("stop", "drain")),
            advanced=True,
        ),
    ]


__all__ = ["STUDY", "compare"]

read_tables = later("sledlab.study.file:read_tables")

STUDY: Study[Comparison] = Study(
    name="compare",
    meaning="Compare schedulers over a range of loads.",
    help="""Compare schedulers over a range of loads, or devices on the same requests.

    Several devices (--device A,B), traces or workloads replay the same requests, by default at one load and
    under FCFS. STUDY is a file with a table [study], such as study.toml of an earlier run, or the name of an
    experiment (sledlab list experiment); options override it.

    \b
    Examples:
      sledlab compare --device mems-g2 --trace app.csv --scheduler fcfs,sptf
      sledlab compare --device mems-g2 --workload uniform --limit 1e5 --seed 1..10
      sledlab compare --device mems-g2,atlas-10k --trace app.csv
    """,
    options=CompareOptions,
    plan=later("sledlab.studies.compare.plan:plan_runs"),
    conclude=later("sledlab.studies.compare.tables:conclude"),
    progress_caption="comparing",
    replaced_keys=("scheduler.kind", "replay.speedup"),
    has_sketch=True,
)


@overload
def compare(
    source: Source | None = ...,
    device: Device | None = ...,
    *,
    study: str | Path | None = ...,
    out: str | Path | None = ...,
    replace: bool = ...,
    **options: Unpack[CompareOptions],
) -> Comparison: ...
@overload
def compare(
    source: Source | Sequence[Source] | None,
    device: list[Any] | tuple[Any, ...],
    *,
    out: str | Path | None = ...,
    replace: bool = ...,
    **options: Unpack[SideBySideOptions],
) -> SideBySide: ...
@accept_options(SideBySideOptions, CompareOptions)
def compare(
    source: Source | Sequence[Source] | None = None,
    device: Device | list[Any] | tuple[Any, ...] | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Any,
) -> Comparison | SideBySide:
    """Compare schedulers: replay a trace or a workload under each of them, at several speeds.

    Calls `side_by_side`, with its options, for a list of devices, traces or workloads, and for the file of
    such a study.

    Args:
        source: A trace or a workload, as in `simulate`, or a list of trace files or of workloads.
        device: A device, its name or its file, or a list of them.
        study: A file from an `out` directory; other arguments override it.
        out: Directory for tables and report; an interrupted comparison resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below. `scheduler` is a scheduler, its name or a list,
            `all` is every scheduler that is compared by default; `vary` has further keys with their values,
            such as `{"device.sleds": [1, 4], "device.active_tips": [640, 1280]}`, which run in all
            combinations. A
            key may also be a name of your choice with named sets of settings, such as
            `{"saving": {"none": {}, "merging": {"merge.kind": "chains"}}}`.

    Returns:
        All results, as frames: a `Comparison`, or a `SideBySide` of devices.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.
        KeyboardInterrupt: Ctrl-C; completed runs are saved in `out`.

    Examples:
        >>> import sledlab as sl
        >>> race = sl.compare(
        ...     sl.workload("uniform"), "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 1.4],
        ...     limit=2000, parallel=1,
        ... )
        >>> race.runs.height
        4
        >>> race.runs.sort("mean_ms")["scheduler"].first()
        'sptf'
    """
    if isinstance(device, (list, tuple)) or isinstance(source, (list, tuple)) or _compares_devices(study):
        return side_by_side(source, device, study=study, out=out, replace=replace, **options)
    return STUDY.run(source, device, options, study=study, out=out, replace=replace)


def _compares_devices(study: str | Path | None) -> bool:
    """Whether the file of a study is one of `side_by_side`, which compares devices."""
    table = read_tables(study).get("study") if study is not None else None
    return isinstance(table, dict) and table.get("kind") == OF_DEVICES.name
