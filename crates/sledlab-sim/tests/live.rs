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
fn append(all: &mut Vec<(&'static str, Vec<u64>)>, rows: &Rows) {
    if all.is_empty() {
        *all = bits(rows);
    } else {
        all.iter_mut().zip(bits(rows)).for_each(|(all, new)| all.1.extend(new.1));
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
    let span = if rng.random_bool(0.5) { capacity } else { capacity.min(10_000) };
    let lbn = if op == Op::Flush { 0 } else { rng.random_range(0..=span - u64::from(blocks)) };
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
    let take = move |chunk: &Rows| {
        append(&mut sink.lock().unwrap(), chunk);
        Ok(())
    };
    let mut live = make(experiment, Some(Box::new(take))).unwrap();
    let mut rng = seed::stream(root, "live");
    let (mut submitted, mut answers) = (Vec::new(), Vec::new());
    let mut now = 0;
    while submitted.len() < operations {
        match rng.random_range(0..4) {
            // Several operations at the same time.
            0 | 1 => {
                now += if rng.random_bool(0.3) { 0 } else { rng.random_range(0..=2 * gap_ns) };
                let first = Request { blocks: 8, ..Request::default() };
                let drawn = draw(&mut rng, live.capacity_blocks());
                // A run without reads and writes has no results.
                let request = if submitted.is_empty() { first } else { drawn };
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
    let take = |chunk: &Rows| {
        append(&mut rows, chunk);
        Ok(())
    };
    let source = Some(Box::new(MemorySource::new(submitted.to_vec())) as Box<_>);
    let outcome = experiment.run(Hooks { source, rows: Some(Box::new(take)), ..Hooks::default() }).unwrap();
    (outcome, rows)
}

fn check(experiment: &Experiment, session: &Session) {
    let (outcome, rows) = replay(experiment, &session.submitted);
    for (live, replayed) in session.rows.iter().zip(&rows) {
        assert_eq!(live, replayed);
    }
    let text = |outcome: &Outcome| serde_json::to_string(&outcome.summary).unwrap();
    assert_eq!(text(&session.outcome), text(&outcome));

    let completed: HashMap<u64, Time> =
        session.answers.iter().map(|answer| (answer.id, answer.time)).collect();
    assert_eq!(completed.len(), session.answers.len(), "each is completed once");
    assert_eq!(completed.len(), session.submitted.len(), "and none is missing");
    let column = |name| &rows.iter().find(|(column, _)| *column == name).unwrap().1;
    for (id, completion) in column("id").iter().zip(column("completion_ns")) {
        assert_eq!(completed[id].as_ns(), *completion);
    }
    let own_flushes = experiment.get("cache.volatile").is_some();
    let mut written = Time::ZERO;
    for (id, request) in (0..).zip(&session.submitted) {
        match request.op {
            Op::Write => written = written.max(completed[&id]),
            Op::Flush if own_flushes => assert!(completed[&id] >= request.arrival),
            Op::Flush => {
                assert_eq!(completed[&id], written.max(request.arrival), "a flush waits for earlier writes");
            }
            Op::Trim => assert_eq!(completed[&id], request.arrival),
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
    let begin = || {
        let mut live = LiveRun::with_contents(&experiment, None).unwrap();
        let mut answers = Vec::new();
        live.submit(Time::from_ns(1_000), write(0), &mut answers).unwrap();
        live.submit(Time::from_ns(2_000), write(4096), &mut answers).unwrap();
        (live, answers)
    };
    let (mut live, mut answers) = begin();
    live.advance(Time::from_ns(1 << 40), &mut answers).unwrap();
    let [first, second] = answers[..] else { panic!("{answers:?}") };
    let before = |time: Time| Time::from_ns(time.as_ns() - 1);
    for (at, done) in [(before(first.time), 0), (first.time, 1), (before(second.time), 1), (second.time, 2)] {
        for survives in [false, true] {
            let (live, mut answers) = begin();
            let (outcome, contents) = live.crash(at, &mut || survives, &mut answers).unwrap();
            assert_eq!(outcome.map_or(0, |outcome| outcome.summary.requests), done);
            assert_eq!(answers.len() as u64, done, "outstanding operations never complete");
            assert_eq!(contents.len() as u64, 8 * if survives { 2 } else { done });
        }
    }
    let refused = LiveRun::new(&experiment, None).unwrap().crash(first.time, &mut || true, &mut Vec::new());
    assert!(refused.is_err(), "contents were not stored");
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
        let refused = LiveRun::new(&experiment("mems-g2", &[(key, value)]), None).err().unwrap();
        assert!(refused.to_string().contains(key.split('.').next().unwrap()), "{refused}");
    }
}

#[test]
fn ready_device_does_not_start_up() {
    let wait = |start| {
        let mut live = LiveRun::new(&experiment("atlas-10k", &[("system.start", start)]), None).unwrap();
        let mut answers = Vec::new();
        let read = Request { lbn: 80, blocks: 8, ..Request::default() };
        live.submit(Time::from_ns(1000), read, &mut answers).unwrap();
        let summary = live.finish(&mut answers).unwrap().summary;
        (summary.startups, answers[0].time.as_seconds())
    };
    let (startups, parked_s) = wait("parked");
    assert!(startups == 1 && parked_s > 1.0, "{parked_s}");
    let (startups, ready_s) = wait("ready");
    assert!(startups == 0 && ready_s < 0.03, "{ready_s}");
}
