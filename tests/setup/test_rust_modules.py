"""tools/rust_modules.py: import cycles between the modules of a crate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import rust_modules

if TYPE_CHECKING:
    from pathlib import Path

DEVICE = "use crate::power::{Rates, Spent};\n"
POWER = "use sledlab_core::Span;\n"


def report(crates: Path, device: str, power: str) -> list[str]:
    source = crates / "models" / "src"
    (source / "power").mkdir(parents=True)
    (source / "lib.rs").write_text("mod device;\nmod power;\n")
    (source / "device.rs").write_text(device)
    (source / "power" / "mod.rs").write_text("mod ledger;\n")
    (source / "power" / "ledger.rs").write_text(power)
    return rust_modules.report(crates)


@pytest.mark.parametrize(
    "path", ["crate::device::Unit", "super::super::device::{self, Unit}", "crate::{device::Unit}"]
)
def test_planted_cycle_is_reported(tmp_path: Path, path: str) -> None:
    assert report(tmp_path, DEVICE, f"{POWER}use {path};\n") == [
        "models: device imports power in the cycle of device, power",
        "models: power imports device in the cycle of device, power",
    ]


@pytest.mark.parametrize(
    "power",
    [
        POWER,
        "/// See [`Unit`](crate::device::Unit).\n",
        "#[cfg(test)]\nmod tests {\n    use crate::device;\n}\n",
    ],
)
def test_comments_and_unit_tests_are_no_imports(tmp_path: Path, power: str) -> None:
    assert report(tmp_path, DEVICE, power) == []


def test_crates_have_no_cycles() -> None:
    assert rust_modules.report(rust_modules.CRATES) == []
