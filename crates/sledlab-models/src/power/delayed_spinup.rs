//! Delayed spin-up (Hong 2006, section 7): a parked device starts when enough requests wait, or when the
//! first of them has waited long enough.

use sledlab_core::Span;

use super::constant_timeout::ConstantTimeout;
use super::{Model, PowerPolicy};

sledlab_core::params! {
    /// Limits of the delay: whichever is reached first.
    pub struct DelayedSpinupParams {
        /// Number of waiting requests at which a parked device starts.
        requests: u64 = 4_u64, "", 1..1e9;
        /// Longest time that the first waiting request waits before a parked device starts.
        delay_ms: f64 = 10.0, "ms", 0.0..1e9;
        /// Idle time after which the device parks.
        timeout_ms: f64 = 0.0, "ms", 0.0..1e12;
    }
}

/// Delayed spin-up.
pub struct DelayedSpinup;

impl Model for DelayedSpinup {
    type Params = DelayedSpinupParams;
    const NAME: &'static str = "delayed-spinup";
    const MEANING: &'static str =
        "start a parked device when enough requests wait or the first has waited long enough";

    fn make(params: &DelayedSpinupParams) -> Box<dyn PowerPolicy> {
        Box::new(ConstantTimeout {
            timeout: Span::from_ms(params.timeout_ms),
            requests: params.requests,
            delay: Span::from_ms(params.delay_ms),
        })
    }
}
