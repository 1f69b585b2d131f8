//! Park after a fixed idle time (PW-04); zero parks at once (PW-05).

use sledlab_core::{Span, Time};

use super::IdlePolicy;

/// A fixed idle timeout.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Idle time before parking.
    pub timeout: Span,
}

impl IdlePolicy for Fixed {
    fn timeout(&mut self, _since: Time) -> Span {
        self.timeout
    }
}
