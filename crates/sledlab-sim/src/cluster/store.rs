//! The store of a node: a system with a separate clock.

use sledlab_core::request::BLOCK_BYTES;
use sledlab_core::{Error, Op, Request, Result, Span, Time};
use sledlab_models::device::QueuedRequest;
use sledlab_models::power::Energy;
use sledlab_models::system::{Completion, System};

/// Requests and bytes that a store has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Requests completed; those of skipped passes count.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Traffic {
    fn add(&mut self, op: Op, blocks: u32) {
        let bytes = u64::from(blocks) * BLOCK_BYTES;
        self.requests += 1;
        if op == Op::Write { self.written_bytes += bytes } else { self.read_bytes += bytes }
    }

    /// Returns the traffic of read and written pages, each with their number of blocks.
    pub fn new(read: (u64, u64), written: (u64, u64)) -> Self {
        Traffic {
            requests: read.0 + written.0,
            read_bytes: read.1 * BLOCK_BYTES,
            written_bytes: written.1 * BLOCK_BYTES,
        }
    }

    /// Returns the requests and bytes since `earlier`.
    pub fn since(self, earlier: Traffic) -> Traffic {
        Traffic {
            requests: self.requests - earlier.requests,
            read_bytes: self.read_bytes - earlier.read_bytes,
            written_bytes: self.written_bytes - earlier.written_bytes,
        }
    }
}

/// The requests of a node's store in order of arrival, in the store's own time: a block trace.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    /// Requests with their arrivals.
    pub requests: Vec<Request>,
    /// The completion time of each request.
    pub completions: Vec<Time>,
}

/// Maximum duration of a replay in ns: 31 years. Times have 64 bits.
pub(super) const MAX_TIME_NS: u64 = 1_000_000_000_000_000_000;

/// A system in a cluster. Its time is the cluster's time minus that of skipped passes, multiplied by a rate.
///
/// Skipped passes therefore do not create idle periods, and a clock with rate 2 makes a store twice as fast. Device
/// models need no code for either.
pub(super) struct Store {
    system: Box<dyn System>,
    rate: u64,
    skipped: Span,
    /// The last completion time, in the store's own time, and the longest time between two completions since it was
    /// last read.
    last_completion: Time,
    longest_gap: Span,
    next_id: u64,
    in_flight: u64,
    completed: Vec<Completion>,
    traffic: Traffic,
    /// Energy of skipped passes.
    skipped_energy: Energy,
    dump: Option<Dump>,
}

impl Store {
    pub fn new(system: Box<dyn System>, rate: u64, is_dumped: bool) -> Self {
        Store {
            system,
            rate,
            skipped: Span::ZERO,
            last_completion: Time::ZERO,
            longest_gap: Span::ZERO,
            next_id: 0,
            in_flight: 0,
            completed: Vec::new(),
            traffic: Traffic::default(),
            skipped_energy: Energy::default(),
            dump: is_dumped.then(Dump::default),
        }
    }

    pub fn capacity_blocks(&self) -> u64 {
        self.system.capacity_blocks()
    }

    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    pub fn take_dump(&mut self) -> Dump {
        self.dump.take().unwrap_or_default()
    }

    fn store_time(&self, now: Time) -> Time {
        Time::from_ns((now.as_ns() - self.skipped.as_ns()).saturating_mul(self.rate))
    }

    fn cluster_time(&self, store_time: Time) -> Time {
        Time::from_ns(store_time.as_ns().div_ceil(self.rate)) + self.skipped
    }

    /// Submits a request that arrives at `now`; returns its number.
    #[inline]
    pub fn arrive(&mut self, now: Time, op: Op, lbn: u64, blocks: u32) -> u64 {
        let arrival = self.store_time(now);
        // Events before the arrival are handled first: the system may read ahead, for example, without a request.
        while let Some(at) = self.system.next_event().filter(|at| *at < arrival) {
            self.system.advance(at, &mut self.completed);
        }
        let id = self.next_id;
        self.next_id += 1;
        self.in_flight += 1;
        let request = Request { arrival, lbn, blocks, op, ..Request::default() };
        if let Some(dump) = &mut self.dump {
            dump.requests.push(request);
            dump.completions.push(Time::MAX);
        }
        self.system.arrive(arrival, QueuedRequest::new(id, &request));
        id
    }

    /// Serves a request that arrives at `now`, without other outstanding requests, and returns its completion time.
    ///
    /// # Errors
    /// An error of a scheduler or power policy.
    #[inline]
    pub fn serve(&mut self, now: Time, op: Op, lbn: u64, blocks: u32) -> Result<Time> {
        self.arrive(now, op, lbn, blocks);
        while self.completed.is_empty() {
            let Some(at) = self.system.next_event() else { return Err(self.stuck_error()) };
            self.system.advance(at, &mut self.completed);
        }
        let completion = self.completed[0].completion;
        self.note_completion(completion);
        self.record_dump();
        self.completed.clear();
        self.in_flight -= 1;
        self.traffic.add(op, blocks);
        Ok(self.cluster_time(completion))
    }

    /// Returns the time of the store's next event, in the cluster's time.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        if !self.completed.is_empty() {
            return self.completed.first().map(|first| self.cluster_time(first.completion));
        }
        self.system.next_event().map(|at| self.cluster_time(at))
    }

    /// Handles all events up to `now`; returns how many reads and how many writes have been completed.
    #[inline]
    pub fn advance(&mut self, now: Time) -> (u64, u64) {
        let store_now = self.store_time(now);
        while let Some(at) = self.system.next_event().filter(|at| *at <= store_now) {
            self.system.advance(at, &mut self.completed);
        }
        if let Some(last) = self.completed.last() {
            self.note_completion(last.completion);
        }
        self.record_dump();
        let (mut reads, mut writes) = (0, 0);
        for completion in self.completed.drain(..) {
            self.traffic.add(completion.request.op, completion.request.blocks);
            if completion.request.op == Op::Write { writes += 1 } else { reads += 1 }
        }
        self.in_flight -= reads + writes;
        (reads, writes)
    }

    #[inline]
    fn note_completion(&mut self, at: Time) {
        self.longest_gap = self.longest_gap.max(at.since(self.last_completion));
        self.last_completion = at;
    }

    /// Returns the longest time between two completions since the last call.
    pub fn take_longest_gap(&mut self) -> Span {
        let longest_gap = std::mem::take(&mut self.longest_gap);
        Span::from_ns(longest_gap.as_ns().div_ceil(self.rate))
    }

    fn record_dump(&mut self) {
        if let Some(dump) = &mut self.dump {
            for completed in &self.completed {
                dump.completions[completed.request.id as usize] = completed.completion;
            }
        }
    }

    /// Returns the error for a store with queued requests and without a next event.
    pub fn stuck_error(&mut self) -> Error {
        let stuck_error = || Error::internal("a store has queued requests but no next event");
        self.system.failure().unwrap_or_else(stuck_error)
    }

    /// Returns the error of a scheduler or power policy, if one has failed.
    pub fn failure(&mut self) -> Option<Error> {
        self.system.failure()
    }

    /// Skips passes that last `span`, with their `traffic` and `energy`.
    ///
    /// # Errors
    /// Passes whose duration exceeds the range of the clock.
    pub fn skip(&mut self, span: Span, traffic: Traffic, energy: Energy) -> Result<()> {
        self.skipped = Span::from_ns(self.skipped.as_ns().saturating_add(span.as_ns()));
        if self.skipped.as_ns() > MAX_TIME_NS {
            return Err(Error::user("the passes of a nested loop take more than 30 years")
                .with_remedy("increase node.block_kb, or replay less data"));
        }
        self.traffic.requests += traffic.requests;
        self.traffic.read_bytes += traffic.read_bytes;
        self.traffic.written_bytes += traffic.written_bytes;
        self.skipped_energy += energy;
        Ok(())
    }

    /// Returns the energy up to the last change of state of the devices.
    pub fn energy(&self) -> Energy {
        let mut total = self.skipped_energy;
        self.system.ledgers().into_iter().for_each(|(_, energy)| total += energy);
        total
    }

    /// Ends the run at `now`, or at the end of the system's background work if that is later, and accounts for the
    /// energy until then.
    ///
    /// # Errors
    /// An error of a scheduler or power policy; and defects of sledlab: requests that were issued and not served, and
    /// times or energies of states that do not add up to those of the run.
    pub fn close(&mut self, now: Time) -> Result<Energy> {
        while let Some(at) = self.system.next_event() {
            self.system.advance(at, &mut self.completed);
        }
        if let Some(error) = self.failure() {
            return Err(error);
        }
        let (_, background) = self.system.background();
        let end = self.store_time(now).max(background);
        self.system.close_ledgers(end);
        if self.in_flight > 0 || !self.completed.is_empty() {
            return Err(Error::internal(format!("a store has not served {} requests", self.in_flight)));
        }
        for (ledger, energy) in self.system.ledgers() {
            let parts = energy.seek + energy.access + energy.idle + energy.inactive + energy.startup;
            let is_whole = (parts - energy.total).abs() <= 1e-9 * energy.total.max(1e-9);
            if ledger.total_time() < end.since(Time::ZERO) || !is_whole {
                return Err(Error::internal(format!(
                    "the states of a store last {} and use {parts} J, but the run lasts {end} and uses {} J",
                    ledger.total_time(),
                    energy.total
                )));
            }
        }
        Ok(self.energy())
    }
}

/// Returns the energy used since `earlier`.
pub(super) fn energy_difference(now: Energy, earlier: Energy) -> Energy {
    let mut difference = scale_energy(earlier, -1.0);
    difference += now;
    difference
}

/// Returns the energy multiplied by `factor`.
pub(super) fn scale_energy(energy: Energy, factor: f64) -> Energy {
    Energy {
        total: energy.total * factor,
        seek: energy.seek * factor,
        access: energy.access * factor,
        idle: energy.idle * factor,
        inactive: energy.inactive * factor,
        startup: energy.startup * factor,
    }
}
