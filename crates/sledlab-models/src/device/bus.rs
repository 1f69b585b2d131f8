//! A bus that one device holds at a time.
//!
//! A free bus is granted to the first request. When the bus is released, drives go before the host, the last drive of a
//! system first, and the host's commands in the order of their requests for the bus. The reference simulator arbitrates
//! so; in SCSI, priority depends on the devices' numbers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sledlab_core::{Result, Time};

use super::Device;

/// Makes the device that parameters describe, on a bus shared with other devices.
///
/// # Errors
/// Parameters that contradict each other.
pub type BusConstructor<Params> = fn(&Params, &Bus) -> Result<Box<dyn Device>>;

/// The bus of one drive, or of all drives of a system.
#[derive(Clone, Debug, Default)]
pub struct Bus(Arc<Mutex<BusState>>);

#[derive(Debug, Default)]
struct BusState {
    drives: usize,
    /// The request for the bus that holds it, or that may take it now.
    owner: Option<BusRequest>,
    /// Whether the owner has taken the bus, which is possible from `since` on.
    is_taken: bool,
    since: Time,
    waiting: VecDeque<BusRequest>,
}

#[derive(Clone, Copy, Debug)]
struct BusRequest {
    drive: usize,
    requester: Requester,
}

/// Who requests the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Requester {
    /// The host, for a command to the drive.
    Host,
    /// The drive, for data or the end of a command.
    Drive,
}

impl BusRequest {
    /// The highest rank gets the bus first; among equal ranks, the earliest request does.
    fn rank(self) -> usize {
        if self.requester == Requester::Drive { self.drive + 1 } else { 0 }
    }
}

/// A drive's end of a bus.
#[derive(Debug)]
pub(in crate::device) struct Port {
    bus: Bus,
    drive: usize,
}

impl Bus {
    fn state(&self) -> MutexGuard<'_, BusState> {
        // No code panics while the state is inconsistent, so the state behind a poisoned lock is valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a drive to the bus.
    pub(in crate::device) fn attach(&self) -> Port {
        let mut state = self.state();
        let drive = state.drives;
        state.drives += 1;
        Port { bus: self.clone(), drive }
    }
}

impl BusState {
    fn offer(&mut self, request: BusRequest, now: Time) {
        (self.owner, self.is_taken, self.since) = (Some(request), false, now);
    }
}

impl Port {
    /// Asks for the bus at `now`.
    pub fn request(&self, now: Time, requester: Requester) {
        let mut state = self.bus.state();
        let request = BusRequest { drive: self.drive, requester };
        if state.owner.is_none() { state.offer(request, now) } else { state.waiting.push_back(request) }
    }

    /// The time since which this drive may take the bus; `None` while it may not.
    pub fn offer_time(&self) -> Option<Time> {
        let state = self.bus.state();
        let is_turn = !state.is_taken && state.owner.is_some_and(|request| request.drive == self.drive);
        is_turn.then_some(state.since)
    }

    /// Takes the bus if it is this drive's turn, and returns who requested it, host or drive.
    pub fn take(&self) -> Option<Requester> {
        let mut state = self.bus.state();
        let request = state.owner.filter(|request| request.drive == self.drive && !state.is_taken)?;
        state.is_taken = true;
        Some(request.requester)
    }

    /// Releases the bus at `now` and offers it to the next that waits.
    pub fn release_bus(&self, now: Time) {
        let mut state = self.bus.state();
        let next_request =
            state.waiting.iter().enumerate().max_by_key(|(at, request)| (request.rank(), usize::MAX - at));
        match next_request.map(|(at, _)| at).and_then(|at| state.waiting.remove(at)) {
            Some(request) => state.offer(request, now),
            None => state.owner = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_precede_host_in_descending_order() {
        let bus = Bus::default();
        let (a, b) = (bus.attach(), bus.attach());
        let at = Time::from_ns;
        assert!(a.take().is_none());
        for (request, (port, requester)) in [
            (&a, Requester::Host),
            (&b, Requester::Host),
            (&a, Requester::Host),
            (&a, Requester::Drive),
            (&b, Requester::Drive),
        ]
        .iter()
        .enumerate()
        {
            port.request(at(request as u64), *requester);
        }
        assert_eq!((a.offer_time(), b.offer_time()), (Some(at(0)), None));
        let mut order = Vec::new();
        for now in 10..15 {
            let (port, name) = if a.offer_time().is_some() { (&a, 'a') } else { (&b, 'b') };
            order.push((name, port.take().unwrap()));
            assert_eq!((a.offer_time(), b.offer_time(), port.take()), (None, None, None));
            port.release_bus(at(now));
        }
        let expected = [
            ('a', Requester::Host),
            ('b', Requester::Drive),
            ('a', Requester::Drive),
            ('b', Requester::Host),
            ('a', Requester::Host),
        ];
        assert_eq!(order, expected);
        assert_eq!((a.offer_time(), b.offer_time()), (None, None));
    }
}
