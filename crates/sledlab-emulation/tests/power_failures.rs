//! Emulated devices lose their power at any moment: afterwards every block of the store holds what the model finds, and
//! nothing durable is lost.

use crate::losing_power::{Bench, Defect, Failure};

/// Arrays with small units, so that a request goes to several devices.
const ARRAYS: [&str; 7] = [
    "system.kind=concatenation system.devices=2",
    "system.kind=stripe system.devices=3 system.unit_blocks=8",
    "system.kind=mirror system.devices=2",
    "system.kind=mirror system.devices=3 system.failed=1 system.failed_at_s=0.002 system.rebuild_mb_s=20",
    "system.kind=raid5 system.devices=3 system.unit_blocks=8",
    "system.kind=raid5 system.devices=5 system.unit_blocks=3",
    "system.kind=mirror system.devices=2 hybrid.kind=write-buffer hybrid.front_mb=0.012 hybrid.log_kb=4 hybrid.buffer_kb=8",
];

/// Hybrids with a small front.
const HYBRIDS: [&str; 6] = [
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=caching-disk hybrid.front_mb=0.018 hybrid.segment_kb=4 hybrid.buffer_kb=8 hybrid.fetch_kb=16 hybrid.destage_kb=16",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8",
    "hybrid.kind=write-buffer hybrid.front_mb=0.018 hybrid.log_kb=4 hybrid.buffer_kb=8 hybrid.cleaning=fifo hybrid.gather=true",
    "hybrid.kind=mirror hybrid.buffer_kb=16",
    "hybrid.kind=mirror hybrid.buffer_kb=16 hybrid.sequential_kb=4",
];

const CACHE: &str =
    "cache.kind=write-back cache.capacity_blocks=64 cache.line_blocks=4 cache.destage_idle_ms=1";

/// Devices with mechanics, whose schedulers reorder requests.
const DEVICES: [(&str, &str); 6] = [
    ("mems-g2", "scheduler.kind=sptf"),
    ("mems-g3", "device.sleds=4 device.sled_motion=independent"),
    ("atlas-10k-50mb", "scheduler.kind=sptf"),
    ("atlas-10k-50mb", "device.buffers_writes=false scheduler.kind=c-look merge.kind=chains"),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false system.kind=stripe system.devices=2 system.unit_blocks=16 system.bus=shared",
    ),
    (
        "atlas-10k-50mb",
        "device.buffers_writes=false hybrid.kind=caching-disk hybrid.front_mb=1 hybrid.segment_kb=4 hybrid.buffer_kb=8 scheduler.kind=sptf",
    ),
];

fn volatile(settings: &str) -> String {
    format!("{settings} {CACHE} cache.volatile=true")
}

/// Systems that are durable: bare, or behind a cache that keeps its contents.
fn durable() -> Vec<Bench> {
    let bare = [""].into_iter().chain(ARRAYS).chain(HYBRIDS);
    bare.flat_map(|system| [Bench::of_memory(system), Bench::of_memory(&format!("{system} {CACHE}"))])
        .collect()
}

/// The same systems behind a volatile cache.
fn volatile_ones() -> Vec<Bench> {
    let bare = [""].into_iter().chain(ARRAYS).chain(HYBRIDS);
    bare.map(|system| Bench::of_memory(&volatile(system))).collect()
}

fn devices() -> Vec<Bench> {
    let both = |(device, settings): (&str, &str)| {
        [Bench::of_devices(device, settings), Bench::of_devices(device, &volatile(settings))]
    };
    DEVICES.into_iter().flat_map(both).collect()
}

/// Counts over power failures.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: u64,
    struck: u64,
    lost_answered: u64,
    restored: u64,
}

fn fail(benches: &[Bench], runs: u64) -> Tally {
    let mut tally = Tally::default();
    for bench in benches {
        for number in 0..runs {
            let shown = bench.run(number);
            let Failure { struck, lost_answered, restored, .. } =
                shown.unwrap_or_else(|wrong| panic!("{bench}, run {number}: {wrong}"));
            tally.struck += u64::from(struck);
            tally.lost_answered += u64::from(lost_answered);
            tally.restored += u64::from(restored > 0);
        }
        tally.runs += runs;
    }
    tally
}

#[test]
fn the_store_holds_what_the_model_finds_and_nothing_durable_is_lost() {
    let shown = [(durable(), 44), (volatile_ones(), 44), (devices(), 14)].map(|(of, runs)| fail(&of, runs));
    let [durable, volatile, devices] = shown;
    assert!(durable.runs + volatile.runs + devices.runs >= 2_000, "{shown:?}");
    assert!(
        shown.iter().all(|tally| 5 * tally.struck >= 2 * tally.runs),
        "too few strike anything: {shown:?}"
    );
    assert!(
        shown.iter().all(|tally| 4 * tally.restored >= tally.runs),
        "too few change the store: {shown:?}"
    );
    assert_eq!(durable.lost_answered, 0);
}

#[test]
fn the_same_failure_leaves_the_same() {
    for bench in durable().into_iter().chain(volatile_ones()).chain(devices()) {
        assert!(bench.run(7) == bench.run(7), "{bench}");
    }
}

/// Flushed writes are durable, which every run checks. Without flushes some acknowledged write is lost.
#[test]
fn a_volatile_cache_loses_something_that_was_not_flushed() {
    for bench in volatile_ones() {
        let bench = [bench.without_flushes()];
        let tally = fail(&bench, 40);
        assert!(5 * tally.lost_answered >= tally.runs, "{}: {tally:?}", bench[0]);
    }
}

/// Whether any of several power failures shows a planted defect.
fn is_found(bench: &Bench, defect: Defect) -> bool {
    let bench = bench.clone().with(defect);
    (0..400).any(|number| {
        // Recovery itself fails at a clean block that the back device does not hold.
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bench.run(number)));
        !matches!(shown, Ok(Ok(_)))
    })
}

#[test]
fn versions_that_are_given_up_too_early_are_found() {
    for bench in durable() {
        assert!(is_found(&bench, Defect::ArrivedIsAnswered), "{bench}");
    }
    for bench in volatile_ones() {
        assert!(is_found(&bench, Defect::AnsweredIsSafe), "{bench}");
        assert!(is_found(&bench, Defect::FlushedAtOnce), "{bench}");
    }
}

#[test]
fn room_that_is_free_before_data_is_safe_is_found() {
    for hybrid in HYBRIDS.iter().filter(|hybrid| !hybrid.contains("hybrid.kind=mirror")) {
        assert!(is_found(&Bench::of_memory(hybrid), Defect::SystemFreesEarly), "{hybrid}");
    }
}

#[test]
fn a_raid5_that_misses_a_device_is_refused() {
    let bench = Bench::of_memory("system.kind=raid5 system.devices=3 system.failed=1");
    let refused = bench.live().err().expect("what it would leave nobody wrote");
    assert!(refused.to_string().contains("write hole"), "{refused}");
    assert!(refused.remedy().is_some_and(|remedy| remedy.contains("system.failed")), "{refused}");
}
