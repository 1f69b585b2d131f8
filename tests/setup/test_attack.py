"""`make attack`: inputs depend on the seed only, and commands that handle one badly are failures."""

import random
import tomllib
from collections import Counter
from contextlib import suppress

import pytest

from tools import attack
from tools.attack import judge, report
from tools.hostile_inputs import KINDS, HostileInput


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_inputs_depend_on_seed_only(kind):
    first, again, other = ([kind(random.Random(f"{seed} {n}")) for n in range(20)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("kind", KINDS[1:5], ids=lambda kind: kind.__name__)
def test_most_toml_inputs_are_valid_toml(kind):
    valid = 0
    for number in range(50):
        (content, *_) = kind(random.Random(number)).files.values()
        with suppress(ValueError):
            valid += tomllib.loads(content.decode()) is not None
    assert valid > 30


@pytest.mark.parametrize(
    ("code", "output", "left", "verdict"),
    [
        (1, "", [], "exit code 1"),
        (-11, "", [], "exit code -11"),
        (2, "Traceback (most recent call last):", [], attack.TRACEBACK),
        (2, "thread 'main' panicked at src/lib.rs", [], "panicked at"),
        (0, "", [".part-1-x"], "file left: .part-1-x"),
    ],
)
def test_bad_handling_is_a_failure(code, output, left, verdict):
    outcome = judge("trace", code, output, left)
    assert (outcome.verdict, outcome.is_failure) == (verdict, True)


def test_refusals_and_tracebacks_of_plugins_are_no_failures():
    assert not judge("trace", 2, "error: negative time", []).is_failure
    assert not judge("plug-in", 2, attack.TRACEBACK, []).is_failure
    assert judge("plug-in", 1, attack.TRACEBACK, []).is_failure


def test_failing_input_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(attack, "SAVED_INPUTS", tmp_path / "saved")
    monkeypatch.setattr(attack, "CODES", (0,))
    outcome = attack.run(HostileInput("trace", ("trace", "info", "a.csv"), {"a.csv": b"nothing"}), 7)
    assert (outcome.verdict, outcome.is_failure) == ("exit code 2", True)
    assert (tmp_path / "saved" / "trace-7" / "a.csv").read_bytes() == b"nothing"
    assert report(Counter({outcome: 1})).endswith("1 inputs, 1 failures")
