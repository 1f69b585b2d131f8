"""The options of a study of smart storage."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - annotations are read at run time
from functools import partial
from pathlib import Path  # noqa: TC003 - as above
from typing import Annotated

from sledlab.model.choices import distinct_models, parse_words, several, texts, whole_numbers
from sledlab.runs.options import (
    Devices,
    ExecutorOptions,
    ModelList,
    NodeOptions,
    NodeStoreOptions,
    Numbers,
    Option,
    PluginOptions,
    PriceOptions,
)
from sledlab.runs.parsing import names, words
from sledlab.runs.systems import parse_systems

PLACES = ("nodes", "host")
"""Places where the work of a job is done."""

NODE_RANGE = "2..1024"
"""The range of nodes in which the smallest cluster is searched for, by default."""


class SmartOptions(NodeOptions, NodeStoreOptions, PriceOptions, ExecutorOptions, PluginOptions, total=False):
    """The options of a study of smart storage, without work records and devices."""

    job: Annotated[ModelList, Option("Jobs (sledlab list job) or Python files.", "NAME,FILE", parse=several)]
    query: Annotated[
        Sequence[str | Path] | str | Path,
        Option(
            "TPC-H queries q1 to q22, tpch for all, or SQL files.",
            "NAME,FILE",
            read=words,
            parse=several,
        ),
    ]
    tables: Annotated[
        str | Path, Option("Tables for queries  [default: generated TPC-H]", "DIR", advanced=True)
    ]
    node_count: Annotated[
        Numbers,
        Option(
            "Numbers of nodes.",
            "N,N",
            "4,8,16,32",
            parse=partial(whole_numbers, "number of nodes"),
        ),
    ]
    job_settings: Annotated[
        Sequence[str],
        Option(
            "Parameter of jobs or data, such as scale_factor=0.1.",
            "KEY=VALUE",
            flag="job-set",
            parse=several,
            repeated=True,
        ),
    ]
    network: Annotated[
        ModelList,
        Option(
            "Networks (sledlab list network) or files.",
            "A,B",
            "fast-ethernet",
            parse=partial(distinct_models, "network"),
        ),
    ]
    page_kb: Annotated[
        Numbers,
        Option(
            "Page sizes.",
            "KB,KB",
            "those of the node",
            parse=partial(whole_numbers, "page size in KB", may_be_empty=True),
            advanced=True,
        ),
    ]
    at: Annotated[
        Sequence[str] | str,
        Option(
            "Where jobs run: nodes, host.",
            "A,B",
            "nodes",
            read=words,
            parse=partial(parse_words, "place of work", "places of work", known=PLACES),
            advanced=True,
        ),
    ]


class SmartArguments(SmartOptions, total=False):
    """All arguments of a study of smart storage."""

    work: Annotated[
        Sequence[str | Path] | str | Path,
        Option("Work records instead of jobs.", "FILE,FILE", read=names, parse=texts),
    ]
    device: Annotated[
        Devices,
        Option(
            "Stores of nodes: mems-g2,disk+flash:8GB.",
            "NAME|FILE,..",
            parse=parse_systems,
        ),
    ]
