"""groff formats every man page without warnings."""

from __future__ import annotations

import subprocess

from tests.require import need


def test_groff_formats_every_page_without_warnings(run, sledlab_program, tmp_path):
    groff = need("groff")
    run(*sledlab_program, "setup", "man", tmp_path / "man1")
    for page in sorted((tmp_path / "man1").iterdir()):
        completed = subprocess.run(
            [groff, "-Kutf8", "-man", "-Tutf8", "-P-cbou", "-ww", page],
            capture_output=True,
            text=True,
            check=True,
        )
        assert completed.stderr == "", page.name
        assert "SYNOPSIS" in completed.stdout
