//! Arrivals in bursts with no request between them.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{Span, Time, math};

use super::rate_control::RateControl;

/// Times between requests within bursts, in ms: the quantiles for [`SHARES`].
///
/// Measured on the public week of a workstation (`ajw.1week.srt`, distributed with DiskSim 4.0): 40,385 of its gaps are
/// below 0.2 s, 91 % of all. A fifth of these are below 0.4 ms, the others about as long as the traced disk took for a
/// request.
const GAPS_MS: [f64; 17] = [
    0.071, 0.145, 0.165, 0.178, 0.343, 6.144, 16.826, 20.958, 25.962, 30.610, 34.141, 38.327, 43.125, 54.026,
    90.354, 162.522, 199.993,
];

/// For each of [`GAPS_MS`], the share of the gaps that are no longer.
const SHARES: [f64; 17] =
    [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0];

/// Mean of the distribution that runs straight from each of these points to the next.
fn mean_gap_ms() -> f64 {
    let pieces = GAPS_MS.windows(2).zip(SHARES.windows(2));
    pieces.map(|(gaps, shares)| f64::midpoint(gaps[0], gaps[1]) * (shares[1] - shares[0])).sum()
}

/// Tail exponent of the times between bursts.
const IDLE_SHAPE: f64 = 1.5;

/// Longest time between bursts, over the shortest: without a limit, some hours would consist for the most part of one
/// idle time, and have no meaningful rate.
const IDLE_RANGE: f64 = 50.0;

/// Arrival instants in bursts of a geometric number of requests; idle times are Pareto.
#[derive(Clone, Debug)]
pub struct OnOffArrivals {
    now: Time,
    burst_requests: f64,
    /// Factor on the measured gaps.
    scale: f64,
    shortest_idle_s: f64,
    pace: RateControl,
    gaps: Stream,
    bursts: Stream,
    has_started: bool,
}

impl OnOffArrivals {
    /// `rate_per_s` on average, in bursts of `burst_requests` (2 or more) on average that last `busy_share` of the
    /// time.
    pub fn new(rate_per_s: f64, burst_requests: f64, busy_share: f64, gaps: Stream, bursts: Stream) -> Self {
        let cycle_s = burst_requests / rate_per_s;
        let mean_over_shortest = IDLE_SHAPE / (IDLE_SHAPE - 1.0)
            * (1.0 - math::pow(IDLE_RANGE, 1.0 - IDLE_SHAPE))
            / (1.0 - math::pow(IDLE_RANGE, -IDLE_SHAPE));
        OnOffArrivals {
            now: Time::ZERO,
            burst_requests,
            scale: cycle_s * busy_share / (burst_requests - 1.0) / (mean_gap_ms() / 1e3),
            shortest_idle_s: cycle_s * (1.0 - busy_share) / mean_over_shortest,
            pace: RateControl::new(rate_per_s, cycle_s),
            gaps,
            bursts,
            has_started: false,
        }
    }

    /// The next arrival, and whether a burst begins with it.
    #[inline]
    pub fn next(&mut self) -> (Time, bool) {
        let begins_burst = !self.has_started || self.bursts.random::<f64>() * self.burst_requests < 1.0;
        let gap_s = if begins_burst { self.idle_s() } else { self.gap_ms() / 1e3 * self.scale };
        self.has_started = true;
        self.now += Span::from_seconds(gap_s);
        self.pace.count();
        (self.now, begins_burst)
    }

    fn gap_ms(&mut self) -> f64 {
        let share: f64 = self.gaps.random();
        let piece = SHARES[1..].partition_point(|end| *end <= share);
        let share_of_piece = (share - SHARES[piece]) / (SHARES[piece + 1] - SHARES[piece]);
        GAPS_MS[piece] + share_of_piece * (GAPS_MS[piece + 1] - GAPS_MS[piece])
    }

    fn idle_s(&mut self) -> f64 {
        let share_longer = 1.0 - self.bursts.random::<f64>() * (1.0 - math::pow(IDLE_RANGE, -IDLE_SHAPE));
        self.shortest_idle_s * math::pow(share_longer, -1.0 / IDLE_SHAPE) * self.pace.stretch(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_recorded_week() {
        assert!(GAPS_MS.is_sorted() && SHARES.is_sorted());
        // The 40,385 gaps themselves have a mean of 26.37 ms.
        assert!((mean_gap_ms() / 26.37 - 1.0).abs() < 0.03, "{}", mean_gap_ms());
    }
}
