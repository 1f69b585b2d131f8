"""The core in a browser gives the numbers of the native core, and survives errors."""

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
MAX_BYTES = 1_268_000
"""Maximum size of the compressed core: 1 % above its size since it has flash with allocation by address and
steady states, counts of garbage collection and six more replacement policies, which took 33 kB.

It is 20 kB smaller with readers built for size (`opt-level = "z"`), but replays are 10 % slower then.
"""

TRACE = "".join(f"{n * 900},{'RW'[n % 2]},{n * 7919 % 3_000_000 * 512},4096\n" for n in range(2000))
HEADER = "time_us,op,offset_bytes,length_bytes\n"


@pytest.fixture(scope="module")
def core_page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Core:
    return core(chromium, tmp_path_factory.mktemp("core"))


def test_core_stays_within_size_limit(core_page):
    assert len(gzip.compress(CORE.read_bytes(), 9)) <= MAX_BYTES


@pytest.mark.parametrize("name", SYSTEMS)
def test_completions_are_those_of_the_native_core(core_page, name):
    native = json.loads(_native.Experiment(SYSTEMS[name], name).run())["summary"]
    in_browser = core_page.evaluate_script(
        "async (toml) => (await core.outcome(await finish(toml))).summary", SYSTEMS[name]
    )
    assert in_browser["requests"] == native["requests"] <= REQUESTS
    assert in_browser["checksum"] == native["checksum"]
    assert in_browser == native


def test_rows_have_the_columns_that_are_named(core_page):
    script = """async (toml) => {
        const run = await finish(toml);
        const [all, some] = [await core.rows(run), await core.rows(run, ["lbn", "op"])];
        const named = (rows) => [Array.from(rows.lbn), Array.from(rows.op)];
        return [named(all), named(some), Object.keys(some).filter((name) => some[name].length > 0)];
    }"""
    all_columns, some_columns, filled = core_page.evaluate_script(script, SPTF)
    assert some_columns == all_columns
    assert sorted(filled) == ["lbn", "op"]


def test_watched_accesses_equal_the_request_table(core_page):
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
    counts = core_page.evaluate_script(script, SPTF.replace(str(REQUESTS), "30000"))
    assert counts["rows"] == counts["seen"] == 30_000
    assert counts["differ"] == counts["waits"] == 0
    assert counts["chosen"] >= 30_000


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
    windows, end_ns = core_page.evaluate_script(script, DENSE)
    for t, from_ns, to_ns, done in windows[:-1]:
        assert from_ns == t - 20e6
        assert t <= to_ns < t + 20e6
        assert not done
    assert windows[-1][1:] == [end_ns, end_ns, True]


def test_statistics_begin_after_the_warm_up(core_page):
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
    experiment = SPTF.replace(str(REQUESTS), "4000").replace("[replay]", "[replay]\nwarmup = 2000")
    snapshots, summary, row_count, end_ns = core_page.evaluate_script(script, experiment)
    energies = [energy for energy, *_ in snapshots]
    first_known = next(index for index, energy in enumerate(energies) if energy is not None)
    assert 10 < first_known < len(energies) - 10
    assert None not in energies[first_known:]
    assert energies[first_known:] == sorted(energies[first_known:])
    assert energies[-1] == summary["energy_j"]["total"]
    times_ns = [time_ns for _, time_ns, _ in snapshots]
    assert times_ns == sorted(times_ns)
    assert times_ns[-1] == pytest.approx(end_ns, rel=1e-9)
    assert [row_count, summary["requests"]] == [4000, 2000]


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
    sample_count, max_difference_bits = core_page.evaluate_script(script, SPTF.replace(str(REQUESTS), "5000"))
    assert sample_count > 1000
    assert max_difference_bits < 1, "bits"


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
    counts = core_page.evaluate_script(script, SYSTEMS["disk-sptf"].replace(str(REQUESTS), "5000"))
    assert counts["sought"] > 500
    assert counts["outside"] == 0
    # A head that reaches a track in the middle of the requested sectors begins there.
    assert counts["first"] > 0.95 * counts["sought"], counts


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
    experiment = SYSTEMS[name].replace('"caching-disk"', '"caching-disk:front_mb=1"')
    counts = core_page.evaluate_script(RESIDENCY, experiment.replace(str(REQUESTS), "6000"))
    assert counts["slots"] == slots
    assert counts["wrong"] == 0
    assert counts["looks"] > 100
    assert counts["written"] > 0
    assert counts["seen"][0] > 0 < counts["seen"][2]
    assert counts["stations"] == (None if name == "mems-cached" else 0)
    if counts["summary"].get("hybrid", {}).get("dirty_blocks", 0) > 0:
        assert counts["dirty"] > 0


def test_catalog_equals_that_of_native_core(core_page):
    catalog = core_page.evaluate_script("() => core.catalog()")
    presets = catalog.pop("presets")
    del catalog["version"]
    assert catalog == json.loads(_native.catalog())
    device = core_page.evaluate_script(
        "(toml) => core.device(toml)", '[device]\npreset = "mems-g2"\nactive_tips = 640\n'
    )
    assert set(presets) == {entry["name"] for entry in catalog["devices"]}
    assert device["parameters"]["active_tips"] == device["sled"]["active_tips"] == 640
    reread = core_page.evaluate_script("(toml) => core.device(toml)", "[device]\n" + device["toml"])
    assert reread["capacity_blocks"] == device["capacity_blocks"]
    seek_map = core_page.evaluate_script(
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
    facts, checksum = core_page.evaluate_script(
        script, [str(file), list(pack((HEADER + TRACE).encode())), toml]
    )
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
    error = core_page.evaluate_script(OPEN_ERROR, '[device]\npreset = "mems-g22"\n')
    assert error["blame"] == "user"
    assert error["remedy"] == "did you mean `mems-g2`?"
    error = core_page.evaluate_script(OPEN_ERROR, "[device\n")
    assert error["place"]["line"] == 1
    script = """async (text) => {
        try {
            await core.putTrace("<b>.csv", new TextEncoder().encode(text));
        } catch (error) {
            return error.details;
        }
    }"""
    error = core_page.evaluate_script(script, HEADER + "0,R,0,4096\n5,X,0,4096\n")
    assert error["place"] | {"column": 0} == {
        "file": "<b>.csv",
        "line": 3,
        "column": 0,
        "text": "5,X,0,4096",
    }
    error = core_page.evaluate_script(script, "\0\1\2 nothing at all")
    assert error["blame"] == "user"


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
"""A drive whose page map needs more memory than a module can address."""


def limit_memory(wasm: bytes, pages: int) -> bytes:
    """Limit the memory of a module to a number of pages of 64 KiB."""
    position = 8
    while wasm[position] != MEMORY:
        length, body = leb128(wasm, position + 1)
        position = body + length
    length, body = leb128(wasm, position + 1)
    minimum, _ = leb128(wasm, body + 2)
    limits = bytes([1, 1]) + encode_leb128(minimum) + encode_leb128(pages)
    return wasm[:position] + bytes([MEMORY, len(limits)]) + limits + wasm[body + length :]


MEMORY = 5
"""The number of the section of memories."""


def leb128(wasm: bytes, position: int) -> tuple[int, int]:
    """Decode a number, and return it with the position after it."""
    value = shift = 0
    while wasm[position] & 0x80:
        value |= (wasm[position] & 0x7F) << shift
        position, shift = position + 1, shift + 7
    return value | wasm[position] << shift, position + 1


def encode_leb128(value: int) -> bytes:
    """Encode a number for a module."""
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + encode_leb128(high) if high else bytes([low])


@pytest.mark.parametrize("memory_pages", [None, 96])
def test_stopped_core_is_restarted(memory_pages, core_page):
    """The core panics if it requests too much memory at once; the browser stops it if it gets no more."""
    wasm = base64.b64encode(limit_memory(CORE.read_bytes(), memory_pages)).decode() if memory_pages else ""
    normal_experiment = SPTF.replace(str(REQUESTS), "1000")
    (trap_error, lost_error), requests = core_page.evaluate_script(
        TRAP, [wasm, "" if memory_pages else HUGE, normal_experiment]
    )
    assert trap_error["blame"] == lost_error["blame"] == "trap"
    assert trap_error["message"] == "This needs more memory than a page can have."
    assert "command line" in trap_error["remedy"]
    assert lost_error["message"] == "the simulator stopped and was started anew"
    assert requests == 1000
