"""tools/ci.py: the report of continuous integration."""

from __future__ import annotations

import re

import pytest

from tests.conftest import PROJECT
from tools import ci
from tools.ci import Timing


@pytest.mark.parametrize(("elapsed_s", "code"), [(60, 0), (119, 0), (121, 1)])
def test_tier_beyond_twice_its_budget_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], elapsed_s: float, code: int
) -> None:
    monkeypatch.setattr(ci, "BUDGETS_MIN", {"lint": 1.0})
    monkeypatch.setattr(ci, "run", lambda target, budget_s: Timing(target, elapsed_s, 1.0, budget_s))
    assert ci.main() == code
    assert ("all passed" in capsys.readouterr().out) == (code == 0)


def test_slower_machine_gets_more_time() -> None:
    assert Timing("lint", 150, 1.0, 60).is_late
    assert not Timing("lint", 150, 0.5, 60).is_late


def test_every_tier_is_a_target_of_make() -> None:
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert set(ci.BUDGETS_MIN) <= set(targets)
