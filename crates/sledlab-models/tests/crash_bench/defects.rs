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
        let blank_header =
            |content| if matches!(content, Content::Header(_)) { Content::default() } else { content };
        self.0.supply_data(access, data.into_iter().map(blank_header).collect());
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
    early_acknowledgements: Vec<Completion>,
}

impl EarlyAcknowledgingMedium {
    pub fn new(medium: Medium) -> Self {
        EarlyAcknowledgingMedium { medium, early_acknowledgements: Vec::new() }
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
            self.early_acknowledgements.push(Completion::immediate(request, now));
        }
        self.medium.arrive(now, request);
    }

    fn wrapped_next_event(&self) -> Option<Time> {
        let acknowledgement = self.early_acknowledgements.first().map(|answer| answer.completion);
        acknowledgement.or_else(|| self.medium.next_event())
    }

    fn wrapped_advance(&mut self, now: Time, completed: &mut Vec<Completion>) {
        if self.medium.next_event().is_some_and(|at| at <= now) {
            let mut completions = Vec::new();
            self.medium.advance(now, &mut completions);
            completed.extend(completions.into_iter().filter(|completion| completion.request.op == Op::Read));
        }
        completed.append(&mut self.early_acknowledgements);
    }

    fn wrapped_open_ledgers(&mut self, now: Time) {
        self.inner_mut().open_ledgers(now);
    }

    fn wrapped_durable(&mut self) -> Option<&mut dyn Durable> {
        Some(&mut self.medium)
    }
}
