"""Fixtures of the tests of the papers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sledlab.display import DisplayedResult
from sledlab.study.executor import worker_choice

from sledlab_papers.paths import PROJECT
from sledlab_papers.sensitivity import choices
from sledlab_papers.topics import TOPICS


def pytest_configure(config: pytest.Config) -> None:
    """Keep data and work records of jobs in the cache of the tests, not in the user's."""
    if getattr(config, "cache", None) is not None:
        os.environ["SLEDLAB_DATA"] = str(config.cache.mkdir("data"))


@pytest.fixture(scope="session", autouse=True)
def studies_run_in_one_process() -> Iterator[None]:
    """Make one job the default of studies: starting processes takes longer than most studies of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_choice, "processors", lambda: 1)
        yield


@pytest.fixture
def skip_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep studies of this process from writing a page, which takes longer than a small study."""
    monkeypatch.setattr(DisplayedResult, "report", lambda _self, path: Path(path))


@pytest.fixture(scope="session")
def stale_places() -> set[str]:
    """Experiments whose saved tables are known to be of older sources."""
    manifest = json.loads((PROJECT / "validation" / "evidence" / "manifest.json").read_text(encoding="utf-8"))
    return {name for records in manifest.values() for name, row in records.items() if row.get("stale")}


@pytest.fixture(scope="session")
def stale_sweep_places(stale_places: set[str]) -> set[str]:
    """Places of sweep values that may lack results: these are measured together with a stale experiment."""
    return {
        f"{place}{value.reading[0]}"
        for topic in TOPICS
        for choice in choices(topic)
        for value in choice.values
        for place in (line.split()[0] for line in choice.reruns)
        if value.options and place in stale_places
    }
