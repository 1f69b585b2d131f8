//! Tests of interrupts, and that polling for interrupts changes no result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sledlab_core::source::MemorySource;
use sledlab_core::{Op, Request};
use sledlab_models::device::preset::{self, DeviceFile};
use sledlab_models::device::{Mechanics, QueuedRequest};
use sledlab_models::merge::MergeParams;
use sledlab_models::power;
use sledlab_models::scheduler::{self, Scheduler};
use sledlab_models::system::{self, Setup, Start};

use super::*;
use crate::rows::Rows;

/// A first-come, first-served scheduler that sleeps in every decision.
struct SlowScheduler {
    queue: Box<dyn Scheduler>,
    chosen: Arc<AtomicUsize>,
    pause: Duration,
    fails_at: usize,
}

impl Scheduler for SlowScheduler {
    fn push(&mut self, request: QueuedRequest) {
        self.queue.push(request);
    }

    fn pop(&mut self, now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        std::thread::sleep(self.pause);
        if self.chosen.fetch_add(1, Ordering::Relaxed) < self.fails_at {
            self.queue.pop(now, mechanics, batch);
        }
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn remove(&mut self, request: &QueuedRequest, mechanics: &dyn Mechanics) -> bool {
        self.queue.remove(request, mechanics)
    }

    fn failure(&mut self) -> Option<Error> {
        let has_failed = self.chosen.load(Ordering::Relaxed) > self.fails_at;
        has_failed.then(|| Error::user("it has given up"))
    }
}

fn device(name: &str) -> DeviceFile {
    preset::from_table(&preset::text(name).unwrap().parse().unwrap()).unwrap()
}

fn fcfs() -> scheduler::Choice {
    scheduler::Choice::new("fcfs", &toml::Table::new()).unwrap()
}

fn build(name: &str, scheduler: &scheduler::Choice) -> Box<dyn System> {
    let power = power::Choice::from_device_timeout(20.0).unwrap();
    system::build(
        &device(name),
        Setup { scheduler, power: &power, merge: &MergeParams::default(), start: Start::Ready },
    )
    .unwrap()
}

/// Returns a system whose scheduler sleeps in every decision, and the number of requests that the scheduler has
/// selected.
fn slow_system(pause: Duration, fails_at: usize) -> (Box<dyn System>, Arc<AtomicUsize>) {
    let chosen = Arc::<AtomicUsize>::default();
    let counter = chosen.clone();
    let choice = scheduler::Choice::custom("slow", toml::Table::new(), move |mechanics| {
        let queue = fcfs().make(mechanics)?;
        Ok(Box::new(SlowScheduler { queue, chosen: counter.clone(), pause, fails_at }))
    });
    (build("mems-g2", &choice), chosen)
}

/// Returns `count` requests, `gap_ns` apart, with occasional flushes.
fn requests(count: u64, gap_ns: u64) -> MemorySource {
    let request = |n: u64| Request {
        arrival: Time::from_ns(n / 3 * 3 * gap_ns),
        lbn: if n % 50 == 7 { 0 } else { n * 48_271 % 6_000_000 },
        blocks: if n % 50 == 7 { 0 } else { 8 },
        op: if n % 50 == 7 {
            Op::Flush
        } else if n.is_multiple_of(3) {
            Op::Write
        } else {
            Op::Read
        },
        ..Request::default()
    };
    MemorySource::new((0..count).map(request).collect::<Vec<_>>())
}

fn closed_replay(outstanding: u32) -> Replay {
    let table = format!("mode = \"closed:{outstanding}\"").parse().unwrap();
    Replay::from_table(&table).unwrap()
}

#[test]
fn interrupt_of_draining_queue_retains_completed_requests() {
    const REQUEST_COUNT: u64 = 100_000;
    let (mut system, chosen) = slow_system(Duration::from_millis(1), usize::MAX);
    let mut recorder = Recorder::new(0, None);
    let start = Instant::now();
    let mut chosen_before = 0;
    let mut stop = |progress: Progress| {
        chosen_before = chosen.load(Ordering::Relaxed);
        // Late enough that some requests are complete.
        let is_draining = progress.operations == REQUEST_COUNT && chosen_before >= 20;
        if is_draining { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let counts = simulate(
        system.as_mut(),
        &mut requests(REQUEST_COUNT, 1),
        &Replay::default(),
        &mut recorder,
        Some(&mut stop),
    )
    .unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(counts.interrupted && counts.issued == REQUEST_COUNT);
    let completed = counts.reads + counts.writes;
    assert!(completed as usize + 2 >= chosen_before, "{completed} of {chosen_before}");
    assert_eq!(completed + counts.flushes + counts.dropped, REQUEST_COUNT);
    let recorded: u64 = recorder.response_times.iter().map(|times| times.moments().count()).sum();
    assert_eq!(recorded, completed);
}

#[test]
fn slow_decisions_of_closed_replay_can_be_interrupted() {
    let (mut system, chosen) = slow_system(Duration::from_millis(5), usize::MAX);
    let mut recorder = Recorder::new(0, None);
    let mut polls = 0;
    let mut stop = |_: Progress| {
        polls += 1;
        if polls < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let replay = closed_replay(12);
    let counts =
        simulate(system.as_mut(), &mut requests(70_000, 1), &replay, &mut recorder, Some(&mut stop)).unwrap();
    assert!(counts.interrupted && counts.reads > 0);
    assert!((3..400).contains(&chosen.load(Ordering::Relaxed)));
}

/// A request every millisecond for hours.
struct EndlessSource(u64);

impl Source for EndlessSource {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        let first = self.0;
        self.0 = (first + 4096).min(20_000_000);
        let request = |n: u64| Request {
            arrival: Time::from_ns(n * 1_000_000),
            blocks: 8,
            op: Op::Read,
            ..Request::default()
        };
        into.extend((first..self.0).map(request));
        Ok((self.0 - first) as usize)
    }

    fn progress(&self) -> Option<f64> {
        None
    }
}

#[test]
fn scheduler_failure_ends_run_immediately() {
    let (mut system, _) = slow_system(Duration::from_millis(2), 20);
    let mut source = EndlessSource(0);
    let mut recorder = Recorder::new(0, None);
    let mut last_operations = 0;
    let mut on_progress = |progress: Progress| {
        last_operations = progress.operations;
        ControlFlow::Continue(())
    };
    let replay = Replay::default();
    let error =
        simulate(system.as_mut(), &mut source, &replay, &mut recorder, Some(&mut on_progress)).unwrap_err();
    assert_eq!(error.message(), "it has given up");
    assert!(last_operations < 10_000_000, "noticed after {last_operations} operations");
}

/// A stream of requests that is interrupted by the user after a number of requests.
struct InterruptedSource(MemorySource, usize);

impl Source for InterruptedSource {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        self.1 = self.1.checked_sub(1).ok_or_else(Error::interrupted)?;
        self.0.fill(into)
    }

    fn progress(&self) -> Option<f64> {
        self.0.progress()
    }
}

#[test]
fn interrupt_in_source_retains_completed_requests() {
    let mut source = InterruptedSource(requests(50_000, 1_000_000), 3);
    for replay in [Replay::default(), closed_replay(4)] {
        let mut recorder = Recorder::new(0, None);
        let mut system = build("mems-g2", &fcfs());
        let counts = simulate(system.as_mut(), &mut source, &replay, &mut recorder, None).unwrap();
        assert!(counts.interrupted);
        assert!(counts.reads + counts.writes + 200 > counts.issued - counts.flushes, "{counts:?}");
        source = InterruptedSource(requests(50_000, 1_000_000), 3);
    }
}

#[test]
fn poll_at_every_iteration_does_not_change_results() {
    for name in ["mems-g2", "atlas-10k", "mems-g2-disksim"] {
        for (replay, gap_ns) in [(Replay::default(), 400_000), (Replay::default(), 1), (closed_replay(9), 1)]
        {
            let run = |poll: PollInterval| {
                let mut completions = Vec::new();
                let sink = |rows: &Rows| {
                    completions.extend(rows.id.iter().copied().zip(rows.completion_ns.iter().copied()));
                    Ok(())
                };
                let mut recorder = Recorder::new(10, Some(Box::new(sink)));
                let mut system = build(name, &fcfs());
                let mut source = requests(3_000, gap_ns);
                let counts =
                    simulate_with_poll(poll, system.as_mut(), &mut source, &replay, &mut recorder, None)
                        .unwrap();
                let end = recorder.end;
                drop(recorder);
                let ledgers: Vec<_> = system.ledgers().into_iter().map(|(_, energy)| energy.total).collect();
                (counts, end, ledgers, completions)
            };
            assert_eq!(run(PollInterval::without_clock()), run(PollInterval::unit_stride()), "{name}");
        }
    }
}
