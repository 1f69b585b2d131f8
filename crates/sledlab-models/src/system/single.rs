//! A system of one station.

use sledlab_core::{Error, Span, Time};

use super::{Completion, Durable, HybridCounts, Residency, Station, System};
use crate::cache::CacheCounts;
use crate::device::{FaultCounts, QueuedRequest};
use crate::power::RequestEnergy;

/// A system of one device with its queue.
pub struct Single {
    station: Station,
}

impl Single {
    /// A system in which the host sends all requests to `station`.
    pub fn new(station: Station) -> Self {
        Single { station }
    }
}

impl System for Single {
    fn capacity_blocks(&self) -> u64 {
        self.station.device().mechanics().capacity_blocks()
    }

    #[inline]
    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        self.station.arrive(now, request);
    }

    #[inline]
    fn next_event(&self) -> Option<Time> {
        self.station.next_event()
    }

    #[inline]
    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.station.advance(now, completed);
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        self.station.advance_before(horizon, completed)
    }

    fn flush(&mut self, _now: Time, _request: QueuedRequest) -> bool {
        false
    }

    fn failure(&mut self) -> Option<Error> {
        self.station.failure()
    }

    fn stations(&self) -> Vec<&Station> {
        vec![&self.station]
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        vec![&mut self.station]
    }

    #[inline]
    fn queue_length(&self) -> usize {
        self.station.queue_length()
    }

    fn longest_queue(&self) -> usize {
        self.station.longest_queue()
    }

    fn open_ledgers(&mut self, now: Time) {
        self.station.open_ledger(now);
    }

    fn close_ledgers(&mut self, now: Time) {
        self.station.close_ledger(now);
    }

    fn background(&self) -> (RequestEnergy, Time) {
        (RequestEnergy::default(), self.station.last_free())
    }

    fn cache(&self) -> Option<CacheCounts> {
        None
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        None
    }

    fn residency(&self) -> Vec<Residency> {
        Vec::new()
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.station.faults()
    }

    fn positioning(&self, now: Time, read: &QueuedRequest) -> Span {
        self.station.positioning(now, read)
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        None
    }
}
