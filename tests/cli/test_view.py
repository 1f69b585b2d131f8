"""`sledlab view`: pages and errors."""

import lzma
import tempfile

import pytest
from sledlab.show import view as viewing

RUN_OPTIONS = ("--device", "mems-g2", "--workload", "uniform", "--limit", 200)


@pytest.fixture(autouse=True)
def built_page(tmp_path, monkeypatch):
    frame, core = tmp_path / "page.html", tmp_path / "core.wasm.xz"
    frame.write_text(f"<!doctype html>{viewing.SLOT}")
    core.write_bytes(lzma.compress(b"the core"))
    monkeypatch.setattr(viewing, "FRAME", frame)
    monkeypatch.setattr(viewing, "CORE", core)
    monkeypatch.chdir(tmp_path)


def test_a_page_is_written(sledlab, tmp_path):
    answer = sledlab("view", *RUN_OPTIONS, "--scheduler", "sptf", "--save", "run.html")
    assert (answer.code, answer.err) == (0, "")
    assert "run.html" in answer.out
    assert "sptf" in (tmp_path / "run.html").read_text()
    assert sledlab("view").code == 0
    assert viewing.SLOT in (tmp_path / "view.html").read_text()


def test_it_opens_in_a_browser(sledlab, monkeypatch, tmp_path):
    opened_addresses = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(viewing.webbrowser, "open", lambda address: bool(opened_addresses.append(address)))
    answer = sledlab("view", *RUN_OPTIONS, "--open")
    assert answer.code == 0
    assert opened_addresses[0].startswith("file://")
    assert "no browser was found" in answer.out


def test_invalid_input_is_an_error(sledlab, tmp_path):
    sledlab("view", *RUN_OPTIONS, "--save", "run.pdf").assert_refused("use a name that ends in .html")
    sledlab("view", *RUN_OPTIONS, "--around", "end").assert_refused("unknown start of the page: `end`")
    sledlab("view", "--workload", "uniform").assert_refused("device")
    sledlab("view", "lee2009-figure-2").assert_refused("compare")
    viewing.CORE.unlink()
    sledlab("view", *RUN_OPTIONS).assert_refused("make web")
