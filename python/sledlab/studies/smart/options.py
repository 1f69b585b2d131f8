"""The options of a study of smart storage."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - annotations are read at run time
from pathlib import Path  # noqa: TC003 - as above
from typing import Annotated

from sledlab.runs.options import (
    Devices,
    Furnished,
    Numbers,
    Option,
    Parallel,
    Priced,
    Several,
    Stored,
    Trusted,
)
from sledlab.runs.written import words

FEWEST_TO_MOST = "2..1024"
"""The range of nodes in which the smallest cluster is searched for, by default."""


class SmartOptions(Furnished, Stored, Priced, Parallel, Trusted, total=False):
    """The options of a study of smart storage, without records and devices."""

    job: Annotated[Several, Option("Jobs (sledlab list job) or Python files.", "NAME,FILE")]
    query: Annotated[
        Sequence[str | Path] | str | Path,
        Option(
            "TPC-H queries q1 to q22, tpch for all, or SQL files.",
            "NAME,FILE",
            read=words,
        ),
    ]
    tables: Annotated[
        str | Path, Option("Tables for queries  [default: generated TPC-H]", "DIR", advanced=True)
    ]
    nodes: Annotated[Numbers, Option("Numbers of nodes.", "N,N", "4,8,16,32")]
    job_settings: Annotated[
        Sequence[str],
        Option(
            "Parameter of jobs or data, such as scale_factor=0.1.",
            "KEY=VALUE",
            flag="job-set",
            repeated=True,
        ),
    ]
    networks: Annotated[Several, Option("Networks to sweep.", "A,B", "fast-ethernet")]
    pages_kb: Annotated[
        Numbers, Option("Page sizes to sweep.", "KB,KB", "those of the node", flag="page-kb", advanced=True)
    ]
    places: Annotated[
        Sequence[str],
        Option("Where jobs run: nodes, host.", "A,B", "nodes", flag="at", read=words, advanced=True),
    ]


class SmartArguments(SmartOptions, total=False):
    """All arguments of a study of smart storage."""

    records: Annotated[Sequence[str], Option("Work records.", "FILE,FILE", read=words)]
    devices: Annotated[Devices, Option("Devices of the nodes: mems-g2,hp-c2490a.", "A,B,C", read=words)]
