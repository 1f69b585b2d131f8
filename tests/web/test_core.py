"""The core in a browser is the native one to the last bit, and lives through mistakes."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import subprocess
from typing import TYPE_CHECKING

import pytest
from sledlab import _native

from tests.require import need

from .core import CORE, Core, core
from .systems import REQUESTS, SYSTEMS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPTF = SYSTEMS["mems-sptf"]
MAX_BYTES = 1_210_000
"""Of the core, compressed: 1 % more than it has since it reads archives, dates and other encodings.

It is 20 kB smaller with readers built for size (`opt-level = "z"`), but replays are 10 % slower then.
"""

TRACE = "".join(f"{n * 900},{'RW'[n % 2]},{n * 7919 % 3_000_000 * 512},4096\n" for n in range(2000))
HEADER = "time_us,op,offset_bytes,length_bytes\n"


@pytest.fixture(scope="module")
def core_page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Core:
    return core(chromium, tmp_path_factory.mktemp("core"))


def test_it_is_small_enough_to_travel(core_page):
    assert len(gzip.compress(CORE.read_bytes(), 9)) <= MAX_BYTES


@pytest.mark.parametrize("name", SYSTEMS)
def test_completions_are_those_of_the_native_core(core_page, name):
    native = json.loads(_native.Experiment(SYSTEMS[name], name).run())["summary"]
    result = core_page.ask("async (toml) => (await core.outcome(await finish(toml))).summary", SYSTEMS[name])
    assert result["requests"] == native["requests"] <= REQUESTS
    assert result["checksum"] == native["checksum"]
    assert result == native


def test_rows_have_the_columns_that_are_named(core_page):
    script = """async (toml) => {
        const run = await finish(toml);
        const [all, some] = [await core.rows(run), await core.rows(run, ["lbn", "op"])];
        const named = (rows) => [Array.from(rows.lbn), Array.from(rows.op)];
        return [named(all), named(some), Object.keys(some).filter((name) => some[name].length > 0)];
    }"""
    expected, rows, filled = core_page.ask(script, SPTF)
    assert rows == expected
    assert sorted(filled) == ["lbn", "op"]


def test_a_watched_run_is_the_run(core_page):
    script = """async (toml) => {
        const run = await finish(toml);
        const rows = await core.rows(run);
        const found = { rows: rows.id.length, differ: 0, seen: 0, waits: 0, chosen: 0 };
        let from = 0, done = false;
        const ends = new Map(rows.id.reduce((all, id, n) => [...all, [id, n]], []).slice(0, 0));
        rows.id.forEach((id, n) => ends.set(id, [rows.start_ns[n], rows.completion_ns[n]]));
        const seen = new Set();
        while (!done) {
            const watched = await core.watch(run, from, 10000);
            const { id, start_ns, end_ns } = watched.accesses;
            id.forEach((id, n) => {
                if (end_ns[n] === Infinity) return;
                const [start, end] = ends.get(id);
                found.differ += start !== start_ns[n] || end !== end_ns[n];
                seen.add(id);
            });
            const { first, count, waiting } = watched.choices;
            first.forEach((first, n) => {
                found.chosen += watched.candidates.chosen[first];
                // The chosen is the nearest under SPTF.
                const times = watched.candidates.positioning_ns.slice(first, first + count[n]);
                found.waits += Math.min(...times) < times[0] || waiting[n] < 1;
            });
            done = watched.done;
            from = watched.to_ns;
        }
        return { ...found, seen: seen.size };
    }"""
    result = core_page.ask(script, SPTF.replace(str(REQUESTS), "30000"))
    assert result["rows"] == result["seen"] == 30_000
    assert result["differ"] == result["waits"] == 0
    assert result["chosen"] >= 30_000


DENSE = """seed = 1
[device]
preset = "mems-g3"
[workload]
kind = "uniform"
mean_interarrival_ms = 0.06
[system]
kind = "stripe"
devices = 8
[scheduler]
kind = "sptf"
[replay]
limit = 20000
"""
"""Some 16,000 choices per second."""


def test_window_contains_its_instant(core_page):
    script = """async (toml) => {
        const run = await finish(toml);
        const windows = [];
        for (const t of [0.5e9, 1e9, 0.2e9, 100e9]) {
            const { from_ns, to_ns, done } = await core.watch(run, t - 20e6, 200, t);
            windows.push([t, from_ns, to_ns, done]);
        }
        return [windows, Math.max(...(await core.rows(run)).completion_ns)];
    }"""
    windows, end_ns = core_page.ask(script, DENSE)
    for t, from_ns, to_ns, done in windows[:-1]:
        assert from_ns == t - 20e6
        assert t <= to_ns < t + 20e6
        assert not done
    assert windows[-1][1:] == [end_ns, end_ns, True]


def test_statistics_of_a_page_begin_after_the_warm_up(core_page):
    script = """async (toml) => {
        const { run } = await core.open(toml);
        const snapshots = [];
        for (let done = false; !done; ) {
            ({ done } = await core.run(run, 100));
            const { energy_j, simulated_ns, completed } = await core.snapshot(run);
            snapshots.push([energy_j, simulated_ns, completed]);
        }
        const { id, completion_ns } = await core.rows(run);
        const { summary } = await core.outcome(run);
        return [snapshots, summary, id.length, Math.max(...completion_ns)];
    }"""
    warm = SPTF.replace(str(REQUESTS), "4000").replace("[replay]", "[replay]\nwarmup = 2000")
    snapshots, summary, rows, end_ns = core_page.ask(script, warm)
    energies = [energy for energy, *_ in snapshots]
    begin = next(place for place, energy in enumerate(energies) if energy is not None)
    assert 10 < begin < len(energies) - 10
    assert None not in energies[begin:]
    assert energies[begin:] == sorted(energies[begin:])
    assert energies[-1] == summary["energy_j"]["total"]
    times = [time for _, time, _ in snapshots]
    assert times == sorted(times)
    assert times[-1] == pytest.approx(end_ns, rel=1e-9)
    assert [rows, summary["requests"]] == [4000, 2000]


def test_the_sled_is_where_it_reads(core_page):
    script = """async (toml) => {
        const run = await finish(toml);
        const { accesses } = await core.watch(run, 1e9, 2000);
        const times = [], columns = [];
        accesses.id.forEach((_, n) => {
            if (!(accesses.start_ns[n] > 1e9) || accesses.end_ns[n] === Infinity) return;
            const x = accesses.seek_x_ns[n] + accesses.settle_ns[n];
            const y = accesses.seek_y_ns[n] + accesses.turnaround_ns[n];
            times.push(accesses.start_ns[n] + accesses.overhead_ns[n] + Math.max(x, y));
            columns.push(accesses.x_bit[n]);
        });
        const { x } = await core.positions(run, 0, times);
        return [times.length, Math.max(...x.map((x, n) => Math.abs(x - columns[n])))];
    }"""
    sampled, worst = core_page.ask(script, SPTF.replace(str(REQUESTS), "5000"))
    assert sampled > 1000
    assert worst < 1, "bits"


def test_transfer_begins_at_the_first_sector(core_page):
    script = """async (toml) => {
        const { run, stations } = await core.open(toml);
        const { accesses } = await core.watch(run, 1e9, 2000);
        const found = { sought: 0, first: 0, outside: 0 };
        accesses.id.forEach((_, n) => {
            const isRead = accesses.op[n] === 82 && accesses.end_ns[n] < Infinity;
            if (!isRead || accesses.seek_x_ns[n] === 0) return;
            const sought = accesses.seek_x_ns[n] + accesses.settle_ns[n] + accesses.rotation_ns[n];
            const begins = accesses.start_ns[n] + accesses.overhead_ns[n] + sought;
            const sector = accesses.turns[n] / accesses.blocks[n];
            // Half a sector before the first it would be under the head only just.
            const under = ((begins / stations[0].turn_ns + sector / 2 - accesses.turn[n]) % 1 + 1) % 1;
            found.sought++;
            found.first += under < sector;
            found.outside += under > accesses.turns[n];
        });
        return found;
    }"""
    result = core_page.ask(script, SYSTEMS["disk-sptf"].replace(str(REQUESTS), "5000"))
    assert result["sought"] > 500
    assert result["outside"] == 0
    # Where the head comes to a track in the midst of what it is to read, it begins there.
    assert result["first"] > 0.95 * result["sought"], result


RESIDENCY = """async (toml) => {
    const run = await finish(toml);
    const { summary } = await core.outcome(run);
    const found = { summary, stations: 0, looks: 0, wrong: 0, seen: [0, 0, 0, 0, 0], written: 0 };
    let from = 0, done = false, last = null;
    while (!done) {
        const watched = await core.watch(run, from, 2000);
        const [{ first, counts, since_ns, changes, slot, state, writing, station }] = watched.residencies;
        const now = first.slice();
        // Windows follow one another: the first look of one is what the one before has seen then.
        found.wrong += last !== null && first.length !== last.length;
        since_ns.forEach((since, look) => {
            const end = changes[look + 1] ?? slot.length;
            for (let row = changes[look]; row < end; row++) now[slot[row]] = state[row];
            const counted = [0, 0, 0, 0, 0];
            now.forEach((each) => counted[each]++);
            counted.forEach((count, each) => {
                found.wrong += count !== counts[5 * look + each];
                found.seen[each] += count;
            });
            found.wrong += look > 0 && since < since_ns[look - 1];
            found.written += writing[look] > 0;
            found.looks++;
        });
        found.stations = station;
        [done, from, last] = [watched.done, watched.to_ns, now];
    }
    return { ...found, slots: last.length, dirty: last.filter((each) => each >= 2).length };
}"""


@pytest.mark.parametrize(
    ("name", "slots"), [("caching-disk", 120), ("write-buffer", 2048), ("mems-cached", 512)]
)
def test_slots_are_reported_for_each_lookup(core_page, name, slots):
    small = SYSTEMS[name].replace('"caching-disk"', '"caching-disk:front_mb=1"')
    result = core_page.ask(RESIDENCY, small.replace(str(REQUESTS), "6000"))
    assert result["slots"] == slots
    assert result["wrong"] == 0
    assert result["looks"] > 100
    assert result["written"] > 0
    assert result["seen"][0] > 0 < result["seen"][2]
    assert result["stations"] == (None if name == "mems-cached" else 0)
    if result["summary"].get("hybrid", {}).get("dirty_blocks", 0) > 0:
        assert result["dirty"] > 0


def test_catalog_equals_that_of_native_core(core_page):
    result = core_page.ask("() => core.catalog()")
    presets = result.pop("presets")
    del result["version"]
    assert result == json.loads(_native.catalog())
    device = core_page.ask("(toml) => core.device(toml)", '[device]\npreset = "mems-g2"\nactive_tips = 640\n')
    assert set(presets) == {entry["name"] for entry in result["devices"]}
    assert device["parameters"]["active_tips"] == device["sled"]["active_tips"] == 640
    again = core_page.ask("(toml) => core.device(toml)", "[device]\n" + device["toml"])
    assert again["capacity_blocks"] == device["capacity_blocks"]
    seek_map = core_page.ask(
        """async (toml) => {
            const map = await core.seekMap(toml, { x: 100, y: 0, direction: 1 });
            return [map.columns, map.rows, map.ms.length, Math.max(...map.ms)];
        }""",
        '[device]\npreset = "mems-g2"\n',
    )
    assert seek_map[:3] == [2500, 27, 67_500]
    assert 0.5 < seek_map[3] < 1.0


def _zstd(text: bytes) -> bytes:
    return subprocess.run([need("zstd"), "-c"], input=text, capture_output=True, check=True).stdout


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, _zstd])
def test_dropped_traces_are_read_as_files_are(core_page, pack, tmp_path):
    file = tmp_path / "dropped.csv"
    file.write_text(HEADER + TRACE, encoding="utf-8")
    toml = f'[device]\npreset = "mems-g2"\n[trace]\nfile = "{file}"\n'
    native = json.loads(_native.Experiment(toml, "dropped").run())["summary"]
    script = """async ([name, bytes, toml]) => {
        const facts = await core.putTrace(name, Uint8Array.from(bytes));
        const run = await finish(toml);
        return [facts, (await core.outcome(run)).summary.checksum];
    }"""
    facts, checksum = core_page.ask(script, [str(file), list(pack((HEADER + TRACE).encode())), toml])
    assert facts["format"] == "csv"
    assert facts["requests"] == 2000
    assert checksum == native["checksum"]


OPEN_ERROR = """async (toml) => {
    try {
        await core.open(toml);
    } catch (error) {
        return error.details;
    }
}"""


def test_errors_equal_those_of_the_command_line(core_page):
    result = core_page.ask(OPEN_ERROR, '[device]\npreset = "mems-g22"\n')
    assert result["blame"] == "user"
    assert result["remedy"] == "did you mean `mems-g2`?"
    result = core_page.ask(OPEN_ERROR, "[device\n")
    assert result["place"]["line"] == 1
    script = """async (text) => {
        try {
            await core.putTrace("<b>.csv", new TextEncoder().encode(text));
        } catch (error) {
            return error.details;
        }
    }"""
    result = core_page.ask(script, HEADER + "0,R,0,4096\n5,X,0,4096\n")
    assert result["place"] | {"column": 0} == {
        "file": "<b>.csv",
        "line": 3,
        "column": 0,
        "text": "5,X,0,4096",
    }
    result = core_page.ask(script, "\0\1\2 nothing at all")
    assert result["blame"] == "user"


TRAP = """async ([wasm, huge, toml]) => {
    const bytes = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
    const core = wasm ? sledlab.startLaboratory(window.script, await WebAssembly.compile(bytes)) : start();
    const calls = [huge ? core.open(huge) : core.putTrace("large", new Uint8Array(1e7)), core.catalog()];
    const errors = (await Promise.allSettled(calls)).map(({ reason }) => reason.details);
    const run = await finish(toml, core);
    await core.close(run);
    await core.close(run);
    const { summary } = await core.outcome(await finish(toml, core));
    core.end();
    return [errors, summary.requests];
}"""
HUGE = """[device]
preset = "ssd-tlc"
blocks_per_die = 120000
[workload]
kind = "uniform"
"""
"""A drive whose map of pages needs more memory than a module has addresses."""


def limit_memory(wasm: bytes, pages: int) -> bytes:
    """A module whose memory has at most so many pages of 64 KiB."""
    at = 8
    while wasm[at] != MEMORY:
        length, body = leb128(wasm, at + 1)
        at = body + length
    length, body = leb128(wasm, at + 1)
    minimum, _ = leb128(wasm, body + 2)
    limits = bytes([1, 1]) + encode_leb128(minimum) + encode_leb128(pages)
    return wasm[:at] + bytes([MEMORY, len(limits)]) + limits + wasm[body + length :]


MEMORY = 5
"""The number of the section of memories."""


def leb128(wasm: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = shift = 0
    while wasm[at] & 0x80:
        value |= (wasm[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | wasm[at] << shift, at + 1


def encode_leb128(value: int) -> bytes:
    """A number, as modules have them."""
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + encode_leb128(high) if high else bytes([low])


@pytest.mark.parametrize("memory_pages", [None, 96])
def test_stopped_core_is_restarted(memory_pages, core_page):
    """It panics where it asks for too much at once, and is stopped by the browser where it gets no more."""
    wasm = base64.b64encode(limit_memory(CORE.read_bytes(), memory_pages)).decode() if memory_pages else ""
    normal = SPTF.replace(str(REQUESTS), "1000")
    (stopped, lost), requests = core_page.ask(TRAP, [wasm, "" if memory_pages else HUGE, normal])
    assert stopped["blame"] == lost["blame"] == "trap"
    assert stopped["message"] == "This needs more memory than a page can have."
    assert "command line" in stopped["remedy"]
    assert lost["message"] == "the simulator stopped and was started anew"
    assert requests == 1000
