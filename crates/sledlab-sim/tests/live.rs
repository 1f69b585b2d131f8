//! A live system completes operations like a replay of them, independent of when and how often its caller requests
//! events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::experiments::experiment;
use proptest::prelude::*;
use rand::RngExt;
use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request, Result, Time, seed};
use sledlab_sim::{Answer, Experiment, Hooks, LiveRun, Outcome, RowSink, Rows};

/// Systems of every kind that may be a live device: a device, and further settings.
const SYSTEMS: [(&str, &[(&str, &str)]); 22] = [
    ("mems-g2", &[]),
    ("mems-g2", &[("scheduler.kind", "sptf")]),
    ("mems-g2", &[("scheduler.kind", "c-look"), ("merge.kind", "chains")]),
    ("mems-g3", &[("scheduler.kind", "asptf"), ("power.kind", "fixed:timeout_ms=1")]),
    ("mems-g2-disksim", &[("scheduler.kind", "sptf")]),
    ("mems-g3", &[("device.sleds", "4"), ("device.sled_motion", "independent")]),
    ("ram", &[]),
    ("ssd-tlc", &[]),
    ("atlas-10k", &[]),
    ("atlas-10k", &[("scheduler.kind", "sptf"), ("system.start", "ready")]),
    ("hp-c2490a", &[("scheduler.kind", "c-look")]),
    ("mems-g2", &[("system.kind", "stripe"), ("system.devices", "8"), ("scheduler.kind", "sptf")]),
    ("mems-g2", &[("system.kind", "mirror"), ("system.devices", "2"), ("system.start", "ready")]),
    ("mems-g2", &[("system.kind", "raid5"), ("system.devices", "5")]),
    ("atlas-10k", &[("system.kind", "stripe"), ("system.devices", "3"), ("system.bus", "shared")]),
    ("mems-g2", &[("cache.kind", "write-back"), ("cache.capacity_blocks", "2000")]),
    (
        "mems-g2",
        &[
            ("cache.kind", "write-back"),
            ("cache.volatile", "true"),
            ("system.kind", "raid5"),
            ("system.devices", "3"),
        ],
    ),
    ("atlas-10k", &[("hybrid.kind", "caching-disk"), ("system.start", "ready")]),
    ("atlas-10k", &[("hybrid.kind", "write-buffer")]),
    ("atlas-10k", &[("hybrid.kind", "write-buffer"), ("scheduler.kind", "sptf")]),
    ("atlas-10k", &[("hybrid.kind", "mirror"), ("system.start", "ready")]),
    ("mems-g2", &[("replay.warmup", "20"), ("scheduler.kind", "pa-sptf")]),
];

/// Returns every column of the per-request table, as the bits of its values.
fn bits(rows: &Rows) -> Vec<(&'static str, Vec<u64>)> {
    let times = rows.columns().into_iter().map(|(name, values)| (name, values.to_vec()));
    let energies = rows.energies().into_iter();
    let energies = energies.map(|(name, values)| (name, values.iter().map(|x| x.to_bits()).collect()));
    let letters = ("op", rows.op.iter().map(|&letter| letter.into()).collect());
    times.chain(energies).chain([letters, ("device", rows.device.clone())]).collect()
}

/// Appends the columns of `rows` to those of earlier chunks.
fn append(columns: &mut Vec<(&'static str, Vec<u64>)>, rows: &Rows) {
    if columns.is_empty() {
        *columns = bits(rows);
    } else {
        columns.iter_mut().zip(bits(rows)).for_each(|(column, new_column)| column.1.extend(new_column.1));
    }
}

fn draw(rng: &mut impl RngExt, capacity: u64) -> Request {
    let op = match rng.random_range(0..20) {
        0 => Op::Trim,
        1 | 2 => Op::Flush,
        n if n < 11 => Op::Read,
        _ => Op::Write,
    };
    let blocks = if op == Op::Flush { 0 } else { rng.random_range(1..=64).min(capacity as u32) };
    // About every second request is near the others, so that caches hit and requests merge.
    let range_blocks = if rng.random_bool(0.5) { capacity } else { capacity.min(10_000) };
    let lbn = if op == Op::Flush { 0 } else { rng.random_range(0..=range_blocks - u64::from(blocks)) };
    let unrequested_words = if op.is_media() && rng.random_bool(0.1) { rng.random_range(0..64) } else { 0 };
    Request { lbn, blocks, op, unrequested_words, ..Request::default() }
}

/// Results of a session.
struct Session {
    submitted: Vec<Request>,
    answers: Vec<Answer>,
    rows: Vec<(&'static str, Vec<u64>)>,
    outcome: Outcome,
}

/// Simulates a host whose clock is late by up to `lateness_ns`, and that requests events at random times.
fn session(experiment: &Experiment, root: u64, operations: usize, gap_ns: u64, lateness_ns: u64) -> Session {
    make_session(LiveRun::new, experiment, root, operations, (gap_ns, lateness_ns))
}

type Make = fn(&Experiment, Option<RowSink<'static>>) -> Result<LiveRun>;

fn make_session(
    make: Make,
    experiment: &Experiment,
    root: u64,
    operations: usize,
    (gap_ns, lateness_ns): (u64, u64),
) -> Session {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let sink = rows.clone();
    let take_rows = move |chunk: &Rows| {
        append(&mut sink.lock().unwrap(), chunk);
        Ok(())
    };
    let mut live = make(experiment, Some(Box::new(take_rows))).unwrap();
    let mut rng = seed::stream(root, "live");
    let (mut submitted, mut answers) = (Vec::new(), Vec::new());
    let mut now = 0;
    while submitted.len() < operations {
        match rng.random_range(0..4) {
            // Several operations at the same time.
            0 | 1 => {
                now += if rng.random_bool(0.3) { 0 } else { rng.random_range(0..=2 * gap_ns) };
                let first = Request { blocks: 8, ..Request::default() };
                let random_request = draw(&mut rng, live.capacity_blocks());
                // A run without reads and writes has no results.
                let request = if submitted.is_empty() { first } else { random_request };
                let (id, stamp) = live.submit(Time::from_ns(now), request, &mut answers).unwrap();
                assert_eq!(id, submitted.len() as u64);
                assert!(stamp >= Time::from_ns(now));
                submitted.push(Request { arrival: stamp, ..request });
            }
            2 => {
                if let Some(due) = live.next_event() {
                    now = now.max(due.as_ns() + rng.random_range(0..=lateness_ns));
                }
                live.advance(Time::from_ns(now), &mut answers).unwrap();
                assert!(
                    live.next_event().is_none_or(|next| next > Time::from_ns(now)),
                    "all due events are handled"
                );
            }
            _ => live.advance(Time::from_ns(now), &mut answers).unwrap(),
        }
    }
    let outcome = live.finish(&mut answers).unwrap();
    let rows = std::mem::take(&mut *rows.lock().unwrap());
    Session { submitted, answers, rows, outcome }
}

fn replay(experiment: &Experiment, submitted: &[Request]) -> (Outcome, Vec<(&'static str, Vec<u64>)>) {
    let mut rows = Vec::new();
    let take_rows = |chunk: &Rows| {
        append(&mut rows, chunk);
        Ok(())
    };
    let source = Some(Box::new(MemorySource::new(submitted.to_vec())) as Box<_>);
    let outcome =
        experiment.run(Hooks { source, rows: Some(Box::new(take_rows)), ..Hooks::default() }).unwrap();
    (outcome, rows)
}

fn check(experiment: &Experiment, session: &Session) {
    let (outcome, rows) = replay(experiment, &session.submitted);
    for (live, replayed) in session.rows.iter().zip(&rows) {
        assert_eq!(live, replayed);
    }
    let to_json = |outcome: &Outcome| serde_json::to_string(&outcome.summary).unwrap();
    assert_eq!(to_json(&session.outcome), to_json(&outcome));

    let answers_by_id: HashMap<u64, Answer> =
        session.answers.iter().map(|answer| (answer.id, *answer)).collect();
    assert_eq!(answers_by_id.len(), session.answers.len(), "each is completed once");
    assert_eq!(answers_by_id.len(), session.submitted.len(), "and none is missing");
    let column = |name| &rows.iter().find(|(column, _)| *column == name).unwrap().1;
    for (id, completion) in column("id").iter().zip(column("completion_ns")) {
        assert_eq!(answers_by_id[id].time.as_ns(), *completion);
    }
    let has_volatile_cache = experiment.get("cache.volatile").is_some();
    let mut durable_time = Time::ZERO;
    for (id, request) in (0..).zip(&session.submitted) {
        match request.op {
            Op::Write => durable_time = durable_time.max(answers_by_id[&id].durable),
            Op::Flush if has_volatile_cache => assert!(answers_by_id[&id].time >= request.arrival),
            Op::Flush => {
                assert_eq!(
                    answers_by_id[&id].time,
                    durable_time.max(request.arrival),
                    "earlier writes are durable"
                );
            }
            Op::Trim => assert_eq!(answers_by_id[&id].time, request.arrival),
            Op::Read => {}
        }
    }
}

#[test]
fn live_completions_equal_those_of_replay() {
    for (root, (device, settings)) in (0..).zip(SYSTEMS) {
        let experiment = experiment(device, settings);
        for (gap_ns, lateness_ns) in [(2_000_000, 10_000), (200_000, 2_000_000), (1_000, 0)] {
            check(&experiment, &session(&experiment, root, 400, gap_ns, lateness_ns));
        }
    }
}

#[test]
fn media_with_contents_do_not_change_results() {
    for (root, (device, settings)) in (100..).zip(SYSTEMS) {
        let experiment = experiment(device, settings);
        for pace in [(2_000_000, 10_000), (100_000, 500_000)] {
            check(&experiment, &make_session(LiveRun::with_contents, &experiment, root, 200, pace));
        }
    }
}

/// A live system whose power fails reports the operations that it has completed; later completions are lost.
#[test]
fn power_failure_ends_run() {
    let experiment = experiment("mems-g2", &[("system.start", "ready")]);
    let write = |lbn| Request { lbn, blocks: 8, op: Op::Write, ..Request::default() };
    let begin_writes = || {
        let mut live = LiveRun::with_contents(&experiment, None).unwrap();
        let mut answers = Vec::new();
        live.submit(Time::from_ns(1_000), write(0), &mut answers).unwrap();
        live.submit(Time::from_ns(2_000), write(4096), &mut answers).unwrap();
        (live, answers)
    };
    let (mut live, mut answers) = begin_writes();
    live.advance(Time::from_ns(1 << 40), &mut answers).unwrap();
    let [first, second] = answers[..] else { panic!("{answers:?}") };
    let just_before = |answer: Answer| Time::from_ns(answer.time.as_ns() - 1);
    for (at, completed) in
        [(just_before(first), 0), (first.time, 1), (just_before(second), 1), (second.time, 2)]
    {
        for survives in [false, true] {
            let (live, mut answers) = begin_writes();
            let (outcome, contents) = live.crash(at, &mut || survives, &mut answers).unwrap();
            assert_eq!(outcome.map_or(0, |outcome| outcome.summary.requests), completed);
            assert_eq!(answers.len() as u64, completed, "outstanding operations never complete");
            assert_eq!(contents.len() as u64, 8 * if survives { 2 } else { completed });
        }
    }
    let outcome = LiveRun::new(&experiment, None).unwrap().crash(first.time, &mut || true, &mut Vec::new());
    assert!(outcome.is_err(), "contents were not stored");
}

/// A write is complete when it is in the buffer of the disk; a flush waits until it is on the medium. Without the
/// flush, a failure at any time before loses the write.
#[test]
fn flush_waits_for_disk_buffer() {
    let settings: [&[(&str, &str)]; 5] = [
        &[],
        &[("device.queue_depth", "4")],
        &[("system.kind", "stripe"), ("system.devices", "2")],
        &[("system.kind", "concatenation"), ("system.devices", "2")],
        &[("system.kind", "stripe"), ("system.devices", "2"), ("system.bus", "shared")],
    ];
    for system in settings {
        let disk_settings = [("device.buffers_writes", "true"), ("system.start", "ready")];
        let experiment = experiment("atlas-10k", &[&disk_settings, system].concat());
        let write_and_flush = || {
            let mut live = LiveRun::with_contents(&experiment, None).unwrap();
            let mut answers = Vec::new();
            let write = Request { lbn: 1_000_000, blocks: 8, op: Op::Write, ..Request::default() };
            live.submit(Time::from_ns(1_000), write, &mut answers).unwrap();
            while answers.is_empty() {
                live.advance(live.next_event().unwrap(), &mut answers).unwrap();
            }
            let flush = Request { op: Op::Flush, ..Request::default() };
            live.submit(answers[0].time, flush, &mut answers).unwrap();
            (live, answers)
        };
        let [write, flush] = write_and_flush().1[..] else { panic!("{system:?}") };
        assert!(flush.time.since(write.time).as_ms() > 1.0, "{system:?}: {write:?}, {flush:?}");
        for (at, blocks) in [(Time::from_ns(flush.time.as_ns() - 1), 0), (flush.time, 8)] {
            let (_, contents) = write_and_flush().0.crash(at, &mut || false, &mut Vec::new()).unwrap();
            assert_eq!(contents.len(), blocks, "{system:?} at {at}");
        }
    }
}

/// A flush in a closed replay holds its slot until the data in the buffer of the disk is on the medium; the run lasts
/// until then.
#[test]
fn flush_of_disk_buffer_holds_slot() {
    let run = |replay_mode: &str, ops: &[Op]| {
        let disk =
            [("device.buffers_writes", "true"), ("system.start", "ready"), ("replay.mode", replay_mode)];
        let request = |(index, op): (u64, &Op)| {
            let blocks = if *op == Op::Flush { 0 } else { 8 };
            Request { lbn: 1_000_000 * (index + 1), op: *op, blocks, ..Request::default() }
        };
        let requests: Vec<Request> = (0..).zip(ops).map(request).collect();
        replay(&experiment("atlas-10k", &disk), &requests)
    };
    let (outcome, rows) = run("closed:1", &[Op::Write, Op::Flush, Op::Write]);
    let column = |name| &rows.iter().find(|(column, _)| *column == name).unwrap().1;
    let (completions, arrivals) = (column("completion_ns"), column("arrival_ns"));
    assert!(arrivals[1] > completions[0] + 1_000_000, "{completions:?}, {arrivals:?}");
    assert!(outcome.summary.elapsed_s * 1e9 >= completions[1] as f64);
    let (flush_last, _) = run("closed:1", &[Op::Write, Op::Flush]);
    assert_eq!((flush_last.summary.elapsed_s * 1e9).round() as u64, arrivals[1]);
    // A read in the other slot is not delayed by the flush.
    let (_, two_slots) = run("closed:2", &[Op::Write, Op::Read, Op::Flush, Op::Read]);
    let arrivals = &two_slots.iter().find(|(column, _)| *column == "arrival_ns").unwrap().1;
    assert!(arrivals.is_sorted(), "{arrivals:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_host_gets_completions_of_replay(
        which in 0..SYSTEMS.len(),
        root in any::<u64>(),
        gap_ns in prop::sample::select(vec![0_u64, 1, 50_000, 1_000_000, 30_000_000]),
        lateness_ns in prop::sample::select(vec![0_u64, 1, 30_000, 50_000_000]),
        operations in 1_usize..200,
    ) {
        let (device, settings) = SYSTEMS[which];
        let mut experiment = experiment(device, settings);
        experiment.set("replay.warmup", "0").unwrap();
        check(&experiment, &session(&experiment, root, operations, gap_ns, lateness_ns));
    }
}

#[test]
fn settings_of_arrivals_are_rejected() {
    for (key, value) in [("replay.mode", "closed:4"), ("replay.speedup", "2.0"), ("workload.kind", "uniform")]
    {
        let error = LiveRun::new(&experiment("mems-g2", &[(key, value)]), None).err().unwrap();
        assert!(error.to_string().contains(key.split('.').next().unwrap()), "{error}");
    }
}

#[test]
fn ready_device_does_not_start_up() {
    let start_up_times = |start| {
        let mut live = LiveRun::new(&experiment("atlas-10k", &[("system.start", start)]), None).unwrap();
        let mut answers = Vec::new();
        let read = Request { lbn: 80, blocks: 8, ..Request::default() };
        live.submit(Time::from_ns(1000), read, &mut answers).unwrap();
        let summary = live.finish(&mut answers).unwrap().summary;
        (summary.startups, answers[0].time.as_seconds())
    };
    let (startups, parked_s) = start_up_times("parked");
    assert!(startups == 1 && parked_s > 1.0, "{parked_s}");
    let (startups, ready_s) = start_up_times("ready");
    assert!(startups == 0 && ready_s < 0.03, "{ready_s}");
}
