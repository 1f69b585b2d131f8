"""The sets of assumptions: that experiments follow them, and that a number spent on a fit is no evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

import pytest
from sledlab.reproduction.assumption import STUDY, Assumption, assumptions
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import FITTED, claims

from sledlab_papers.runs import PlannedExperiment
from sledlab_papers.sensitivity import choices
from sledlab_papers.simulator import catalog, experiment, parameters
from sledlab_papers.smart.mining import CLOCK_RATIO, MAX_CLOCK_RATIO, MIN_CLOCK_RATIO
from sledlab_papers.topics import TOPICS

MAX_ASSUMPTIONS = 15


def _entries() -> list[Assumption]:
    return [each for paper in PAPERS for each in assumptions(paper)]


def _primary_experiments() -> list[PlannedExperiment]:
    """Experiments behind all numbers; those of other values of a choice depart from the set on purpose."""
    experiments = []
    for name, topic in TOPICS.items():
        endings = {ending for choice in choices(name) for value in choice.values for ending in value.reading}
        swept_places = {f"{planned.place}{ending}" for planned in topic.plan for ending in endings}
        experiments += [planned for planned in topic.plan if planned.place not in swept_places]
    return experiments


def values_in_effect(planned: PlannedExperiment, key: str) -> list[str]:
    """The values of a key with which an experiment runs: from its options, what it varies, or its file."""
    tables = experiment(planned.experiment)
    pairs = list(zip(planned.options[::2], planned.options[1::2], strict=True))
    if key.startswith(STUDY):
        name = key.removeprefix(STUDY)
        option_name = "--job-set" if name == "job_settings" else f"--{name.replace('_', '-')}"
        option_values = [value for option, value in pairs if option == option_name]
        return [_text(",".join(option_values).split(",") if option_values else tables["study"].get(name, ""))]
    if {"--workload", "--trace"}.intersection(planned.options):
        tables.pop("workload", None)  # replaced as a whole
    set_values = [
        value.partition("=")[2]
        for option, value in pairs
        if option == "--set" and value.startswith(f"{key}=")
    ]
    base_value = _text(_nested_value(tables, key))
    varied_values = list(_varied_values(tables["study"].get("vary", {}), key, base_value))
    return set_values or varied_values or [base_value]


def _varied_values(axes: Mapping[str, Any], key: str, base_value: str) -> Iterator[str]:
    for name, axis in axes.items():
        if name == key:
            yield from map(_text, axis)
        elif isinstance(axis, dict) and any(key in settings for settings in axis.values()):
            yield from (_text(settings[key]) if key in settings else base_value for settings in axis.values())


def _nested_value(tables: Mapping[str, Any], key: str) -> Any:
    """The value of a key in a file; an empty table where the file lacks it."""
    return reduce(lambda table, name: table.get(name, {}), key.split("."), tables)


def _text(value: Any) -> str:
    """A value as it is compared: numbers by value, truth values and lists as in an experiment."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


@pytest.mark.parametrize("paper", PAPERS)
def test_set_is_short_and_names_claims_of_its_paper(paper: str) -> None:
    entries = assumptions(paper)
    assert 1 <= len(entries) <= MAX_ASSUMPTIONS
    assert len({each.name for each in entries}) == len(entries)
    for entry in entries:
        assert all(claims()[each].paper == paper for each in (*entry.claims, *entry.fitted_to)), entry.name
        assert bool(entry.fitted_to) <= entry.is_fitted, entry.name
        assert set(entry.former) <= set(entry.settings), entry.name


@pytest.mark.parametrize("entry", _entries(), ids=lambda entry: f"{entry.experiments[0]}-{entry.name}")
def test_experiments_follow_the_set(entry: Assumption) -> None:
    experiments = _primary_experiments()
    for pattern in entry.experiments:
        assert any(fnmatchcase(each.place, pattern) for each in experiments), pattern
    for planned in (each for each in experiments if entry.applies_to(each.place)):
        for key, value in entry.settings.items():
            assert _text(value) in values_in_effect(planned, key), (planned.place, key)


@pytest.mark.parametrize("paper", PAPERS)
def test_assumption_covers_all_experiments_with_its_value(paper: str) -> None:
    for planned in (each for each in _primary_experiments() if each.place.startswith(f"{paper}-")):
        covered_keys = {
            key for each in assumptions(paper) if each.applies_to(planned.place) for key in each.settings
        }
        for entry in assumptions(paper):
            for key in entry.settings.keys() - covered_keys:
                is_value_of_set = values_in_effect(planned, key) == [_text(entry.settings[key])]
                assert not is_value_of_set, (planned.place, entry.name, key)


@dataclass(frozen=True)
class DefaultNumber:
    """A number of a set that its experiments leave to the default of a model.

    Attributes:
        paper: The paper.
        assumption: Name of the assumption.
        section: Section of the catalog with the model.
        model: The model, or the preset of a device.
        key: The key that would change the number.
        number: The number in the set.
    """

    paper: str
    assumption: str
    section: str
    model: str
    key: str
    number: float

    @property
    def default(self) -> Any:
        """The default of the model."""
        name = self.key.partition(".")[2]
        if self.section == "devices":
            return parameters(self.model)[name]
        entries = catalog.load_catalog()[self.section]
        model = entries if isinstance(entries, dict) else _named(entries, self.model)
        return _named(model["parameters"], name)["default"]


def _named(entries: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(each for each in entries if each["name"] == name)


DEFAULT_NUMBERS = (
    *(
        DefaultNumber("lin", "powers", "devices", device, f"device.{name}", number)
        for device in ("mems-g2-disksim", "mems-g3")
        for name, number in (
            ("tip_mw", 1),
            ("sled_mw", 100),
            ("inactive_mw", 50),
            ("startup_ms", 0.5),
            ("startup_mw", 100),
        )
    ),
    DefaultNumber("lin", "snake-reads", "workloads", "snake", "workload.read_share", 0.45),
    DefaultNumber("lin", "snake-reads", "workloads", "snake", "workload.sequential_share", 0.6),
    DefaultNumber("hong2006", "weight-of-asptf", "schedulers", "asptf", "scheduler.weight", 5),
    DefaultNumber("hong2006", "start-in-place", "devices", "mems-g2", "device.startup_ms", 0.5),
    DefaultNumber("hong2006", "start-in-place", "devices", "mems-g2", "device.startup_mw", 100),
    DefaultNumber("hong2006", "metadata-parts", "workloads", "snake", "workload.metadata_share", 0.72),
    DefaultNumber("wang2005", "printed-numbers", "hybrids", "write-buffer", "hybrid.log_kb", 128),
    *(
        DefaultNumber("wang2005", "printed-numbers", "hybrids", hybrid, f"hybrid.{name}", number)
        for hybrid in ("caching-disk", "write-buffer")
        for name, number in (("front_mb", 256), ("buffer_kb", 2048))
    ),
    DefaultNumber("wang2005", "printed-numbers", "cache", "", "cache.capacity_blocks", 8192),
    DefaultNumber(
        "wang2005", "write-buffer-cleans-when-full", "hybrids", "write-buffer", "hybrid.clean_from", 0.9
    ),
    *(
        DefaultNumber("wang2005", "reuse", "workloads", workload, f"workload.{name}", number)
        for workload in ("cello", "hplajw", "tpcc")
        for name, number in (("new_read_ratio", 4), ("write_after_read_share", 0.65))
    ),
    DefaultNumber("wang2005", "host-caches", "workloads", "cello", "workload.host_cache_requests", 11500),
    DefaultNumber("wang2005", "host-caches", "workloads", "hplajw", "workload.host_cache_requests", 300),
    DefaultNumber("chiu2004", "page-by-page", "nodes", "smart-2003", "node.page_kb", 8),
    DefaultNumber("chiu2004", "page-by-page", "nodes", "smart-2003", "node.prefetch_pages", 0),
)
"""Numbers of the sets that no experiment sets."""


@pytest.mark.parametrize("each", DEFAULT_NUMBERS, ids=lambda each: f"{each.paper}-{each.model}-{each.key}")
def test_experiments_leave_other_numbers_to_defaults(each: DefaultNumber) -> None:
    assert each.default == each.number
    (entry,) = (entry for entry in assumptions(each.paper) if entry.name == each.assumption)
    for planned in (planned for planned in _primary_experiments() if entry.applies_to(planned.place)):
        values = values_in_effect(planned, each.key)
        is_axis = each.key in experiment(planned.experiment)["study"].get("vary", {})
        assert is_axis or "{}" in values or _text(each.number) in values, planned.place


@pytest.mark.parametrize(
    ("place", "kilobytes"),
    [
        ("wang2005-figure-4", {"tpcd": 64, "tpcc": 8, "cello": 8, "hplajw": 8}),
        ("wang2005-caching-disk", {"tpcd": 256, "tpcc": 8, "cello": 8, "hplajw": 64}),
    ],
)
def test_segments_have_the_printed_sizes(place: str, kilobytes: dict[str, int]) -> None:
    sizes = {
        planned.place: values_in_effect(planned, "hybrid.segment_kb")
        for planned in _primary_experiments()
        if planned.place in {f"{place}-{workload}" for workload in kilobytes}
    }
    assert sizes == {f"{place}-{workload}": [str(size)] for workload, size in kilobytes.items()}


def test_clock_ratio_is_that_of_the_set() -> None:
    assert (CLOCK_RATIO, MIN_CLOCK_RATIO, MAX_CLOCK_RATIO) == (2.5, 1.5, 4)


def test_number_spent_on_a_fit_is_no_evidence() -> None:
    for entry in _entries():
        assert {claims()[each].outcome for each in entry.fitted_to} <= {FITTED}, entry.name


def test_departure_from_the_set_is_found() -> None:
    planned = PlannedExperiment("lin-figure-7", ("--set", "device.preset=mems-g3"))
    assert values_in_effect(planned, "device.preset") == ["mems-g3"]
    assert values_in_effect(planned, "system.start") == ["parked"]
    assert values_in_effect(planned, "study.scheduler") == ["fcfs"]
    assert values_in_effect(planned, "device.startup_ms") == [
        "0",
        "0.1",
        "0.25",
        "0.5",
        "0.75",
        "1",
        "1.5",
        "2",
        "3",
    ]
