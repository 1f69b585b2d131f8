//! Systems that wrap another system and change only a few of its methods.

use sledlab_core::{Error, Span, Time};

use super::{Completion, Durable, HybridCounts, Residency, Station, System, advance_by_events};
use crate::cache::CacheCounts;
use crate::device::{FaultCounts, QueuedRequest};
use crate::power::RequestEnergy;

/// A [`System`] around another one that changes or observes arrivals, events and contents. All other methods are those
/// of the inner system.
pub trait SystemWrapper: Send {
    /// The inner system.
    fn inner(&self) -> &dyn System;
    /// The inner system.
    fn inner_mut(&mut self) -> &mut dyn System;
    /// [`System::arrive`].
    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest);
    /// [`System::next_event`].
    fn wrapped_next_event(&self) -> Option<Time>;
    /// [`System::advance`].
    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>);
    /// [`System::open_ledgers`].
    fn wrapped_open_ledgers(&mut self, now: Time);
    /// [`System::durable`].
    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable>;
}

impl<W: SystemWrapper> System for W {
    fn capacity_blocks(&self) -> u64 {
        self.inner().capacity_blocks()
    }

    fn arrive(&mut self, now: Time, request: QueuedRequest) {
        self.wrapped_arrive(now, request);
    }

    fn next_event(&self) -> Option<Time> {
        self.wrapped_next_event()
    }

    fn advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.wrapped_advance(now, completed);
    }

    fn advance_before(&mut self, horizon: Time, completed: &mut Vec<Completion>) -> bool {
        advance_by_events(self, horizon, completed)
    }

    fn flush(&mut self, now: Time, request: QueuedRequest) -> bool {
        self.inner_mut().flush(now, request)
    }

    fn failure(&mut self) -> Option<Error> {
        self.inner_mut().failure()
    }

    fn stations(&self) -> Vec<&Station> {
        self.inner().stations()
    }

    fn stations_mut(&mut self) -> Vec<&mut Station> {
        self.inner_mut().stations_mut()
    }

    fn queue_length(&self) -> usize {
        self.inner().queue_length()
    }

    fn longest_queue(&self) -> usize {
        self.inner().longest_queue()
    }

    fn open_ledgers(&mut self, now: Time) {
        self.wrapped_open_ledgers(now);
    }

    fn close_ledgers(&mut self, now: Time) {
        self.inner_mut().close_ledgers(now);
    }

    fn background(&self) -> (RequestEnergy, Time) {
        self.inner().background()
    }

    fn cache(&self) -> Option<CacheCounts> {
        self.inner().cache()
    }

    fn hybrid(&self) -> Option<HybridCounts> {
        self.inner().hybrid()
    }

    fn residency(&self) -> Vec<Residency> {
        self.inner().residency()
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.inner().faults()
    }

    fn positioning(&self, now: Time, read: &QueuedRequest) -> Span {
        self.inner().positioning(now, read)
    }

    fn durable(&mut self) -> Option<&mut dyn Durable> {
        self.wrapped_durable()
    }
}
