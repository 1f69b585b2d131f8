//! Wrappers of media with defects that tests must find.

use sledlab_core::{Op, Time};
use sledlab_models::device::QueuedRequest;
use sledlab_models::system::{Completion, Content, Contents, Durable, Medium, System, SystemWrapper};

/// A medium that loses headers: blank blocks take their places.
pub struct HeaderLosingMedium(pub Medium);

impl SystemWrapper for HeaderLosingMedium {
    fn inner(&self) -> &dyn System {
        &self.0
    }

    fn inner_mut(&mut self) -> &mut dyn System {
        &mut self.0
    }

    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest) {
        self.0.arrive(now, request);
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        self.0.next_event()
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        self.0.advance(now, completed);
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.inner_mut().open_ledgers(now);
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        Some(self)
    }
}

impl Durable for HeaderLosingMedium {
    fn supply_data(&mut self, access: u64, data: Vec<Content>) {
        let keep = |content| if matches!(content, Content::Header(_)) { Content::default() } else { content };
        self.0.supply_data(access, data.into_iter().map(keep).collect());
    }

    fn read_contents(&mut self, access: u64) -> Vec<Content> {
        self.0.read_contents(access)
    }

    fn crash(&mut self, now: Time, survives: &mut dyn FnMut() -> bool) -> Contents {
        self.0.crash(now, survives)
    }
}

/// A medium that acknowledges writes when they arrive.
pub struct EarlyAcknowledgingMedium {
    medium: Medium,
    /// Acknowledgements of writes that are still in flight.
    early: Vec<Completion>,
}

impl EarlyAcknowledgingMedium {
    pub fn new(medium: Medium) -> Self {
        EarlyAcknowledgingMedium { medium, early: Vec::new() }
    }
}

impl SystemWrapper for EarlyAcknowledgingMedium {
    fn inner(&self) -> &dyn System {
        &self.medium
    }

    fn inner_mut(&mut self) -> &mut dyn System {
        &mut self.medium
    }

    fn wrapped_arrive(&mut self, now: Time, request: QueuedRequest) {
        if request.op == Op::Write {
            self.early.push(Completion::immediate(request, now));
        }
        self.medium.arrive(now, request);
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        let early = self.early.first().map(|answer| answer.completion);
        early.or_else(|| self.medium.next_event())
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        if self.medium.next_event().is_some_and(|at| at <= now) {
            let mut done = Vec::new();
            self.medium.advance(now, &mut done);
            completed.extend(done.into_iter().filter(|done| done.request.op == Op::Read));
        }
        completed.append(&mut self.early);
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.inner_mut().open_ledgers(now);
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        Some(&mut self.medium)
    }
}
