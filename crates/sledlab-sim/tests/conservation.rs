//! Conservation checks that apply to every run, for any device, scheduler, workload and replay.

use crate::experiments::experiment;
use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::params::Choices;
use sledlab_core::source::MemorySource;
use sledlab_core::{BLOCK_BYTES, Op, Request, Time, seed};
use sledlab_models::device::mems::params::{IdleMotion, LayoutKind, Parking};
use sledlab_models::merge::{MergeKind, MergeOperations};
use sledlab_models::power;
use sledlab_sim::{Experiment, Hooks, Outcome, Rows};

/// Requests of all kinds, including bursts, pauses and equal times.
fn requests(root_seed: u64, count: usize, capacity: u64, mean_gap_ns: u64) -> Vec<Request> {
    let mut rng = seed::stream(root_seed, "conservation");
    let mut now = 0;
    let mut next_request = |_| {
        now += if rng.random_bool(0.2) { 0 } else { rng.random_range(0..=2 * mean_gap_ns) };
        let op = match rng.random_range(0..20) {
            0 => Op::Trim,
            1 => Op::Flush,
            n if n < 11 => Op::Read,
            _ => Op::Write,
        };
        let blocks = if op == Op::Flush { 0 } else { rng.random_range(1..=64).min(capacity as u32) };
        let lbn = if op == Op::Flush { 0 } else { rng.random_range(0..=capacity - u64::from(blocks)) };
        Request { arrival: Time::from_ns(now), lbn, blocks, op, ..Request::default() }
    };
    (0..count).map(&mut next_request).collect()
}

fn run(experiment: &Experiment, source: Vec<Request>) -> (Outcome, Rows) {
    let mut all_rows = Rows::default();
    let mut sink = |rows: &Rows| {
        all_rows.id.extend(&rows.id);
        all_rows.arrival_ns.extend(&rows.arrival_ns);
        all_rows.start_ns.extend(&rows.start_ns);
        all_rows.completion_ns.extend(&rows.completion_ns);
        all_rows.response_ns.extend(&rows.response_ns);
        all_rows.overhead_ns.extend(&rows.overhead_ns);
        all_rows.seek_x_ns.extend(&rows.seek_x_ns);
        all_rows.settle_ns.extend(&rows.settle_ns);
        all_rows.seek_y_ns.extend(&rows.seek_y_ns);
        all_rows.turnaround_ns.extend(&rows.turnaround_ns);
        all_rows.rotation_ns.extend(&rows.rotation_ns);
        all_rows.transfer_ns.extend(&rows.transfer_ns);
        all_rows.op.extend(&rows.op);
        all_rows.seek_uj.extend(&rows.seek_uj);
        all_rows.access_uj.extend(&rows.access_uj);
        all_rows.startup_uj.extend(&rows.startup_uj);
        Ok(())
    };
    let source = Some(Box::new(MemorySource::new(source)) as Box<_>);
    let outcome =
        experiment.run(Hooks { source, rows: Some(Box::new(&mut sink)), ..Hooks::default() }).unwrap();
    (outcome, all_rows)
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}

/// Checks the summary and the per-request table of a run.
fn check(experiment: &Experiment, source: &[Request], stations: f64) {
    let (outcome, rows) = run(experiment, source.to_vec());
    let summary = &outcome.summary;
    let media = source.iter().filter(|request| request.op.is_media()).count() as u64;
    let count = |op| source.iter().filter(|request| request.op == op).count() as u64;
    assert_eq!(summary.requests, media);
    assert_eq!((summary.operations.trim, summary.operations.flush), (count(Op::Trim), count(Op::Flush)));
    assert_eq!(summary.operations.issued, source.len() as u64);
    assert_eq!(summary.operations.dropped, 0);

    let mut ids = rows.id.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len() as u64, media, "every request is completed exactly once");
    for i in 0..rows.op.len() {
        assert!(rows.arrival_ns[i] <= rows.start_ns[i] && rows.start_ns[i] <= rows.completion_ns[i]);
        assert_eq!(rows.response_ns[i], rows.completion_ns[i] - rows.arrival_ns[i]);
        let positioning_ns =
            (rows.seek_x_ns[i] + rows.settle_ns[i]).max(rows.seek_y_ns[i] + rows.turnaround_ns[i]);
        let service_ns = rows.overhead_ns[i] + positioning_ns + rows.rotation_ns[i] + rows.transfer_ns[i];
        assert_eq!(service_ns, rows.completion_ns[i] - rows.start_ns[i], "parts sum to the service time");
    }
    let mean_ms = rows.response_ns.iter().sum::<u64>() as f64 / 1e6 / media as f64;
    assert!(is_close(summary.response_time_ms.stats.mean, mean_ms));
    let bytes: u64 =
        source.iter().filter(|r| r.op.is_media()).map(|r| u64::from(r.blocks) * BLOCK_BYTES).sum();
    assert_eq!(summary.read.bytes + summary.write.bytes, bytes);

    let energy = summary.energy_j;
    let parts_j = energy.seek + energy.access + energy.idle + energy.inactive + energy.startup;
    assert!(is_close(energy.total, parts_j));
    let time = summary.state_time_s;
    let states_s = time.seek + time.access + time.idle + time.inactive + time.startup;
    assert!(is_close(states_s, stations * summary.elapsed_s), "{states_s} {}", summary.elapsed_s);
    assert!(is_close(summary.utilization, (time.seek + time.access) / stations / summary.elapsed_s));

    let (repeated, _) = run(experiment, source.to_vec());
    let to_json = |outcome: &Outcome| serde_json::to_string(&outcome.summary).unwrap();
    assert_eq!(to_json(&outcome), to_json(&repeated), "the same run gives the same bytes");
}

const G2_BLOCKS: u64 = 6_750_000;

#[test]
fn conservation_holds_for_every_preset_scheduler_and_mode() {
    // Requests within the capacity of the smallest device among the presets.
    let source = requests(1, 400, 2_050_860, 1_000_000);
    for device in sledlab_models::device::preset::names() {
        for scheduler in ["fcfs", "sptf", "sptf-exhaustive"] {
            for mode in ["open", "closed:1", "closed:7", "closed:3:0.4ms"] {
                let settings = [("scheduler.kind", scheduler), ("replay.mode", mode)];
                check(&experiment(device, &settings), &source, 1.0);
            }
        }
    }
}

#[test]
fn conservation_holds_for_devices_without_preset() {
    let source = requests(8, 400, 1_000_000, 1_000_000);
    for kind in sledlab_models::device::LIST.iter() {
        for scheduler in ["fcfs", "sptf", "c-scan"] {
            for mode in ["open", "closed:7"] {
                let settings = [
                    ("device.kind", kind.name),
                    ("scheduler.kind", scheduler),
                    ("replay.mode", mode),
                    ("replay.outside", "wrap"),
                ];
                let mut experiment = Experiment::new();
                for (key, value) in settings {
                    experiment.set(key, value).unwrap();
                }
                check(&experiment, &source, 1.0);
            }
        }
    }
}

#[test]
fn conservation_holds_for_several_sleds() {
    let source = requests(2, 600, 3 * G2_BLOCKS, 300_000);
    for map in ["contiguous", "round-robin"] {
        for (motion, stations) in [("independent", 3.0), ("together", 1.0)] {
            let settings = [
                ("device.sleds", "3"),
                ("device.sled_motion", motion),
                ("device.sled_map", map),
                ("device.stripe_blocks", "16"),
                ("scheduler.kind", "sptf"),
            ];
            let source: Vec<_> = source
                .iter()
                .map(|r| Request { lbn: r.lbn.min(3 * 6_749_984 - u64::from(r.blocks)), ..*r })
                .collect();
            check(&experiment("mems-g2", &settings), &source, stations);
        }
    }
}

#[test]
fn conservation_holds_behind_cache() {
    let source = requests(5, 400, 2_050_860, 1_000_000);
    for device in ["mems-g2", "mems-g2-disksim", "mobile-disk", "atlas-10k", "ram"] {
        for mode in ["open", "closed:7"] {
            let settings = [
                ("cache.kind", "write-back"),
                ("cache.capacity_blocks", "256"),
                ("cache.read_ahead_blocks", "32"),
                ("scheduler.kind", "sptf"),
                ("replay.mode", mode),
            ];
            check_behind_cache(&experiment(device, &settings), &source);
        }
    }
}

/// Checks that every request is completed once, and that the energy of the devices is that charged to requests and to
/// the cache's background work.
fn check_behind_cache(experiment: &Experiment, source: &[Request]) {
    let (outcome, rows) = run(experiment, source.to_vec());
    let summary = &outcome.summary;
    let mut ids = rows.id.clone();
    ids.sort_unstable();
    let served_ids =
        (0..).zip(source).filter(|(_, r)| matches!(r.op, Op::Read | Op::Write)).map(|(id, _)| id);
    assert_eq!(ids, served_ids.collect::<Vec<u64>>());
    assert!(rows.response_ns.iter().all(|ns| *ns >= 4_850), "one microsecond and a block on the bus");
    let cache = summary.cache.unwrap();
    let charged_uj: f64 = rows.seek_uj.iter().chain(&rows.access_uj).chain(&rows.startup_uj).sum();
    let energy = &summary.energy_j;
    assert!(is_close(charged_uj * 1e-6 + cache.background_j, energy.seek + energy.access + energy.startup));
    let written_blocks: u64 = source.iter().filter(|r| r.op == Op::Write).map(|r| u64::from(r.blocks)).sum();
    assert!(cache.destaged_blocks > 0 && cache.destaged_blocks <= written_blocks);
    assert_eq!(cache.write_hits + cache.write_waits, summary.operations.write);
    assert_eq!(cache.read_hits + cache.read_misses, summary.operations.read);
}

#[test]
fn sleds_moving_together_share_a_pass() {
    // 60 blocks at one position of three sleds take the time of one row; on one sled they take three rows.
    let request = Request { arrival: Time::ZERO, lbn: 0, blocks: 60, op: Op::Read, ..Request::default() };
    let service = |sleds| {
        let settings =
            [("device.sleds", sleds), ("device.sled_motion", "together"), ("device.sled_map", "round-robin")];
        run(&experiment("mems-g2", &settings), vec![request]).0.summary.time_by_part_ms.transfer
    };
    assert!(is_close(service("3"), 0.128_571));
    assert!(is_close(service("1"), 3.0 * 0.128_571));
    let one_row = run(&experiment("mems-g2", &[]), vec![Request { blocks: 20, ..request }]).0.summary;
    assert!(is_close(one_row.tip_time_s, 1280.0 * 128_571e-9));
    assert!(is_close(one_row.energy_j.access, (100.0 + 1280.0) * 1e-3 * 128_571e-9));
}

#[test]
fn disk_energy_covers_four_states() {
    let read = |seconds: u64| Request {
        arrival: Time::from_ns(seconds * 1_000_000_000),
        lbn: 1_000_000 * seconds / 60,
        blocks: 8,
        ..Request::default()
    };
    // The disk spins up for each: the second arrives a minute after the first, the third another minute later.
    let source = [read(0), read(60), read(120)];
    for (idle_state, sleep_w, startup_s) in [("sleep", 0.1, 2.5), ("off", 0.0, 4.0)] {
        let settings = [
            ("device.idle_state", idle_state),
            ("device.idle_timeout_ms", "7000.0"),
            ("system.start", "parked"),
        ];
        let summary = run(&experiment("mobile-disk", &settings), source.to_vec()).0.summary;
        let (time, energy) = (summary.state_time_s, summary.energy_j);
        assert_eq!(summary.startups, 3);
        assert!(is_close(time.startup, 3.0 * startup_s) && is_close(energy.startup, 3.0 * startup_s * 2.5));
        assert!(is_close(time.idle, 14.0) && is_close(energy.idle, 14.0));
        assert!(is_close(time.inactive, summary.elapsed_s - 14.0 - time.startup - time.seek - time.access));
        assert!(is_close(energy.inactive, sleep_w * time.inactive));
        assert!(is_close(energy.seek, 2.3 * time.seek) && is_close(energy.access, 2.3 * time.access));
        assert!(is_close(summary.time_by_part_ms.startup, startup_s * 1e3));
    }
}

#[test]
fn disk_parks_after_its_buffered_writes_are_on_medium() {
    let write = Request { lbn: 1_000_000, blocks: 8, op: Op::Write, ..Request::default() };
    let later_write = Request { arrival: Time::from_ns(1_000_000_000), ..write };
    let settings = [("power.kind", "immediate"), ("system.start", "ready")];
    let summary = run(&experiment("atlas-10k", &settings), vec![write, later_write]).0.summary;
    let time = summary.state_time_s;
    assert_eq!(summary.startups, 1);
    assert!(time.idle > 1e-3 && time.inactive > 0.9, "{time:?}");
}

#[test]
fn every_scheduler_serves_a_disk() {
    let source = requests(11, 60, 6_750_000, 10_000_000);
    for scheduler in sledlab_models::scheduler::LIST.iter().filter(|entry| entry.name != "optimal") {
        let settings = [("scheduler.kind", scheduler.name), ("replay.mode", "closed:4")];
        check(&experiment("mobile-disk", &settings), &source, 1.0);
    }
}

#[test]
fn optimal_scheduler_rejects_disks() {
    let settings = [("scheduler.kind", "optimal"), ("workload.kind", "uniform")];
    let error_message = experiment("mobile-disk", &settings).check().unwrap_err().to_string();
    assert!(
        error_message.contains("depend on the time at which the access starts, as on a disk"),
        "{error_message}"
    );
}

#[test]
fn index_and_exhaustive_search_give_equal_results() {
    let source = requests(3, 3000, G2_BLOCKS, 100_000);
    for direction in ["free", "parity", "up"] {
        let summary = |scheduler| {
            let settings = [("scheduler.kind", scheduler), ("device.direction", direction)];
            let (outcome, rows) = run(&experiment("mems-g2", &settings), source.clone());
            assert!(outcome.summary.queue_length.max > 50);
            rows.completion_ns
        };
        assert_eq!(summary("sptf"), summary("sptf-exhaustive"));
    }
}

#[test]
fn warm_up_of_trims_leaves_all_requests_of_limit() {
    let operation = |op, number: u64| Request {
        arrival: Time::from_ns(number * 1_000_000),
        lbn: 8 * number,
        blocks: 8,
        op,
        ..Request::default()
    };
    let trims = (0..20).map(|number| operation(Op::Trim, number));
    let source: Vec<_> = trims.chain((20..40).map(|number| operation(Op::Read, number))).collect();
    let settings = [("replay.warmup", "20"), ("replay.limit", "10")];
    assert_eq!(run(&experiment("mems-g2", &settings), source).0.summary.requests, 10);
    // A generator makes no trims, so that a warm-up as long as the limit excludes all requests.
    let settings = [("replay.warmup", "10"), ("replay.limit", "10"), ("workload.kind", "uniform")];
    let error_message = experiment("mems-g2", &settings).check().unwrap_err().to_string();
    assert!(
        error_message.contains("replay.warmup excludes all operations of replay.limit"),
        "{error_message}"
    );
}

#[test]
fn requests_for_lost_data_count_with_every_merging() {
    let read = |number: u64| Request {
        arrival: Time::from_ns(number.min(1) * 1_000),
        lbn: 4 * number,
        blocks: 4,
        ..Request::default()
    };
    for merge in MergeKind::WORDS {
        for operations in MergeOperations::WORDS {
            let settings =
                [("device.bad_tips", "6400"), ("merge.kind", merge), ("merge.operations", operations)];
            let settings = if *merge == "none" { &settings[..2] } else { &settings };
            let (outcome, _) = run(&experiment("mems-g2", settings), (0..6).map(read).collect());
            assert_eq!(outcome.summary.faults.unwrap().lost_requests, 6, "{settings:?}");
        }
    }
}

#[test]
fn tips_that_fail_in_last_service_count() {
    let settings = [("device.failing_tips", "64"), ("device.tips_fail_at_s", "0.0001")];
    let read = Request { blocks: 8, ..Request::default() };
    let (outcome, _) = run(&experiment("mems-g2", &settings), vec![read]);
    assert_eq!(outcome.summary.faults.unwrap().bad_tips, 64);
}

#[test]
fn warm_up_does_not_change_later_requests() {
    let source = requests(4, 1000, G2_BLOCKS, 700_000);
    let (_, all_rows) = run(&experiment("mems-g2", &[]), source.clone());
    let (outcome, counted_rows) = run(&experiment("mems-g2", &[("replay.warmup", "300")]), source.clone());
    let first_counted = all_rows.id.iter().position(|id| *id >= 300).unwrap();
    assert_eq!(counted_rows.completion_ns, all_rows.completion_ns[first_counted..]);
    let opened_s = source[300].arrival.as_seconds();
    let elapsed_s = *all_rows.completion_ns.last().unwrap() as f64 / 1e9 - opened_s;
    assert!(is_close(outcome.summary.elapsed_s, elapsed_s));
    let time = outcome.summary.state_time_s;
    assert!(is_close(time.seek + time.access + time.idle + time.inactive + time.startup, elapsed_s));
}

#[test]
fn start_up_may_span_end_of_warm_up() {
    let source = requests(4, 50, 6_700_000, 10_000_000);
    for warmup in ["0", "10"] {
        let settings = [("system.start", "parked"), ("replay.warmup", warmup)];
        let (outcome, _) = run(&experiment("mobile-disk", &settings), source.clone());
        let summary = &outcome.summary;
        let time = summary.state_time_s;
        let states_s = time.seek + time.access + time.idle + time.inactive + time.startup;
        assert!(is_close(states_s, summary.elapsed_s), "{states_s} {}", summary.elapsed_s);
        assert_eq!(summary.startups, u64::from(warmup == "0"), "only start-ups after the warm-up");
        assert!(time.startup > 1.0, "{}", time.startup);
    }
}

#[test]
fn flush_occupies_slot_until_writes_are_durable() {
    let request = |op, blocks| Request { arrival: Time::ZERO, lbn: 0, blocks, op, ..Request::default() };
    let source = vec![request(Op::Write, 8), request(Op::Flush, 0), request(Op::Read, 8)];
    let (_, rows) = run(&experiment("mems-g2", &[("replay.mode", "closed:2")]), source.clone());
    // The write and the flush occupy both slots, so the read arrives when they complete.
    assert_eq!(rows.arrival_ns[1], rows.completion_ns[0]);
    let (_, rows) = run(&experiment("mems-g2", &[("replay.mode", "closed:3")]), source);
    assert_eq!(rows.arrival_ns[1], 0);
}

#[test]
fn closed_replay_has_constant_number_outstanding() {
    let source = requests(5, 500, G2_BLOCKS, 1).into_iter().filter(|r| r.op.is_media()).collect::<Vec<_>>();
    let (outcome, rows) = run(&experiment("mems-g2", &[("replay.mode", "closed:5")]), source);
    assert!(outcome.summary.queue_length.max <= 5 && outcome.summary.utilization > 0.99);
    let mut events: Vec<(u64, i32)> = rows.arrival_ns.iter().map(|at| (*at, 1)).collect();
    events.extend(rows.completion_ns.iter().map(|at| (*at, -1)));
    events.sort_unstable();
    let mut in_flight = 0;
    let maximum = events.iter().map(|(_, change)| {
        in_flight += change;
        in_flight
    });
    assert_eq!(maximum.max(), Some(5));
}

#[test]
fn speedup_divides_arrival_times() {
    let source = requests(6, 200, G2_BLOCKS, 1_000_000);
    let arrivals =
        |speedup| run(&experiment("mems-g2", &[("replay.speedup", speedup)]), source.clone()).1.arrival_ns;
    let mut normal_arrivals = arrivals("1");
    let mut fast_arrivals = arrivals("4");
    normal_arrivals.sort_unstable();
    fast_arrivals.sort_unstable();
    assert!(normal_arrivals.iter().zip(&fast_arrivals).all(|(a, b)| (*a as f64 / 4.0).round() as u64 == *b));
}

#[test]
fn limits_by_count_and_time() {
    let source = requests(7, 300, G2_BLOCKS, 1_000_000);
    let issued_with =
        |key, value| run(&experiment("mems-g2", &[(key, value)]), source.clone()).0.summary.operations.issued;
    assert_eq!(issued_with("replay.operations", "100"), 100);
    let last = source.iter().enumerate().filter(|(_, request)| request.op.is_media()).nth(99).unwrap().0;
    assert!(last > 99, "the operations include flushes and trims");
    assert_eq!(issued_with("replay.limit", "100"), last as u64 + 1);
    let until = source[120].arrival;
    let expected = source.iter().filter(|request| request.arrival <= until).count() as u64;
    assert_eq!(issued_with("replay.duration_s", &until.as_seconds().to_string()), expected);
}

#[test]
fn arrivals_beyond_clock_range_are_rejected() {
    let late_request = Request {
        arrival: Time::from_ns(u64::MAX - 5),
        lbn: 0,
        blocks: 8,
        op: Op::Read,
        ..Request::default()
    };
    let source = Some(Box::new(MemorySource::new(vec![late_request])) as Box<_>);
    let error = experiment("mems-g2", &[]).run(Hooks { source, ..Hooks::default() }).unwrap_err();
    assert_eq!(error.origin(), sledlab_core::error::ErrorOrigin::User);
    assert!(error.to_string().contains("past the latest time"), "{error}");
}

#[test]
fn overload_is_reported_as_saturated() {
    let summary = |gap| run(&experiment("mems-g2", &[]), requests(8, 5000, G2_BLOCKS, gap)).0.summary;
    assert!(summary(200_000).saturated);
    assert!(!summary(2_000_000).saturated);
}

#[test]
fn overload_needs_a_busy_device() {
    let read = |ns, number: u64| Request {
        arrival: Time::from_ns(ns),
        lbn: number * 7919 % 100_000 * 8,
        blocks: 8,
        ..Request::default()
    };
    // 40 requests at each whole second, and as many spread over the second.
    let bursts = (0..4000).map(|i| read(i / 40 * 1_000_000_000, i)).collect::<Vec<_>>();
    let spread = (0..4000).map(|i| read(i * 25_000_000, i)).collect::<Vec<_>>();
    let overload = (0..4000).map(|i| read(i * 50_000, i)).collect::<Vec<_>>();
    let array: &[(&str, &str)] = &[("system.kind", "raid5"), ("system.devices", "4")];
    let cache_settings: &[(&str, &str)] = &[("cache.kind", "write-back")];
    for changes in [&[], array, cache_settings] {
        let is_saturated =
            |source: &Vec<Request>| run(&experiment("mems-g2", changes), source.clone()).0.summary.saturated;
        assert!(!is_saturated(&bursts) && !is_saturated(&spread), "{changes:?}");
        assert!(is_saturated(&overload), "{changes:?}");
    }
}

#[test]
fn states_of_a_stopped_run_fill_it() {
    let array: &[(&str, &str)] = &[("system.kind", "raid5"), ("system.devices", "4")];
    let sleds: &[(&str, &str)] = &[("device.sleds", "4")];
    let hybrid: &[(&str, &str)] = &[("hybrid.kind", "write-buffer")];
    let merging: &[(&str, &str)] = &[("merge.kind", "chains")];
    let cases = [
        ("mems-g2", array, 4.0, 50_000),
        ("mems-g2", sleds, 4.0, 50_000),
        ("mems-g2", merging, 1.0, 50_000),
        ("atlas-10k", &[], 1.0, 2_000_000),
        ("atlas-10k", hybrid, 2.0, 2_000_000),
    ];
    for (device, changes, devices, gap) in cases {
        let source = Some(Box::new(MemorySource::new(requests(9, 4000, G2_BLOCKS, gap))) as Box<_>);
        let hooks = Hooks { source, stop_overloaded: true, ..Hooks::default() };
        let summary = experiment(device, changes).run(hooks).unwrap().summary;
        assert!(summary.operations.dropped > 0, "{device}, {changes:?}");
        let time = &summary.state_time_s;
        let states = time.seek + time.access + time.idle + time.inactive + time.startup;
        let elapsed = devices * summary.elapsed_s;
        assert!((states - elapsed).abs() <= 1e-9 * elapsed, "{device}, {changes:?}: {states}, not {elapsed}");
    }
}

#[test]
fn overload_stop_does_not_change_sustained_runs() {
    let summary = |root, gap, stop_overloaded| {
        let source = Some(Box::new(MemorySource::new(requests(root, 3000, G2_BLOCKS, gap))) as Box<_>);
        let hooks = Hooks { source, stop_overloaded, ..Hooks::default() };
        experiment("mems-g2", &[("replay.warmup", "100")]).run(hooks).unwrap().summary
    };
    let mut saturated_runs = 0;
    for (root, gap) in
        (0..6).flat_map(|root| [200_000, 600_000, 700_000, 800_000, 1_200_000].map(|gap| (root, gap)))
    {
        let (drained, stopped) = (summary(root, gap, false), summary(root, gap, true));
        assert_eq!(stopped.saturated, drained.saturated, "{root}, {gap}");
        if drained.saturated {
            saturated_runs += 1;
            assert_eq!(stopped.operations.issued, drained.operations.issued);
            assert_eq!(stopped.operations.offered, drained.operations.offered);
            assert_eq!(drained.operations.offered, drained.operations.read + drained.operations.write);
            assert!(stopped.operations.dropped > 0 && stopped.elapsed_s < drained.elapsed_s);
        } else {
            assert_eq!(serde_json::to_string(&stopped).unwrap(), serde_json::to_string(&drained).unwrap());
        }
    }
    assert!((6..30).contains(&saturated_runs), "{saturated_runs}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn conservation_holds_for_any_disk(
        root: u64, gap in 1_u64..50_000_000, timeout in 0.0..50.0, startup in 0.0..200.0, overhead in 0.0..1.0,
        rpm in 3000_u64..16_000, sectors in 100_u64..400, off: bool, closed in 0_u64..9, sptf: bool,
    ) {
        let number = |x: f64| format!("{x:?}");
        let settings = [
            ("device.idle_timeout_ms", number(timeout)),
            ("device.startup_ms", number(startup)),
            ("device.off_startup_ms", number(2.0 * startup)),
            ("device.command_overhead_ms", number(overhead)),
            ("device.rpm", rpm.to_string()),
            (
                "device.zones",
                format!(
                    "[{{ first_cylinder = 0, cylinders = 6624, sectors_per_track = {sectors}, \
                     track_skew_sectors = 30, cylinder_skew_sectors = 42 }}]"
                ),
            ),
            ("device.idle_state", if off { "off" } else { "sleep" }.into()),
            ("scheduler.kind", if sptf { "sptf" } else { "fcfs" }.into()),
            ("replay.mode", if closed == 0 { "open".into() } else { format!("closed:{closed}") }),
        ];
        let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        check(&experiment("mobile-disk", &settings), &requests(root, 150, 3_900_000, gap), 1.0);
    }

    #[test]
    fn conservation_holds_for_any_sled(
        root: u64, gap in 1_u64..5_000_000, timeout in 0.0..5.0, startup in 0.0..2.0, overhead in 0.0..1.0,
        transfer in 0.0..50.0, interleaved: bool, layout in 0_usize..LayoutKind::WORDS.len(), direction in 0_usize..3,
        closed in 0_u64..9, idle in 0_usize..3, drift in prop::sample::select(IdleMotion::WORDS),
        parking in prop::sample::select(Parking::WORDS), sptf: bool,
        (columns, rows) in prop_oneof![Just((2_500_u32, 27_u32)), (1_u32..5, 1_u32..4)],
        (sleds, together) in prop_oneof![Just((1_u64, true)), (2_u64..4, any::<bool>())],
        policy in prop::sample::select(power::LIST.iter().map(|entry| entry.name).collect::<Vec<_>>()),
    ) {
        let number = |x: f64| format!("{x:?}");
        let capacity = u64::from(columns * rows * 100) * sleds;
        let (motion, stations) = if together { ("together", 1.0) } else { ("independent", sleds as f64) };
        let settings = [
            ("device.travel_x_um", number(f64::from(columns) * 0.04)),
            ("device.travel_y_um", number(f64::from(rows * 90 + 10) * 0.04)),
            ("device.idle_motion", drift.into()),
            ("device.sleds", sleds.to_string()),
            ("device.sled_motion", motion.into()),
            ("power.kind", policy.into()),
            ("device.idle_timeout_ms", number(timeout)),
            ("device.startup_ms", number(startup)),
            ("device.command_overhead_ms", number(overhead)),
            ("device.block_transfer_us", number(transfer)),
            ("device.pipeline", if interleaved { "interleaved" } else { "serial" }.into()),
            ("device.layout", LayoutKind::WORDS[layout].into()),
            ("device.direction", ["free", "parity", "up"][direction].into()),
            ("device.idle_power", ["servo-loop", "sled-only", "full"][idle].into()),
            ("device.parking", parking.into()),
            ("scheduler.kind", if sptf { "sptf" } else { "fcfs" }.into()),
            ("replay.mode", if closed == 0 { "open".into() } else { format!("closed:{closed}") }),
        ];
        let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (*key, value.as_str())).collect();
        check(&experiment("mems-g2", &settings), &requests(root, 150, capacity, gap), stations);
    }
}
