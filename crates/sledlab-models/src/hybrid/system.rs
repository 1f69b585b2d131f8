//! A hybrid as a system: the part that all kinds of hybrids share.

use sledlab_core::{Error, Op, Span, Time};

use super::io::{Io, Tier};
use crate::cache::CacheCounts;
use crate::device::{FaultCounts, QueuedRequest};
use crate::power::RequestEnergy;
use crate::system::{
    Completion, Content, Contents, Durable, HybridCounts, Residency, Station, System, advance_by_events,
};

/// The part in which kinds of hybrids differ: the placement of data and the accesses for it.
pub(super) trait Logic: Send {
    /// Work to do when an access is complete.
    type Job: Send;

    /// Returns the number of blocks that the host sees if the back device has `back_blocks`.
    fn capacity_blocks(&self, back_blocks: u64) -> u64;
    /// A request arrives.
    fn arrive(&mut self, io: &mut Io<Self::Job>, request: QueuedRequest);
    /// Handles the completion of an access; `job` is the work that the access was for.
    fn complete(&mut self, io: &mut Io<Self::Job>, job: Self::Job, access: &Completion);
    /// Returns when to call [`wake`](Logic::wake) next, independently of accesses.
    fn due(&self) -> Option<Time>;
    /// Does the work that is due.
    fn wake(&mut self, io: &mut Io<Self::Job>);
    /// Returns the number of requests that wait for space.
    fn waiting_requests(&self) -> usize;
    /// Returns the device that would serve a read now, and the first block there.
    fn place(&self, read: &QueuedRequest) -> (Tier, u64);
    /// Counts since [`forget`](Logic::forget).
    fn counts(&self) -> HybridCounts;
    /// Returns the contents of the front device; [`HybridSystem`] sets the time `since`.
    fn residency(&self) -> Residency;
    /// Sets the counts to zero.
    fn forget(&mut self);
    /// Returns the contents that the host reads after a crash, recovered from the `media` of the front and the back
    /// device.
    fn recover(&mut self, media: (Contents, Contents)) -> Contents;
    /// The error that stopped a replacement policy of this hybrid, if one did.
    fn failure(&mut self) -> Option<Error>;
}

/// A hybrid of any kind.
pub(super) struct HybridSystem<L: Logic> {
    logic: L,
    io: Io<L::Job>,
    /// Accesses that a device has completed, while their jobs are done.
    completions: Vec<Completion>,
    longest_queue: usize,
}

impl<L: Logic> HybridSystem<L> {
    pub fn new(logic: L, io: Io<L::Job>) -> Self {
        HybridSystem { logic, io, completions: Vec::new(), longest_queue: 0 }
    }

    /// Advances a device to the present, if it has an event.
    #[inline]
    fn advance_device(&mut self, tier: Tier) {
        if self.io.is_due(tier) {
            self.io.advance(tier, &mut self.completions);
            if !self.completions.is_empty() {
                self.complete_accesses();
            }
        }
    }

    /// Does the jobs of the accesses that are complete. An event that only starts an access has none.
    #[inline(never)]
    fn complete_accesses(&mut self) {
        for access in &self.completions {
            if let Some(job) = self.io.job(access.request.id) {
                self.logic.complete(&mut self.io, job, access);
            }
        }
        self.completions.clear();
    }
}

impl<L: Logic> System for HybridSystem<L> {
    fn capacity_blocks(&self) -> u64 {
        self.logic.capacity_blocks(self.io.device(Tier::Back).capacity_blocks())
    }

    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        self.io.now = now;
        self.logic.arrive(&mut self.io, request);
    }

    #[inline]
    fn next_event(&self) -> Option<Time> {
        // A request may be complete at the time of its arrival.
        if !self.io.completed.is_empty() {
            return Some(self.io.now);
        }
        // Work that was due earlier may become possible at the time of an arrival.
        let due = self.logic.due().map(|at| at.max(self.io.now));
        match (self.io.next_event(), due) {
            (Some(event), Some(due)) => Some(event.min(due)),
            (event, due) => event.or(due),
        }
    }

    #[inline]
    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        // Requests that are served at the time of their arrival do not count as queued.
        if self.io.now < now {
            self.longest_queue = self.longest_queue.max(self.queue_length());
            self.io.now = now;
        }
        self.advance_device(Tier::Front);
        self.advance_device(Tier::Back);
        if self.logic.due().is_some_and(|at| at <= now) {
            self.logic.wake(&mut self.io);
        }
        if !self.io.completed.is_empty() {
            completed.append(&mut self.io.completed);
        }
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, _now: Time, _request: QueuedRequest) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.logic.failure().or_else(|| self.io.devices_mut().into_iter().find_map(System::failure))
    }

    fn stations(&self) -> Vec<&Station> {
        let [front, back] = [Tier::Front, Tier::Back].map(|tier| self.io.device(tier).stations());
        [front, back].concat()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        let [front, back] = self.io.devices_mut().map(|device| device.stations_mut());
        front.into_iter().chain(back).collect()
    }

    fn queue_length(&self) -> usize {
        self.io.queue_length() + self.logic.waiting_requests()
    }

    fn longest_queue(&self) -> usize {
        self.longest_queue
    }

    fn open_ledgers(&mut self, now: Time) {
        self.longest_queue = self.queue_length();
        self.logic.forget();
        self.io.open_ledgers(now);
    }

    fn close_ledgers(&mut self, now: Time) {
        self.io.devices_mut().into_iter().for_each(|device| device.close_ledgers(now));
    }

    fn background(&self) -> (RequestEnergy, Time) {
        self.io.background()
    }

    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        let mut counts = self.logic.counts();
        self.io.count(&mut counts);
        Some(counts)
    }

    fn residency(&self) -> Vec<Residency> {
        vec![Residency { since: self.io.now, ..self.logic.residency() }]
    }

    fn faults(&self) -> Option<FaultCounts> {
        let mut total: Option<FaultCounts> = None;
        for counts in [Tier::Front, Tier::Back].into_iter().filter_map(|tier| self.io.device(tier).faults()) {
            *total.get_or_insert_default() += counts;
        }
        total
    }

    fn positioning(&self, now: Time, read: &QueuedRequest) -> Span {
        let (tier, lbn) = self.logic.place(read);
        let device = self.io.device(tier);
        // The blocks that follow on that device may belong to other data, or not exist.
        let blocks = (device.capacity_blocks() - lbn).min(u64::from(read.blocks)) as u32;
        device.positioning(now, &QueuedRequest { lbn, blocks, op: Op::Read, ..*read })
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        self.io.keeps_contents().then_some(self as &mut dyn Durable)
    }
}

impl<L: Logic> Durable for HybridSystem<L> {
    fn supply_data(&mut self, request: u64, data: Vec<Content>) {
        self.io.supply_data(request, data);
    }

    fn read_contents(&mut self, request: u64) -> Vec<Content> {
        self.io.read_contents(request)
    }

    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents {
        let media = self.io.crash(now, survives);
        self.logic.recover(media)
    }
}
