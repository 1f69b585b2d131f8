//! How many successive response times are correlated.
//!
//! A queue persists: a request that waits long is followed by others that wait long. In an M/M/1 queue of load r, a run
//! of n requests estimates the mean response time as well as n / (1 + 2 r (1 + r) / (1 - r)^2) independent response
//! times (Daley 1968; Whitt 1989, "Planning queueing simulations"). For other queues the 2 is the sum of the
//! dispersions of arrivals and of service times, which heavy-traffic limits depend on; that of service times is taken
//! as 1.

use crate::replay::Mode;

/// Returns for how many requests of a run one independent response time counts, at least 1.
///
/// `utilization` is that of the busiest device, `dispersion` the variance of the number of arrivals in a long interval
/// divided by its mean (1 for Poisson arrivals).
pub fn correlated_requests(mode: Mode, utilization: f64, dispersion: f64) -> f64 {
    match mode {
        // A request shares its response time with those that were outstanding when it arrived.
        Mode::Closed { outstanding, .. } => outstanding as f64,
        Mode::Gaps => 1.0,
        Mode::Open => {
            let load = utilization.clamp(0.0, 1.0 - 1e-9);
            1.0 + load * (1.0 + load) * (1.0 + dispersion.max(1.0)) / (1.0 - load).powi(2)
        }
    }
}

#[cfg(test)]
mod tests;
