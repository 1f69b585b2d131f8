"""tools/coverage.py: whose LLVM reads what instrumented tests leave."""

from __future__ import annotations

from pathlib import Path

from tools import coverage


def program(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)


def test_all_tools_are_taken_from_one_place(tmp_path: Path) -> None:
    half, full = tmp_path / "half", tmp_path / "whole"
    program(half / "llvm-cov")
    program(full / "llvm-cov")
    program(full / "llvm-profdata")
    result = coverage.tools([tmp_path / "nowhere", half, full])
    assert result == {"LLVM_COV": f"{full}/llvm-cov", "LLVM_PROFDATA": f"{full}/llvm-profdata"}


def test_missing_tools_print_one_line_with_remedy(monkeypatch, capsys) -> None:
    monkeypatch.setattr(coverage, "command_output", lambda *command: "LLVM version: 22.1.2")
    monkeypatch.setattr(coverage, "places", lambda major: [])
    assert coverage.main([]) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert "rustup component add llvm-tools, or on Debian apt-get install llvm-22" in output
