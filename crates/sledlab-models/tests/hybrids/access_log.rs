//! A hybrid of two memories whose accesses are logged.
//!
//! An access to the front device takes 10 us and to the back device 100 us, plus 1 us per block.

use std::fmt;
use std::sync::{Arc, Mutex};

use sledlab_core::{Op, Time};
use sledlab_models::cache::SlotState;
use sledlab_models::device::QueuedRequest;
use sledlab_models::device::preset::{self, DeviceFile};
use sledlab_models::hybrid::{self, HybridDevices};
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{
    self, Completion, Durable, HybridCounts, Residency, Setup, Start, System, SystemWrapper,
};
use sledlab_models::{power, scheduler};
use toml::Table;

/// An access to a device, or a request: its blocks, and the start and end of its service.
#[derive(Clone, Copy)]
struct Access {
    device: &'static str,
    completion: Completion,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Completion { request: QueuedRequest { lbn, blocks, op, .. }, start, completion, .. } =
            self.completion;
        let op = if op == Op::Read { "read" } else { "write" };
        write!(f, "{} {op} {lbn}+{blocks} {}-{}", self.device, us(start), us(completion))
    }
}

fn us(time: Time) -> u64 {
    time.as_ns() / 1_000
}

/// A device whose accesses are logged.
struct LoggedDevice {
    name: &'static str,
    system: Box<dyn System>,
    accesses: Arc<Mutex<Vec<Access>>>,
}

impl SystemWrapper for LoggedDevice {
    fn inner(&self) -> &dyn System {
        self.system.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn System {
        self.system.as_mut()
    }

    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest) {
        self.system.arrive(now, request);
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        self.system.next_event()
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let completed_before = completed.len();
        self.system.advance(now, completed);
        let accesses = completed[completed_before..]
            .iter()
            .map(|completion| Access { device: self.name, completion: *completion });
        self.accesses.lock().unwrap().extend(accesses);
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.inner_mut().open_ledgers(now);
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        self.system.durable()
    }
}

/// The log of a run.
pub struct RunLog {
    /// Accesses to the devices in order of their starts, such as `front read 0+8 100-118`, with times in microseconds.
    pub accesses: Vec<String>,
    /// When requests were complete, in microseconds, in order of arrival.
    pub answers: Vec<u64>,
    /// The states of the slots whenever they changed, such as `18 .dc`, with the time in microseconds: `.` free, `c`
    /// clean, `d` dirty, `<` filling, `>` destaging.
    pub slots: Vec<String>,
    pub counts: HybridCounts,
    pub longest_queue: usize,
}

/// A memory of 10^6 bytes.
fn memory(access_us: u32) -> DeviceFile {
    let text = preset::text("ram").unwrap();
    let changes = format!("name = \"memory\"\ncapacity_mb = 1\nbus_mb_s = 512.0\naccess_us = {access_us}.0");
    let mut table: Table = text.parse().unwrap();
    table.extend(changes.parse::<Table>().unwrap());
    preset::from_table(&table).unwrap()
}

/// A hybrid of two memories, or for `none` the back memory alone.
pub fn build(hybrid: &str) -> (Box<dyn System>, impl FnOnce() -> Vec<String>) {
    let accesses = Arc::new(Mutex::new(Vec::new()));
    let (scheduler, power) = (
        scheduler::Choice::new("fcfs", &Table::new()).unwrap(),
        power::Choice::from_device_timeout(1e9).unwrap(),
    );
    let setup =
        Setup { scheduler: &scheduler, power: &power, merge: &MergeParams::default(), start: Start::Parked };
    let device = |name, access_us| {
        let system = system::build(&memory(access_us), setup).unwrap();
        Box::new(LoggedDevice { name, system, accesses: Arc::clone(&accesses) })
    };
    let (front, back) = (device("front", 10), device("back", 100));
    let system = match hybrid::Choice::parse(hybrid, Table::new()).unwrap() {
        None => back,
        Some(choice) => choice.make(HybridDevices { front, back }).unwrap(),
    };
    let logged = move || {
        let mut accesses = accesses.lock().unwrap().clone();
        accesses.sort_by_key(|access| access.completion.start);
        accesses.iter().map(Access::to_string).collect()
    };
    (system, logged)
}

/// The states of the slots, one letter each; no other blocks may be dirty.
fn slot_letters(system: &dyn System, now: Time) -> String {
    let Some(Residency { since, slots, waiting, writing, .. }) = system.residency().pop() else {
        return String::new();
    };
    assert!(since <= now, "nothing is known of the future");
    let dirty_blocks = system.hybrid().unwrap_or_default().dirty_blocks;
    if slots.iter().all(|slot| matches!(slot, SlotState::Free | SlotState::Clean)) && waiting + writing == 0 {
        assert_eq!(dirty_blocks, 0, "{slots:?}");
    }
    let letter = |slot: &SlotState| match slot {
        SlotState::Free => '.',
        SlotState::Clean => 'c',
        SlotState::Dirty => 'd',
        SlotState::Filling => '<',
        SlotState::Destaging => '>',
    };
    slots.iter().map(letter).collect()
}

/// Runs requests in order of arrival; the first number of each is its arrival in microseconds after the beginning.
pub fn run_hybrid(hybrid: &str, requests: &[(u64, Op, u64, u32)]) -> RunLog {
    let (mut system, accesses) = build(hybrid);
    let (mut answers, mut completed) = (vec![0; requests.len()], Vec::new());
    let (mut last, mut slots, mut letters) =
        (Time::ZERO, Vec::new(), slot_letters(system.as_ref(), Time::ZERO));
    let mut arrivals = (0..).zip(requests).peekable();
    loop {
        let event = system.next_event();
        let time_at = |us: u64| Time::from_ns(us * 1_000);
        let arrival = arrivals.next_if(|(_, (us, ..))| event.is_none_or(|event| time_at(*us) <= event));
        if let Some((id, (us, op, lbn, blocks))) = arrival {
            let arrival = time_at(*us);
            let request = QueuedRequest {
                id,
                arrival,
                op: *op,
                lbn: *lbn,
                blocks: *blocks,
                ..QueuedRequest::default()
            };
            system.arrive(arrival, request);
            last = arrival;
        } else {
            let Some(now) = event else { break };
            assert!(now >= last, "{hybrid}: time goes back from {last} to {now}");
            last = now;
            system.advance(now, &mut completed);
        }
        let previous_letters = std::mem::replace(&mut letters, slot_letters(system.as_ref(), last));
        if letters != previous_letters {
            assert!(
                previous_letters.is_empty() || letters.len() == previous_letters.len(),
                "{hybrid}: {previous_letters}, {letters}"
            );
            slots.push(format!("{} {letters}", us(last)));
        }
        for completion in completed.drain(..) {
            answers[completion.request.id as usize] = us(completion.completion);
        }
    }
    let counts = system.hybrid().unwrap_or_default();
    assert_eq!(
        counts.written_blocks,
        counts.superseded_blocks + counts.destaged_blocks + counts.dirty_blocks,
        "{hybrid}: {counts:?}"
    );
    assert!(counts.read_hits <= counts.reads && counts.write_hits <= counts.writes, "{hybrid}: {counts:?}");
    let accesses = accesses();
    if hybrid != "none" {
        let count = |kind: &str| accesses.iter().filter(|access| access.starts_with(kind)).count() as u64;
        assert_eq!((count("front read"), count("front write")), (counts.front.reads, counts.front.writes));
        assert_eq!((count("back read"), count("back write")), (counts.back.reads, counts.back.writes));
    }
    RunLog { accesses, answers, slots, counts, longest_queue: system.longest_queue() }
}
