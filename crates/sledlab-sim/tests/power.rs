//! Energy: checks under every power policy, with every technique to save energy, on every kind of device.

use proptest::prelude::*;
use sledlab_core::params::Choices;
use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request, Time};
use sledlab_models::device::mems::params::{IdlePower, LayoutKind, Pipeline};
use sledlab_models::merge::MergeKind;
use sledlab_models::power;
use sledlab_sim::{Experiment, Hooks, Rows, Summary};

fn run(settings: &[(&str, String)], source: Vec<Request>) -> (Summary, Rows) {
    let mut experiment = Experiment::new();
    for (key, value) in settings {
        match *key {
            "device" => experiment.set_device(value).unwrap(),
            key => experiment.set(key, value).unwrap(),
        }
    }
    let mut all_rows = Rows::default();
    let mut sink = |rows: &Rows| {
        all_rows.clone_from(rows);
        Ok(())
    };
    let source = Some(Box::new(MemorySource::new(source)) as Box<_>);
    let outcome =
        experiment.run(Hooks { source, rows: Some(Box::new(&mut sink)), ..Hooks::default() }).unwrap();
    (outcome.summary, all_rows)
}

fn settings<'a>(device: &str, others: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
    let device = ("device", device.to_owned());
    [device].into_iter().chain(others.iter().map(|(key, value)| (*key, (*value).to_owned()))).collect()
}

fn reads(arrivals_us: &[u64]) -> Vec<Request> {
    let read = |(number, us): (usize, &u64)| Request {
        arrival: Time::from_ns(us * 1000),
        lbn: 3_000_000 + 977 * number as u64,
        blocks: 16,
        ..Request::default()
    };
    arrivals_us.iter().enumerate().map(read).collect()
}

fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{a} is not {b}");
}

/// Checks that energies by state, by request and in total agree.
fn check(summary: &Summary, rows: &Rows) {
    let energy = &summary.energy_j;
    assert_close(energy.total, energy.seek + energy.access + energy.idle + energy.inactive + energy.startup);
    let joules = |uj: &[f64]| uj.iter().sum::<f64>() * 1e-6;
    assert_close(joules(&rows.seek_uj), energy.seek);
    assert_close(joules(&rows.access_uj), energy.access);
    assert_close(joules(&rows.startup_uj), energy.startup);
    assert_close(
        summary.request_energy_uj * summary.requests as f64 * 1e-6,
        energy.seek + energy.access + energy.startup,
    );
    let time = &summary.state_time_s;
    assert_close(time.seek + time.access + time.idle + time.inactive + time.startup, summary.elapsed_s);
    assert!(rows.seek_uj.iter().chain(&rows.access_uj).chain(&rows.startup_uj).all(|uj| *uj >= 0.0));
    check_startups(summary, rows);
}

/// Checks that each start-up is charged to one request that waited for all of it, and that no request waits for a
/// start-up longer than in the queue.
fn check_startups(summary: &Summary, rows: &Rows) {
    let startup_s = summary.state_time_s.startup / summary.startups as f64;
    let charged_startups = rows.startup_uj.iter().zip(&rows.startup_ns).filter(|(uj, _)| **uj > 0.0);
    if summary.energy_j.startup > 0.0 {
        assert_eq!(charged_startups.clone().count() as u64, summary.startups);
        charged_startups.for_each(|(_, ns)| assert_close(*ns as f64 * 1e-9, startup_s));
    }
    for ((startup_ns, arrival_ns), start_ns) in
        rows.startup_ns.iter().zip(&rows.arrival_ns).zip(&rows.start_ns)
    {
        assert!(*startup_ns <= start_ns - arrival_ns);
    }
}

/// Bursts and pauses around the break-even times of a sled and of a disk, with small and large requests.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let gap_us = prop_oneof![4 => 0_u64..300, 3 => 0_u64..5_000, 1 => 0_u64..20_000_000];
    let request = (gap_us, 0_u64..40_000, 1_u32..80, any::<bool>(), 0_u8..64, any::<bool>());
    prop::collection::vec(request, 1..80).prop_map(|draws| {
        let mut now = 0;
        let mut next_request = |(gap_us, place, blocks, write, unrequested_words, metadata)| {
            now += gap_us * 1000;
            let op = if write { Op::Write } else { Op::Read };
            let arrival = Time::from_ns(now);
            Request { arrival, lbn: place * 4, blocks, op, unrequested_words, metadata, ..Request::default() }
        };
        draws.into_iter().map(&mut next_request).collect()
    })
}

fn policies() -> Vec<String> {
    let listed_names = power::LIST.iter().map(|entry| entry.name.to_owned());
    let with_params =
        ["fixed:timeout_ms=0.3", "fixed:timeout_ms=5", "delayed-spinup:timeout_ms=2:requests=2:delay_ms=40"];
    listed_names.chain(with_params.map(str::to_owned)).collect()
}

#[test]
fn first_waiter_is_charged_for_startup() {
    // SPTF serves the last request first, which has waited 0.2 ms of the start-up of 0.5 ms.
    let read =
        |us: u64, lbn| Request { arrival: Time::from_ns(us * 1000), lbn, blocks: 8, ..Request::default() };
    let source = vec![read(0, 0), read(10_000, 6_700_000), read(10_300, 0)];
    for merge in MergeKind::WORDS {
        let others = [("power.kind", "immediate"), ("scheduler.kind", "sptf"), ("merge.kind", merge)];
        let (summary, rows) = run(&settings("mems-g2", &others), source.clone());
        check(&summary, &rows);
        let row_of = |id: u64| rows.id.iter().position(|other| *other == id).unwrap();
        assert!(rows.start_ns[row_of(2)] < rows.start_ns[row_of(1)]);
        assert_eq!([0, 1, 2].map(|id| rows.startup_ns[row_of(id)]), [0, 500_000, 200_000]);
        assert_eq!([1, 2].map(|id| rows.startup_uj[row_of(id)] > 0.0), [true, false]);
    }
}

/// The second request starts the device up again while the first is still being transferred.
#[test]
fn energy_includes_both_start_ups() {
    let settings = [
        ("power.kind", "immediate"),
        ("system.start", "parked"),
        ("device.startup_ms", "0.5"),
        ("device.startup_mw", "333.3333"),
    ];
    let read = |us: u64, lbn, blocks| Request {
        arrival: Time::from_ns(us * 1_000),
        lbn,
        blocks,
        ..Request::default()
    };
    let (summary, rows) =
        run(&self::settings("mems-g2-disksim", &settings), vec![read(0, 68_424, 67), read(1_862, 0, 1)]);
    assert_eq!(summary.startups, 2);
    check(&summary, &rows);
}

#[test]
fn device_without_start_setting_is_ready() {
    let (summary, _) = run(&settings("atlas-10k", &[]), reads(&[5_000]));
    assert_eq!((summary.startups, summary.state_time_s.inactive), (0, 0.0));
    assert_close(summary.state_time_s.idle, 5e-3);
    assert!(summary.response_time_ms.stats.max < 30.0);
}

#[test]
fn power_policy_applies_before_the_first_request() {
    let run = |policy: &str, start: &str| {
        let settings = settings("mems-g2", &[("power.kind", policy), ("system.start", start)]);
        let (summary, rows) = run(&settings, reads(&[10_000]));
        check(&summary, &rows);
        let ms = |seconds: f64| (seconds * 1e6).round() / 1e3;
        (summary.startups, ms(summary.state_time_s.idle), ms(summary.state_time_s.inactive))
    };
    assert_eq!(run("never", "ready"), (0, 10.0, 0.0));
    assert_eq!(run("fixed:timeout_ms=4", "ready"), (1, 4.0, 6.0));
    assert_eq!(run("fixed:timeout_ms=40", "ready"), (0, 10.0, 0.0));
    assert_eq!(run("immediate", "ready"), (1, 0.0, 10.0));
    assert_eq!(run("never", "parked"), (1, 0.0, 10.0));
}

/// The energies and times of a run in joules and seconds, by state.
fn by_state(summary: &Summary) -> [f64; 10] {
    let (energy, time) = (&summary.energy_j, &summary.state_time_s);
    let joules = [energy.seek, energy.access, energy.idle, energy.inactive, energy.startup];
    let seconds = [time.seek, time.access, time.idle, time.inactive, time.startup];
    std::array::from_fn(|index| if index < 5 { joules[index] } else { seconds[index - 5] })
}

#[test]
fn oracle_parks_devices_that_no_request_needs_again() {
    let read = |s: u64, lbn| Request {
        arrival: Time::from_ns(s * 1_000_000_000),
        lbn,
        blocks: 8,
        ..Request::default()
    };
    let run = |policy: &str, source: &[Request], system_settings: &[(&'static str, &str)]| {
        let settings: Vec<_> = system_settings.iter().copied().chain([("power.kind", policy)]).collect();
        run(&self::settings("mobile-disk", &settings), source.to_vec()).0
    };
    // The other disk of a pair parks for 5 s; the disk of both requests stays idle, as its break-even time is 6.9 s.
    let pair = [("system.kind", "concatenation"), ("system.devices", "2")];
    let summary = run("oracle", &[read(0, 0), read(5, 8)], &pair);
    let time = &summary.state_time_s;
    assert_eq!(summary.startups, 0);
    assert!((time.idle - 5.0).abs() < 0.1 && (time.inactive - 5.0).abs() < 0.1, "{time:?}");
    // The disk behind a cache serves the first request only.
    let hybrid = [("hybrid.kind", "caching-disk"), ("hybrid.front_mb", "64")];
    let source: Vec<Request> = (0..6).map(|second| read(second, 0)).collect();
    let joules = |policy| run(policy, &source, &hybrid).energy_j.total;
    assert!(joules("oracle") <= joules("immediate") * (1.0 + 1e-9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Without start-ups all policies have the same idle periods.
    #[test]
    fn no_policy_beats_oracle_without_startups(
        source in requests(),
        policy in prop::sample::select(policies()),
        system in prop::sample::select(vec!["stripe", "concatenation", "mirror"]),
        device in prop::sample::select(vec!["mems-g2", "mobile-disk"]),
    ) {
        let reads = source.iter().map(|request| Request { arrival: Time::ZERO, op: Op::Read, ..*request });
        let reads: Vec<Request> = reads.collect();
        let joules = |policy: &str| {
            let others =
                [("power.kind", policy), ("system.kind", system), ("system.devices", "3"), ("system.start", "ready")];
            let (summary, _) = run(&settings(device, &others), reads.clone());
            (summary.startups, summary.energy_j.total)
        };
        let ((startups, oracle_j), (_, other_j)) = (joules("oracle"), joules(&policy));
        prop_assert_eq!(startups, 0);
        prop_assert!(oracle_j <= other_j * (1.0 + 1e-9), "{}: {} J, the oracle {} J", policy, other_j, oracle_j);
    }

    /// Several sleds that move together draw the power of one, times their number, for requests on one sled.
    #[test]
    fn energy_scales_with_sleds_that_move_together(
        source in requests(),
        policy in prop::sample::select(policies()),
        layout in prop::sample::select(LayoutKind::WORDS),
        idle_power in prop::sample::select(IdlePower::WORDS),
        pipeline in prop::sample::select(Pipeline::WORDS),
        sleds in 2_u64..6,
    ) {
        let run_with = |sleds: u64, tip_mw: &str| {
            let sleds = sleds.to_string();
            let mut settings = settings("mems-g2", &[
                ("power.kind", &policy), ("device.layout", layout), ("device.idle_power", idle_power),
                ("device.pipeline", pipeline), ("device.sleds", &sleds), ("device.sled_motion", "together"),
                ("device.tip_mw", tip_mw),
            ]);
            if tip_mw != "0.0" {
                settings.extend(["sled_mw", "startup_mw", "inactive_mw"].map(|power| match power {
                    "sled_mw" => ("device.sled_mw", "0.0".to_owned()),
                    "startup_mw" => ("device.startup_mw", "0.0".to_owned()),
                    _ => ("device.inactive_mw", "0.0".to_owned()),
                }));
            }
            let (summary, rows) = run(&settings, source.clone());
            check(&summary, &rows);
            by_state(&summary)
        };
        // Without power of the tips, all energies are those of one sled times the number of sleds.
        let (one_sled, several_sleds) = (run_with(1, "0.0"), run_with(sleds, "0.0"));
        for (at, (one, several)) in one_sled.iter().zip(&several_sleds).enumerate() {
            assert_close(if at < 5 { one * sleds as f64 } else { *one }, *several);
        }
        // Tips of other sleds stay off.
        let (one_sled, several_sleds) = (run_with(1, "0.5"), run_with(sleds, "0.5"));
        one_sled.iter().zip(&several_sleds).for_each(|(one, several)| assert_close(*one, *several));
    }

    #[test]
    fn energy_sums_to_the_total(
        source in requests(),
        policy in prop::sample::select(policies()),
        device in prop::sample::select(vec!["mems-g2", "mems-g3", "mems-g2-disksim", "mobile-disk"]),
        scheduler in prop::sample::select(vec!["fcfs", "sptf", "p-sptf"]),
        merge in prop::sample::select(vec!["none", "pairs:among=neighbors", "chains:operations=any:rows=3"]),
        subsector in any::<bool>(),
        startup_ms in prop::sample::select(vec!["0", "0.5", "7.25"]),
    ) {
        let merge = if device == "mems-g2-disksim" { "none" } else { merge };
        let mut settings = settings(device, &[
            ("power.kind", &policy), ("scheduler.kind", scheduler), ("merge.kind", merge),
            ("device.startup_ms", startup_ms),
            // Not an integer number of milliwatts: sums must also be exact for non-integers.
            ("device.startup_mw", "333.3333"),
        ]);
        if device.starts_with("mems") {
            settings.push(("device.subsector_access", subsector.to_string()));
        }
        let (summary, rows) = run(&settings, source);
        check(&summary, &rows);
    }

    #[test]
    fn inactive_tips_change_only_energy(
        source in requests(),
        (device, sleds) in prop::sample::select(vec![("mems-g2", "1"), ("mems-g2-disksim", "1"), ("mems-g2", "3")]),
        metadata_block_bytes in prop::sample::select(vec![512_u64, 128, 4]),
    ) {
        // Longer requests have parts on several sleds: tips are inactive in the last block of the request, or in every
        // block of one for metadata.
        let run_with = |subsector: &str| run(&settings(device, &[
            ("device.subsector_access", subsector), ("device.sleds", sleds), ("device.sled_motion", "independent"),
            ("device.sled_map", "round-robin"), ("device.stripe_blocks", "4"),
            ("replay.metadata_block_bytes", &metadata_block_bytes.to_string()),
        ]), source.clone());
        let ((all_tips, rows), (dark_tips, dark_rows)) = (run_with("false"), run_with("true"));
        prop_assert_eq!(&rows.response_ns, &dark_rows.response_ns);
        assert_close(all_tips.tip_time_s, dark_tips.tip_time_s + dark_tips.dark_tip_time_s);
        let unrequested_words = |request: &Request| if request.metadata && metadata_block_bytes < 512 {
            u64::from(request.blocks) * (64 - metadata_block_bytes.div_ceil(8))
        } else {
            u64::from(request.unrequested_words)
        };
        let unrequested_words: u64 = source.iter().map(unrequested_words).sum();
        // One row of 90 bits at 700 kbit/s.
        let dark_s = unrequested_words as f64 * 128.571e-6;
        prop_assert!((dark_tips.dark_tip_time_s - dark_s).abs() <= 1e-9 * unrequested_words as f64);
        assert_close(all_tips.energy_j.access - dark_tips.energy_j.access, dark_tips.dark_tip_time_s * 1e-3);
        prop_assert!(dark_tips.energy_j.idle <= all_tips.energy_j.idle);
        assert_close(all_tips.dark_tip_time_s, 0.0);
    }
}

#[test]
fn delayed_start_waits_for_requests_or_timeout() {
    let run = |limits: &str, arrivals_us: &[u64]| {
        let policy = format!("delayed-spinup:{limits}");
        run(&settings("mems-g2", &[("power.kind", &policy)]), reads(arrivals_us))
    };
    let start_us = |rows: &Rows| rows.start_ns.iter().map(|ns| ns / 1000).collect::<Vec<_>>();
    let arrivals = [100, 4_100, 8_100];
    // The third request starts the sled at once; 0.5 ms later the first is selected.
    let (summary, rows) = run("requests=3:delay_ms=50", &arrivals);
    assert_eq!((start_us(&rows)[0], summary.startups), (8_600, 1));
    assert!(summary.state_time_s.idle == 0.0 && (summary.state_time_s.inactive - 8.1e-3).abs() < 1e-9);
    // The first has waited for 5 ms before the third arrives.
    let (summary, rows) = run("requests=3:delay_ms=5", &arrivals);
    assert_eq!((start_us(&rows)[0], summary.startups), (5_600, 2));
    // A single request starts the sled.
    let (summary, rows) = run("requests=1:delay_ms=50", &arrivals);
    assert_eq!((start_us(&rows)[0], summary.startups), (600, 3));
    // At the end of the workload no request waits for others.
    let (summary, _) = run("requests=9:delay_ms=20", &arrivals);
    assert!(summary.requests == 3 && summary.response_time_ms.stats.max > 20.5);
}

#[test]
fn parking_energy_follows_power_parameters() {
    let run = |policy: &str, gap_us: u64| {
        let settings = settings("mems-g2", &[("power.kind", policy), ("system.start", "parked")]);
        let (summary, _) = run(&settings, reads(&[0, gap_us]));
        (summary.energy_j, summary.state_time_s)
    };
    let (never, time) = run("never", 100_000);
    assert!(time.idle > 0.09 && never.inactive == 0.0);
    let idle_mw = never.idle / time.idle * 1e3;
    assert!((145.0..175.0).contains(&idle_mw), "{idle_mw}");
    let (immediate, parked_time) = run("immediate", 100_000);
    assert!(parked_time.idle == 0.0 && parked_time.inactive > 0.09);
    assert_close(immediate.inactive, 0.05 * parked_time.inactive);
    assert_close(immediate.startup, 2.0 * 5e-5);
    let (oracle, _) = run("oracle", 100_000);
    assert_close(oracle.total, immediate.total);
    // Just after the first request is complete: an idle period shorter than the break-even time.
    let busy_us = 500 + 800;
    let (oracle, wait_time) = run("oracle", busy_us);
    assert!(wait_time.idle > 0.0 && wait_time.idle < 5e-4, "{wait_time:?}");
    assert_close(oracle.total, run("never", busy_us).0.total);
}

#[test]
fn random_last_block_saves_energy_at_any_speed() {
    let saved_share = |speedup: &str| {
        let run_with = |last_block: &str| {
            let others = [
                ("workload.kind", "uniform"),
                ("workload.requests", "2000"),
                ("device.subsector_access", "true"),
                ("replay.last_block", last_block),
                ("replay.speedup", speedup),
            ];
            let mut experiment = Experiment::new();
            experiment.set_device("mems-g3").unwrap();
            for (key, value) in others {
                experiment.set(key, value).unwrap();
            }
            experiment.run(Hooks::default()).unwrap().summary
        };
        let (whole_block, random) = (run_with("given"), run_with("random"));
        assert_eq!(whole_block.response_time_ms, random.response_time_ms);
        whole_block.energy_j.access - random.energy_j.access
    };
    // 31.5 of 64 tips inactive on average, 1 mW each, for a row of 90 bits at 1 Mbit/s (Lin, section 5.3).
    let slow_saving = saved_share("1");
    assert!((slow_saving / (2000.0 * 31.5e-3 * 90e-6) - 1.0).abs() < 0.03, "{slow_saving}");
    assert_close(slow_saving, saved_share("7"));
}

#[test]
fn partial_metadata_blocks_save_tip_energy() {
    // Successive requests of 16 blocks, which queue; all but each fourth are for metadata.
    let source: Vec<Request> = (0..200_u64)
        .map(|i| Request {
            arrival: Time::from_ns(i * 20_000),
            lbn: i * 16,
            blocks: 16,
            metadata: i % 4 != 0,
            ..Request::default()
        })
        .collect();
    let run_with = |merge: &str, block_bytes: &str, factor: &str| {
        let others = [
            ("device.subsector_access", "true"),
            ("device.subsector_tip_factor", factor),
            ("replay.metadata_block_bytes", block_bytes),
            ("merge.kind", merge),
        ];
        run(&settings("mems-g2", &others), source.clone()).0
    };
    for merge in ["none", "chains:rows=4"] {
        let whole_blocks = run_with(merge, "512", "1.5");
        assert_eq!(whole_blocks.merged.requests > 100, merge != "none");
        // 64 tips of 1 mW for each of 16 blocks, for a row of 90 bits at 700 kbit/s.
        let metadata_tips_j = 150.0 * 16.0 * 64.0 * 1e-3 * 128.571e-6;
        // One or 16 tips hold the requested words of a block.
        for (block_bytes, factor, tips) in [
            ("4", "1", 1.0),
            ("128", "1", 16.0),
            ("4", "1.5", 1.5),
            ("128", "1.5", 24.0),
            ("400", "1.5", 64.0),
        ] {
            let partial_blocks = run_with(merge, block_bytes, factor);
            assert_eq!(whole_blocks.response_time_ms, partial_blocks.response_time_ms);
            let saved_j = whole_blocks.energy_j.access - partial_blocks.energy_j.access;
            let expected_j = metadata_tips_j * (1.0 - tips / 64.0);
            assert!((saved_j - expected_j).abs() <= 1e-9 * metadata_tips_j, "{saved_j}, not {expected_j}");
        }
    }
}

#[test]
fn merging_with_interleaved_bus_is_rejected() {
    let mut experiment = Experiment::new();
    experiment.set_device("mems-g2-disksim").unwrap();
    experiment.set("workload.kind", "uniform").unwrap();
    experiment.set("merge.kind", "chains").unwrap();
    let message = experiment.check().unwrap_err().to_string();
    assert!(message.contains("merge.kind") && message.contains("device.pipeline"), "{message}");
}
