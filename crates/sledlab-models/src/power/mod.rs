//! Power: what each state consumes, how long it lasted, and policies that decide when to park.

mod fixed;
mod ledger;

pub use fixed::Fixed;
pub use ledger::{Energy, Ledger};

use sledlab_core::{Span, Time};

/// Power of a device in each state but idle, which depends on where it stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerRates {
    /// The moving mechanism, without tips, in mW.
    pub active_mw: f64,
    /// One active tip, in mW.
    pub tip_mw: f64,
    /// While starting up, in mW.
    pub startup_mw: f64,
    /// Parked, in mW.
    pub inactive_mw: f64,
    /// Time to get going after having been parked.
    pub startup: Span,
}

/// Decides when an idle device parks.
pub trait IdlePolicy: Send {
    /// How long the device stays idle, from `since` on, before it parks.
    fn timeout(&mut self, since: Time) -> Span;
}
