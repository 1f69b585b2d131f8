"""The pages of manual are read by the programs that read such pages."""

from __future__ import annotations

import subprocess

from tests.require import need


def test_groff_reads_every_page(run, sledlab_program, tmp_path):
    groff = need("groff")
    run(*sledlab_program, "setup", "man", tmp_path / "man1")
    for page in sorted((tmp_path / "man1").iterdir()):
        done = subprocess.run(
            [groff, "-Kutf8", "-man", "-Tutf8", "-P-cbou", "-ww", page],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "", page.name
        assert "SYNOPSIS" in done.stdout
