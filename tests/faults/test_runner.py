"""The runner of `make faults` restores what it changes, and refuses to guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import __main__ as runner

FAULT = runner.Fault("python", "id", "It is wrong.", "source.py", "a = 1", "a = 2", "pytest")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runner, "PROJECT", tmp_path)
    return tmp_path / "source.py"


def interrupt(source: Path) -> None:
    with runner.plant(FAULT):
        assert source.read_text() == "a = 2\n"
        raise KeyboardInterrupt


def test_interrupted_fault_restores_the_file(source: Path) -> None:
    source.write_text("a = 1\n")
    with pytest.raises(KeyboardInterrupt):
        interrupt(source)
    assert source.read_text() == "a = 1\n"


@pytest.mark.parametrize("text", ["a = 3\n", "a = 1\na = 1\n"])
def test_changed_code_is_refused_with_the_description(source: Path, text: str) -> None:
    source.write_text(text)
    with (
        pytest.raises(LookupError, match=r"plant the fault anew by its description: It is wrong\."),
        runner.plant(FAULT),
    ):
        pass
    assert source.read_text() == text
