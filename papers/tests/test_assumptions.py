"""The sets of assumptions: that experiments follow them, and that a number spent on a fit is no evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

import pytest
from sledlab.reproduction.assumption import STUDY, Assumption, assumptions
from sledlab.reproduction.papers import PAPERS
from sledlab.reproduction.verdicts import FITTED, claims

from sledlab_papers.runs import PlannedExperiment
from sledlab_papers.sensitivity import choices
from sledlab_papers.simulator import experiment
from sledlab_papers.topics import TOPICS

MAX_ASSUMPTIONS = 15


def _entries() -> list[Assumption]:
    return [each for paper in PAPERS for each in assumptions(paper)]


def _primary_experiments() -> list[PlannedExperiment]:
    """Experiments behind all numbers; those of other values of a choice depart from the set on purpose."""
    endings = tuple(
        ending
        for topic in TOPICS
        for choice in choices(topic)
        for value in choice.values
        for ending in value.reading
        if ending.startswith("-")
    )
    return [
        planned for topic in TOPICS.values() for planned in topic.plan if not planned.place.endswith(endings)
    ]


def values_in_effect(planned: PlannedExperiment, key: str) -> list[str]:
    """The values of a key with which an experiment runs: from its options, what it varies, or its file."""
    tables = experiment(planned.experiment)
    pairs = list(zip(planned.options[::2], planned.options[1::2], strict=True))
    if key.startswith(STUDY):
        name = key.removeprefix(STUDY)
        option_values = [
            value.split(",") for option, value in pairs if option == f"--{name.replace('_', '-')}"
        ]
        return [_text(option_values[0] if option_values else tables["study"][name])]
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
