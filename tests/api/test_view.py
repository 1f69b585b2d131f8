"""`sl.view`: contents of the page, and contents that are refused."""

import base64
import gzip
import json
import lzma
import re

import pytest
import sledlab as sl
from sledlab.show import view as viewing

OPTIONS = {"scheduler": "sptf", "limit": 200}


@pytest.fixture
def built_page(tmp_path, monkeypatch):
    """Stand-ins for the files of a built page."""
    frame, core = tmp_path / "page.html", tmp_path / "core.wasm.xz"
    frame.write_text(f"<!doctype html><body>{viewing.SLOT}{viewing.SLOT_OF_CORE}</body>")
    core.write_bytes(lzma.compress(b"the core"))
    monkeypatch.setattr(viewing, "FRAME", frame)
    monkeypatch.setattr(viewing, "CORE", core)


def page_data(html):
    """Data embedded in a page."""
    start, end = html.index(viewing.SLOT.split("null")[0]), html.index("</script>")
    return json.loads(html[start + len(viewing.SLOT.split("null")[0]) : end])


def test_page_contains_the_core(built_page):
    (encoded_core,) = re.findall(r'id="core">([^<]+)</script>', sl.view().html)
    assert gzip.decompress(base64.b64decode(encoded_core)) == b"the core"


def test_a_result_is_simulated_again(built_page):
    r = sl.simulate(sl.workload("uniform"), "mems-g2", **OPTIONS)
    assert sl.view(r, around=7).data["around"] == 7
    page = sl.view(r, around="slowest")
    data = page_data(page.html)
    assert data["around"] == "slowest"
    assert data["traces"] == []
    assert sl.run(sl.Experiment(data["experiment"])).to_json() == r.to_json()
    assert sl.view(r).html == sl.view(r).html
    assert "srcdoc=" in page._repr_html_()
    assert "<body>" not in page._repr_html_()


def test_option_overrides_file_and_directory(built_page, tmp_path):
    sl.simulate(sl.workload("uniform"), "mems-g2", out=tmp_path / "run", **OPTIONS)
    for experiment in (tmp_path / "run", tmp_path / "run" / "experiment.toml"):
        toml = page_data(sl.view(experiment=experiment, scheduler="fcfs").html)["experiment"]
        assert 'kind = "fcfs"' in toml
        assert "limit = 200" in toml


def test_page_contains_trace_under_its_base_name(built_page, tmp_path):
    trace = tmp_path / 'app "<script>.csv'
    trace.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n1000,W,409600,4096\n")
    html = sl.view(str(trace), "mems-g2").html
    data = page_data(html)
    assert [each["name"] for each in data["traces"]] == [trace.name]
    assert base64.b64decode(data["traces"][0]["data"]) == trace.read_bytes()
    assert str(tmp_path) not in html
    assert html.count("</script>") == 2  # after the data and after the core
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


def test_package_without_built_page_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(viewing, "FRAME", tmp_path / "none.html")
    with pytest.raises(sl.Error, match="does not include the page") as caught:
        sl.view().write(tmp_path / "view.html")
    assert "make web" in caught.value.remedy
    assert not (tmp_path / "view.html").exists()
