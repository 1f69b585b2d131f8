//! A policy whose timeout does not depend on past idle periods.

use sledlab_core::Span;

use super::{PowerCosts, PowerPolicy};

/// Parks after `timeout`; a parked device starts when `requests` wait, or `delay` after the first of them arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstantTimeout {
    pub timeout: Span,
    pub requests: u64,
    pub delay: Span,
}

impl ConstantTimeout {
    /// Parks after `timeout`; a parked device starts when a request arrives.
    pub fn new_boxed(timeout: Span) -> Box<dyn PowerPolicy> {
        Box::new(ConstantTimeout { timeout, requests: 1, delay: Span::ZERO })
    }
}

impl PowerPolicy for ConstantTimeout {
    fn timeout(&mut self, _: &PowerCosts) -> Span {
        self.timeout
    }

    fn patience(&mut self, waiting: usize) -> Span {
        if waiting as u64 >= self.requests { Span::ZERO } else { self.delay }
    }
}
