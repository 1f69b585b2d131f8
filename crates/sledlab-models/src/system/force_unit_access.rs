//! Force unit access: writes that are complete when they are durable.

use sledlab_core::{Span, Time};

use super::completion_queue::CompletionQueue;
use super::{Completion, Durable, System, SystemWrapper, earliest};
use crate::device::QueuedRequest;
use crate::power::RequestEnergy;

/// A system in which a write is complete when it is durable, as with force unit access (FUA).
///
/// Caches and hybrids send such writes to their devices: they discard their copy of the data when a write is complete,
/// and the data must then survive a power failure.
pub struct ForceUnitAccess {
    system: Box<dyn System>,
    /// Completions that the system has reported, each at the time at which the request is durable.
    durable: CompletionQueue,
}

impl ForceUnitAccess {
    /// Returns `system` with force unit access for all writes; without a change if no device has a volatile buffer.
    pub fn wrap(system: Box<dyn System>) -> Box<dyn System> {
        if !system.stations().iter().any(|station| station.device().has_volatile_buffer()) {
            return system;
        }
        Box::new(ForceUnitAccess { system, durable: CompletionQueue::default() })
    }

    /// Keeps completions until they are durable.
    fn delay(&mut self, completions: impl Iterator<Item = Completion>) {
        for mut completion in completions {
            completion.timing.transfer += completion.write_behind;
            completion.completion = completion.durable_time();
            completion.write_behind = Span::ZERO;
            self.durable.insert(completion);
        }
    }
}

impl SystemWrapper for ForceUnitAccess {
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
        earliest(self.system.next_event(), self.durable.first())
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        let completed_before = completed.len();
        self.system.advance(now, completed);
        let reported = &completed[completed_before..];
        // Most completions are durable at once, and pass.
        let has_delayed = reported.iter().any(|completion| completion.write_behind > Span::ZERO);
        if has_delayed || self.durable.first().is_some_and(|due| due <= now) {
            self.delay(completed.drain(completed_before..));
            self.durable.take_due(now, completed);
        }
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.system.open_ledgers(now);
        // The devices have served these requests before.
        self.durable.iter_mut().for_each(|done| done.energy = RequestEnergy::default());
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        self.system.durable()
    }
}
