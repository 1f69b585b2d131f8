"""The experiments of figures that readers compute: runs of requests, and jobs on work records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sledlab as sl
from sledlab.model.settings import document, word
from sledlab.reproduction.assumption import STUDY, assumptions
from sledlab.reproduction.figure import FigureRun
from sledlab.studies.compare import STUDY as COMPARE
from sledlab.studies.smart import STUDY as SMART
from sledlab.study.frame import make_plan
from sledlab.study.plan import Plan, explicit_tables

from .paths import EXPERIMENTS
from .simulator import experiment

SPEEDUP = f"{STUDY}speedup"
SCALE_FACTOR = "scale_factor="


class Part:
    """An experiment of an explorable figure: its plan, and the command that runs it."""

    def __init__(self, run: FigureRun, declaration: Mapping[str, Any]) -> None:
        """Plan the runs of an experiment."""
        self.run = run
        self.options = {**run.options, **declaration.get("options", {})}
        self.options.pop("seed", None)
        self.stand_in = declaration["stand_in"] if run.trace else {}
        self.plan = self._plan(self.options)

    @property
    def base(self) -> Any:
        """An experiment of the part, without the settings of its cases."""
        return next(iter(self.plan.bases.values()))

    @property
    def workload(self) -> str:
        """The workload that replaces that of the experiment; empty for none."""
        return str(self.stand_in.get("workload", self.run.workload))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the run besides those in the experiment's file."""
        return {**self.stand_in.get("settings", {}), **self.options.get("settings", {})}

    def _plan(self, options: Mapping[str, Any]) -> Plan:
        source = sl.workload(self.workload) if self.workload else None
        file = EXPERIMENTS / f"{self.run.experiment}.toml"
        return make_plan(COMPARE, source, None, {**options, "settings": self.settings}, file)

    def cases(self) -> Iterator[dict[str, Any]]:
        """The runs with one seed: labels and settings; also those at loads of the old reading."""
        paper = self.run.experiment.partition("-")[0]
        former = next(
            (
                each
                for each in assumptions(paper)
                if SPEEDUP in each.former and each.applies_to(self.run.place)
            ),
            None,
        )
        plans = [self.plan]
        if former:
            plans.append(self._plan({**self.options, "speedup": former.former[SPEEDUP]}))
        cases = {case.settings: case for plan in plans for case in plan.cases}
        for case in cases.values():
            yield {"labels": dict(case.labels), "settings": [list(pair) for pair in case.settings]}

    def to_dict(self) -> dict[str, Any]:
        """The part as plain data."""
        words = [
            word_text
            for name, value in self.options.items()
            if name != "settings"
            for word_text in option_words(name, value)
        ]
        part = {
            "place": self.run.place,
            "toml": self.base.explicit_toml(),
            "cases": list(self.cases()),
            "command": ["sledlab", "compare", self.run.experiment],
            "words": words,
            "workload": self.workload,
            "settings": {key: word(value) for key, value in self.settings.items()},
        }
        if self.stand_in:
            part["traced_toml"] = document(without_table(self.base, "workload"))
        return part


class JobPart(Part):
    """The phases of a job that an explorable figure shows, replayed from work records of several sizes."""

    def __init__(self, run: FigureRun, declaration: Mapping[str, Any]) -> None:
        """Plan the replays, and record the job with each size of its data."""
        self.phases = declaration["phases"]
        self.job_settings = [
            each
            for each in experiment(run.experiment)["study"]["job_settings"]
            if not each.startswith(SCALE_FACTOR)
        ]
        self.plans = {size: self._job_plan(run, size) for size in declaration["sizes"]}
        super().__init__(run, declaration)

    def _plan(self, options: Mapping[str, Any]) -> Plan:
        return next(iter(self.plans.values()))

    def _job_plan(self, run: FigureRun, size: float) -> Plan:
        options = {"job_settings": [f"{SCALE_FACTOR}{size}", *self.job_settings]}
        return make_plan(SMART, None, None, options, EXPERIMENTS / f"{run.experiment}.toml")

    def to_dict(self) -> dict[str, Any]:
        """The part as plain data."""
        cases = [
            {
                "labels": dict(case.labels),
                "settings": [list(pair) for pair in case.settings],
                "toml": document(without_table(self.plan.bases[case.base], "work")),
                "record": str(case["nodes"]),
            }
            for case in self.plan.cases
        ]
        return {
            "place": self.run.place,
            "toml": "",
            "cases": cases,
            "command": ["sledlab", "smart", self.run.experiment],
            "words": [],
            "workload": "",
            "settings": {},
            "job_settings": self.job_settings,
            "records": {f"{size:g}": self._records(plan) for size, plan in self.plans.items()},
        }

    def _records(self, plan: Plan) -> dict[str, str]:
        """The phases of a job's work records, as text by number of nodes."""
        files = {str(case["nodes"]): plan.bases[case.base].setting("work.file") for case in plan.cases}
        return {
            nodes: cut_record(Path(file).read_text(encoding="utf-8"), self.phases)
            for nodes, file in files.items()
        }


def cut_record(text: str, phases: Sequence[str]) -> str:
    """Return the first phases of a work record, which phases after them do not change."""
    head, *lines = text.splitlines()
    header = {key: value for key, value in json.loads(head).items() if key not in ("answer", "lines")}
    kept_lines = [line for line in lines if json.loads(line).get("phase") in phases]
    return "\n".join([json.dumps(header, separators=(",", ":")), *kept_lines, ""])


def without_table(base: Any, removed: str) -> dict[str, Any]:
    """The settings of an experiment without a table."""
    return {name: table for name, table in explicit_tables(base).items() if name != removed}


def option_words(name: str, value: Any) -> Iterator[str]:
    """An option of the run as words of a command."""
    if name == "vary":
        for key, values in value.items():
            yield from ("--vary", f"{key}={','.join(map(word, values))}")
    else:
        values = value if isinstance(value, (list, tuple)) else [value]
        yield from (f"--{name.replace('_', '-')}", ",".join(map(word, values)))
