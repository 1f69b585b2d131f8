"""`sl.view`: what is put into the page, and what cannot be."""

import base64
import gzip
import json
import lzma
import re

import pytest
import sledlab as sl
from sledlab.show import view as viewing

BUSY = {"scheduler": "sptf", "limit": 200}


@pytest.fixture
def built_page(tmp_path, monkeypatch):
    """A page that has been built, as far as Python sees it."""
    frame, core = tmp_path / "page.html", tmp_path / "core.wasm.xz"
    frame.write_text(f"<!doctype html><body>{viewing.SLOT}{viewing.SLOT_OF_CORE}</body>")
    core.write_bytes(lzma.compress(b"the core"))
    monkeypatch.setattr(viewing, "FRAME", frame)
    monkeypatch.setattr(viewing, "CORE", core)


def page_data(html):
    """What a page was made with."""
    begin, end = html.index(viewing.SLOT.split("null")[0]), html.index("</script>")
    return json.loads(html[begin + len(viewing.SLOT.split("null")[0]) : end])


def test_the_core_is_in_the_page(built_page):
    (text,) = re.findall(r'id="core">([^<]+)</script>', sl.view().html)
    assert gzip.decompress(base64.b64decode(text)) == b"the core"


def test_a_result_is_simulated_again(built_page):
    r = sl.simulate(sl.workload("uniform"), "mems-g2", **BUSY)
    page = sl.view(r, around="slowest")
    checked = page_data(page.html)
    assert checked["around"] == "slowest"
    assert checked["traces"] == []
    assert sl.run(sl.Experiment(checked["experiment"])).to_json() == r.to_json()
    assert sl.view(r).html == sl.view(r).html
    assert "srcdoc=" in page._repr_html_()
    assert "<body>" not in page._repr_html_()


def test_option_overrides_file_and_directory(built_page, tmp_path):
    sl.simulate(sl.workload("uniform"), "mems-g2", out=tmp_path / "run", **BUSY)
    for experiment in (tmp_path / "run", tmp_path / "run" / "experiment.toml"):
        text = page_data(sl.view(experiment=experiment, scheduler="fcfs").html)["experiment"]
        assert 'kind = "fcfs"' in text
        assert "limit = 200" in text


def test_page_contains_trace_under_its_base_name(built_page, tmp_path):
    trace = tmp_path / 'app "<script>.csv'
    trace.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n1000,W,409600,4096\n")
    html = sl.view(str(trace), "mems-g2").html
    checked = page_data(html)
    assert [each["name"] for each in checked["traces"]] == [trace.name]
    assert base64.b64decode(checked["traces"][0]["data"]) == trace.read_bytes()
    assert str(tmp_path) not in html
    assert html.count("</script>") == 2  # that of what is given, and that of the core
    sample = page_data(sl.view("sample:kv-a-60s", "mems-g2").html)
    assert sample["traces"][0]["name"] == "kv-a-60s.csv.zst"


def test_unsupported_page_contents_are_refused(built_page, tmp_path, monkeypatch):
    with pytest.raises(sl.Error, match="in memory"):
        sl.view(
            sl.trace({"time_us": [0], "op": ["R"], "offset_bytes": [0], "length_bytes": [4096]}), "mems-g2"
        )
    monkeypatch.setattr(viewing, "MAX_BYTES", 1000)
    with pytest.raises(sl.Error, match="MB"):
        sl.view("sample:kv-a-60s", "mems-g2")
    with pytest.raises(sl.Error, match="unknown start of the page"):
        sl.view(sl.workload("uniform"), "mems-g2", around="end")
    with pytest.raises(sl.Error, match="no directory"):
        sl.view().write(tmp_path / "none" / "view.html")


def test_without_a_page_that_was_built(tmp_path, monkeypatch):
    monkeypatch.setattr(viewing, "FRAME", tmp_path / "none.html")
    with pytest.raises(sl.Error, match="does not include the page") as failed:
        sl.view().write(tmp_path / "view.html")
    assert "make web" in failed.value.remedy
    assert not (tmp_path / "view.html").exists()
