"""The reference data in the project equal the full reference data and contain no third-party files."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from validation import reference
from validation.reference import BUNDLED, bundle

THIRD_PARTY_FILES = re.compile(r"\.(diskspecs|parv|specs|srt|outv|model|seek)$")


def files(root: Path) -> dict[str, bytes]:
    """Contents of every file of reference data, decompressed."""
    paths = (file for part in ("mems", "disks") for file in (root / part).rglob("*") if file.is_file())
    return {
        file.relative_to(root).as_posix(): gzip.decompress(content) if file.suffix == ".gz" else content
        for file in paths
        if (content := file.read_bytes())
    }


def test_files_are_small_and_none_is_third_party() -> None:
    data_files = [file for file in BUNDLED.root.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in data_files) < 2_000_000
    assert not [
        file for file in data_files if THIRD_PARTY_FILES.search(file.name) or "measured" in file.parts
    ]


@pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)
def test_project_data_equals_reference_data(tmp_path: Path) -> None:
    bundle.write(replace(BUNDLED, root=tmp_path))
    written_files, committed_files = files(tmp_path), files(BUNDLED.root)
    assert written_files.keys() == committed_files.keys()
    assert [name for name in committed_files if written_files[name] != committed_files[name]] == []
