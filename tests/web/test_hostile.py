"""Hostile files and names: the page shows a message and stays usable, and interprets no name as HTML."""

from __future__ import annotations

import gzip

import pytest
import sledlab as sl

from .laboratory import Laboratory, laboratory
from .test_core import HUGE

SCRIPT = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
HEADER = b"time_us,op,offset_bytes,length_bytes\n"
READS = HEADER + b"".join(b"%d,R,%d,4096\n" % (n * 900, n * 409600) for n in range(300))
HOSTILE_FILES = {
    "noise.bin": bytes(range(256)) * 50,
    "empty.csv": b"",
    "line.csv": HEADER + b"0,R,0,4096\n1,R,zero,4096\n",
    "bomb.gz": gzip.compress(HEADER)[:-9],
    f"{SCRIPT}.csv": HEADER + b"0,R,0,4096\n1,X" + SCRIPT.encode() + b",0,4096\n",
    "newlines.csv.gz": gzip.compress(b"\n" * 10_000_000) * 100,
    "table.parquet": b"PAR1" + bytes(100),
    "broken.toml": b"[device\npreset = ",
    f"{SCRIPT}.toml": f'[device]\npreset = "{SCRIPT.replace(chr(34), "")}"\n'.encode(),
    "latin.toml": "[device]\npreset = 'é'\n".encode("latin-1"),
}


def drop(page: Laboratory, name: str, contents: bytes) -> None:
    """Give a file to the page, as a file dialog does."""
    page.tab("Yours")
    page.page.locator("#file").set_input_files(
        {"name": name.replace("/", "\u2215"), "mimeType": "text/plain", "buffer": contents}
    )


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_hostile_file_is_refused_and_page_stays_usable(name, page):
    page.wait_for_summary()
    drop(page, name, HOSTILE_FILES[name])
    page.page.locator(".message").wait_for()
    assert page.message.strip()
    assert page.page.title() == "sledlab"
    page.tab("Watch")
    page.press("next choice")
    assert page.time_s > 0


def test_parquet_is_refused_with_a_conversion_command(page):
    page.wait_for_summary()
    drop(page, "table.parquet", HOSTILE_FILES["table.parquet"])
    page.page.locator(".message").wait_for()
    assert "sledlab trace convert" in page.message


def test_page_responds_while_a_trace_is_read(page):
    page.wait_for_summary()
    drop(page, "newlines.csv.gz", HOSTILE_FILES["newlines.csv.gz"])
    page.tab("Watch")
    time_before_s = page.time_s
    page.press("next choice")
    assert page.time_s > time_before_s


def run_experiment(page: Laboratory, experiment: str, control: str) -> None:
    """Run or watch an experiment."""
    page.tab("Yours")
    page.page.locator("#experiment").fill(experiment)
    page.page.get_by_role("button", name=control).last.click()


def test_stopped_core_keeps_the_page_usable(page):
    page.wait_for_summary()
    drop(page, "mine.csv", READS)
    page.page.get_by_text("mean response time").wait_for()
    own_experiment = page.page.locator("#experiment").input_value()
    for control in ("Run and answer", "Watch it"):
        run_experiment(page, HUGE, control)
        page.page.locator(".message").wait_for()
        assert "was started anew" in page.message
        assert "more memory than a page can have" in page.message
        page.press("close the message")
        # The trace that was dropped is still there.
        run_experiment(page, own_experiment, control)
        page.page.locator("#checksum" if control == "Watch it" else ".yours .big").wait_for()
        assert page.message == ""
    page.press("next choice")
    assert page.time_s > 0


def test_hostile_trace_name_is_shown_as_text(page):
    page.wait_for_summary()
    drop(page, f"{SCRIPT}.csv", READS)
    page.page.get_by_text("mean response time").wait_for()
    page.press("Watch it")
    page.wait_for_summary()
    for view in ("Watch", "Race", "Design", "Yours"):
        page.tab(view)
        page.page.wait_for_timeout(300)
    assert page.page.locator("main img, main script").count() == 0
    assert page.page.title() == "sledlab"


def test_hostile_experiment_texts_are_shown_as_text(chromium, tmp_path):
    device = tmp_path / "wicked.toml"
    hostile_text = SCRIPT.replace('"', "")
    device.write_text(f'kind = "mems"\nname = "{hostile_text}"\ndescription = "{hostile_text}"\n')
    file = sl.view(sl.workload("uniform"), device, limit=500).write(tmp_path / "view.html")
    with laboratory(chromium, file) as page:
        page.wait_for_summary()
        for view in ("Race", "Design", "Yours", "Watch"):
            page.tab(view)
            page.page.wait_for_timeout(300)
        assert page.page.locator("main img, main script").count() == 0
        assert page.page.title() == "sledlab"
        assert page.complaints == []


@pytest.mark.parametrize(
    "address", ["#x=%3Cscript%3E", "#x=AAAA", "#v=__proto__&t=-1&r=1e99", "#t=NaN", f"#x={'A' * 70_000}"]
)
def test_hostile_address_does_no_harm(address, chromium):
    with laboratory(chromium, hash=address) as page:
        page.wait_for_summary()
        page.press("next choice")
        assert page.complaints == []
