//! A host of an array that records what it wrote and when.

use std::collections::HashMap;

use sledlab_core::params::Params;
use sledlab_core::{Op, Time};
use sledlab_models::assembly::{SystemParts, assemble};
use sledlab_models::cache::CacheParams;
use sledlab_models::device::preset::{self, DeviceFile};
use sledlab_models::device::{FaultCounts, QueuedRequest};
use sledlab_models::merge::MergeParams;
use sledlab_models::system::{Completion, Content, Setup, Start, System, SystemParams};
use sledlab_models::{power, scheduler};
use toml::Table;

/// An array of memories of 1 MB: 10 us per access and 1 us per block.
pub struct Array(String);

impl Array {
    pub fn raid5(devices: u64, unit_blocks: u64) -> Self {
        Array(format!("kind = \"raid5\"\ndevices = {devices}\nunit_blocks = {unit_blocks}\n"))
    }

    pub fn mirror(devices: u64, unit_blocks: u64) -> Self {
        Array(format!("kind = \"mirror\"\ndevices = {devices}\nunit_blocks = {unit_blocks}\n"))
    }

    pub fn with_failures(self, failed: &str, at_s: &str) -> Self {
        Array(format!("{}failed = {failed}\nfailed_at_s = {at_s}\n", self.0))
    }

    pub fn with_rebuild_rate(self, mb_s: f64) -> Self {
        Array(format!("{}rebuild_mb_s = {mb_s:?}\n", self.0))
    }

    fn system(&self) -> Box<dyn System> {
        let params = SystemParams::from_table("system", &self.0.parse().unwrap()).unwrap();
        let mut ram: Table = preset::text("ram").unwrap().parse().unwrap();
        let changes = "name = \"ram\"\ncapacity_mb = 1\naccess_us = 10.0\nbus_mb_s = 512.0";
        ram.extend(changes.parse::<Table>().unwrap());
        let device: DeviceFile = preset::from_table(&ram).unwrap();
        let scheduler = scheduler::Choice::new("fcfs", &Table::new()).unwrap();
        let (power, merge) = (power::Choice::from_device_timeout(1e9).unwrap(), MergeParams::default());
        let setup = Setup { scheduler: &scheduler, power: &power, merge: &merge, start: Start::Parked };
        let cache = CacheParams::default();
        assemble(SystemParts {
            system: &params,
            cache: &cache,
            hybrid: None,
            device: &device,
            setup,
            keep_contents: true,
        })
        .unwrap()
    }
}

/// A request, moved and cut short to fit the array.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub op: Op,
    pub lbn: u64,
    pub blocks: u32,
    pub at_us: u64,
}

/// A write to a block.
struct Write {
    data: u64,
    arrival: Time,
    completed_at: Time,
}

pub struct Host {
    system: Box<dyn System>,
    now: Time,
    next_id: u64,
    /// The writes to every block, in order of arrival.
    writes_by_block: HashMap<u64, Vec<Write>>,
}

impl Host {
    pub fn new(array: &Array) -> Self {
        let mut system = array.system();
        system.open_ledgers(Time::ZERO);
        Host { system, now: Time::ZERO, next_id: 0, writes_by_block: HashMap::new() }
    }

    pub fn faults(&self) -> FaultCounts {
        self.system.faults().unwrap()
    }

    pub fn busy_us(&self) -> u64 {
        self.system.ledgers().iter().map(|(ledger, _)| ledger.busy_time().as_ns()).sum::<u64>() / 1000
    }

    /// Runs requests until no event is left, and checks what the reads find.
    pub fn run_requests(&mut self, requests: &[Request]) -> Vec<Completion> {
        self.run_until(requests, Time::MAX)
    }

    /// Runs requests until `end`, and checks what the reads return.
    pub fn run_until(&mut self, requests: &[Request], end: Time) -> Vec<Completion> {
        let mut completions = Vec::new();
        let start = self.now;
        for request in requests {
            let arrival = start + sledlab_core::Span::from_ns(request.at_us * 1000);
            self.advance(arrival, &mut completions);
            self.arrive(arrival, request);
        }
        self.advance(end, &mut completions);
        completions
    }

    fn arrive(&mut self, now: Time, request: &Request) {
        let capacity = self.system.capacity_blocks();
        let lbn = request.lbn % capacity;
        let blocks = request.blocks.min((capacity - lbn) as u32);
        let id = self.next_id;
        self.next_id += 1;
        let queued = QueuedRequest {
            id,
            lbn,
            blocks,
            op: request.op,
            arrival: now,
            queue_time: now,
            ..QueuedRequest::default()
        };
        if request.op == Op::Write {
            let data = |block: u64| (id + 1) << 32 | block;
            let blocks = lbn..lbn + u64::from(blocks);
            for block in blocks.clone() {
                let write = Write { data: data(block), arrival: now, completed_at: Time::MAX };
                self.writes_by_block.entry(block).or_default().push(write);
            }
            let contents = blocks.map(|block| Content::Data(data(block))).collect();
            self.system.durable().unwrap().supply_data(id, contents);
        }
        self.now = self.now.max(now);
        self.system.arrive(now, queued);
    }

    fn advance(&mut self, end: Time, completions: &mut Vec<Completion>) {
        let mut completed = Vec::new();
        while let Some(now) = self.system.next_event().filter(|at| *at < end) {
            assert!(now >= self.now, "time does not run backwards");
            self.now = now;
            self.system.advance(now, &mut completed);
            for completion in completed.drain(..) {
                assert!(completion.start >= completion.request.arrival && completion.completion == now);
                self.record_completion(&completion);
                completions.push(completion);
            }
        }
    }

    fn record_completion(&mut self, completion: &Completion) {
        let QueuedRequest { id, lbn, blocks, op, arrival, .. } = completion.request;
        let range = lbn..lbn + u64::from(blocks);
        if op == Op::Write {
            for block in range {
                let writes = self.writes_by_block.get_mut(&block).unwrap();
                writes
                    .iter_mut()
                    .filter(|write| write.data >> 32 == id + 1)
                    .for_each(|write| write.completed_at = completion.completion);
            }
            return;
        }
        let is_lost = self.system.faults().is_some_and(|faults| faults.lost_requests > 0);
        let contents = self.system.durable().unwrap().read_contents(id);
        assert_eq!(contents.len(), blocks as usize);
        for (block, content) in range.zip(contents) {
            let writes = self.writes_by_block.get(&block).map_or(&[][..], Vec::as_slice);
            // A read may find the last write that was complete when the read arrived, or any later one that arrived
            // before the read was complete.
            let first = writes.iter().rposition(|write| write.completed_at < arrival);
            let allowed =
                writes[first.unwrap_or(0)..].iter().filter(|write| write.arrival <= completion.completion);
            let allowed: Vec<u64> =
                allowed.map(|write| write.data).chain(first.is_none().then_some(0)).collect();
            let Content::Data(data) = content else { panic!("no data") };
            assert!(
                is_lost || allowed.contains(&data),
                "block {block} reads {data:#x}, not one of {allowed:#x?}"
            );
        }
    }

    /// Reads every block, by requests of 37 blocks that all arrive at once.
    pub fn check_all_blocks(&mut self) {
        let capacity = self.system.capacity_blocks() as usize;
        let read = |lbn: usize| {
            let blocks = 37.min(capacity - lbn) as u32;
            Request { op: Op::Read, lbn: lbn as u64, blocks, at_us: 0 }
        };
        let reads: Vec<Request> = (0..capacity).step_by(37).map(read).collect();
        assert_eq!(self.run_requests(&reads).len(), reads.len());
    }

    /// Reads every block alone, and counts the lost blocks; the others must hold the last write.
    pub fn count_lost_blocks(&mut self) -> u64 {
        let mut lost_blocks = 0;
        for lbn in 0..self.system.capacity_blocks() {
            let lost_before = self.faults().lost_requests;
            let id = self.next_id;
            self.arrive(self.now, &Request { op: Op::Read, lbn, blocks: 1, at_us: 0 });
            let mut completed = Vec::new();
            while let Some(now) = self.system.next_event() {
                self.now = now;
                self.system.advance(now, &mut completed);
            }
            assert_eq!(completed.len(), 1);
            if self.faults().lost_requests > lost_before {
                lost_blocks += 1;
                continue;
            }
            let contents = self.system.durable().unwrap().read_contents(id);
            // A block that is not lost must hold the last write, also where other blocks of that write were lost.
            let writes = self.writes_by_block.get(&lbn);
            let last = writes.and_then(|writes| writes.last()).map_or(0, |write| write.data);
            assert_eq!(contents, [Content::Data(last)], "block {lbn}");
        }
        lost_blocks
    }
}
