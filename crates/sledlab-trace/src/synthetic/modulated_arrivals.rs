//! Arrivals of a Poisson process that switches between two rates.

use rand::RngExt;
use rand_distr::Exp1;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Result, Span, Time, math};

use super::rate_control::RateControl;

/// Rate and burstiness of a [`ModulatedArrivals`] process.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Mean requests per second.
    pub rate_per_s: f64,
    /// Index of dispersion of the counts in windows of one second; 1 is Poisson.
    pub dispersion_1s: f64,
    /// The same in windows of ten seconds.
    pub dispersion_10s: f64,
    /// Share of the time that bursts last.
    pub burst_share: f64,
}

/// Returns the seconds for which the counts in windows of `window_s` are correlated, if the process switches between
/// its rates `switching` times per second.
fn correlation_s(switching: f64, window_s: f64) -> f64 {
    let switches = switching * window_s;
    (1.0 + math::exp_m1(-switches) / switches) / switching
}

impl Shape {
    /// Mean length of quiet times and of bursts in seconds, and requests per second in them.
    ///
    /// The counts in windows of length t have the index of dispersion 1 + 2 d^2 p (1 - p) / m (1/r - (1 - exp(-r t)) /
    /// (r^2 t)), where d is the difference of the two rates, m the mean rate, p the share of the time in bursts and r
    /// the rate of switching both ways (Fischer and Meier-Hellstern 1993). Two windows give r and d.
    fn rates(&self) -> Result<[[f64; 2]; 2]> {
        let switching = self.switching()?;
        let burst_s = 1.0 / (switching * (1.0 - self.burst_share));
        let mean_s = [1.0 / (switching * self.burst_share), burst_s];
        let dispersion_factor =
            2.0 * self.burst_share * (1.0 - self.burst_share) * correlation_s(switching, 1.0);
        let difference = ((self.dispersion_1s - 1.0) * self.rate_per_s / dispersion_factor).sqrt();
        let quiet = self.rate_per_s - self.burst_share * difference;
        if quiet < 0.0 {
            // The dispersion where quiet times have no requests.
            let max_dispersion = 1.0 + dispersion_factor * self.rate_per_s / self.burst_share.powi(2);
            return Err(Error::user(format!(
                "a dispersion of {} is more than bursts of {burst_s:.3} s in {} of the time can give at {} requests/s",
                self.dispersion_1s, self.burst_share, self.rate_per_s
            ))
            .with_remedy(format!(
                "take at most {max_dispersion:.1}, a larger workload.dispersion_10s, or a smaller share of bursts"
            )));
        }
        Ok([mean_s, [quiet, quiet + difference]])
    }

    /// Switches per second that give the ratio of the dispersions; any of a Poisson process.
    fn switching(&self) -> Result<f64> {
        let ratio = (self.dispersion_10s - 1.0) / (self.dispersion_1s - 1.0);
        if self.dispersion_1s <= 1.0 && self.dispersion_10s <= 1.0 {
            return Ok(1.0);
        }
        // Rates that never switch have a ratio of 10, rates that switch at once of 1.
        if !(1.01..=9.9).contains(&ratio) {
            let [min_dispersion, max_dispersion] =
                [1.01, 9.9].map(|ratio| 1.0 + ratio * (self.dispersion_1s - 1.0));
            return Err(Error::user(format!(
                "a dispersion of {} at 10 s is impossible with {} at 1 s",
                self.dispersion_10s, self.dispersion_1s
            ))
            .with_remedy(format!(
                "take workload.dispersion_10s from {min_dispersion:.2} to {max_dispersion:.2}"
            )));
        }
        let (mut low, mut high) = (1e-3_f64, 1e3_f64);
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            let ratio_of_middle = correlation_s(middle, 10.0) / correlation_s(middle, 1.0);
            if ratio_of_middle > ratio { low = middle } else { high = middle }
        }
        Ok(high)
    }
}

/// A [`ModulatedArrivals`] process, by the rate of requests in bursts.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// Mean requests per second.
    pub rate_per_s: f64,
    /// Rate in bursts over the mean rate; 1 is Poisson.
    pub ratio: f64,
    /// Mean length of a burst in seconds.
    pub burst_s: f64,
    /// Share of the time that bursts last.
    pub burst_share: f64,
}

impl Bursts {
    /// Requests per second in quiet times and in bursts.
    fn rates_per_s(&self) -> Result<[f64; 2]> {
        let in_bursts = self.ratio * self.burst_share;
        if in_bursts > 1.0 {
            return Err(Error::user(format!(
                "bursts at {} times the mean rate cannot last {} of the time: they would hold more than all requests",
                self.ratio, self.burst_share
            ))
            .with_remedy(format!("take a share of at most {}", 1.0 / self.ratio)));
        }
        let quiet = (1.0 - in_bursts) / (1.0 - self.burst_share);
        Ok([quiet, self.ratio].map(|factor| factor * self.rate_per_s))
    }
}

/// Arrival instants; bursts and quiet times last exponentially long.
#[derive(Clone, Debug)]
pub struct ModulatedArrivals {
    rates_per_s: [f64; 2],
    mean_s: [f64; 2],
    /// 0 in quiet times, 1 in bursts.
    state: usize,
    until: Time,
    now: Time,
    pace: RateControl,
    rest: Option<Rest>,
    gaps: Stream,
    states: Stream,
}

/// The rest of a process of exact length.
#[derive(Clone, Copy, Debug)]
struct Rest {
    requests: u64,
    /// Expected number of requests at the rates of its states.
    expected: f64,
}

impl ModulatedArrivals {
    /// An error where no two rates give the `shape`.
    pub fn new(shape: Shape, gaps: Stream, states: Stream) -> Result<Self> {
        let [mean_s, rates_per_s] = shape.rates()?;
        Ok(Self::from_rates(rates_per_s, mean_s, shape.rate_per_s, [gaps, states]))
    }

    /// Like [`ModulatedArrivals::new`], but returns an error if bursts would have more than all requests.
    pub fn with_bursts(bursts: Bursts, gaps: Stream, states: Stream) -> Result<Self> {
        let mean_s = [bursts.burst_s * (1.0 / bursts.burst_share - 1.0), bursts.burst_s];
        Ok(Self::from_rates(bursts.rates_per_s()?, mean_s, bursts.rate_per_s, [gaps, states]))
    }

    fn from_rates(rates_per_s: [f64; 2], mean_s: [f64; 2], rate_per_s: f64, streams: [Stream; 2]) -> Self {
        let [gaps, mut states] = streams;
        let begins_in_burst = states.random::<f64>() * (mean_s[0] + mean_s[1]) < mean_s[1];
        ModulatedArrivals {
            rates_per_s,
            mean_s,
            // The process switches at time 0.
            state: usize::from(!begins_in_burst),
            until: Time::ZERO,
            now: Time::ZERO,
            pace: RateControl::new(rate_per_s, mean_s[0] + mean_s[1]),
            rest: None,
            gaps,
            states,
        }
    }

    /// Returns the same process in which exactly `requests` arrive until `requests / rate_per_s` seconds, and bursts
    /// and quiet times last as they come.
    pub fn with_exact_length(self, requests: u64, rate_per_s: f64) -> Self {
        let end = Time::ZERO + Span::from_seconds(requests as f64 / rate_per_s);
        let mut process = ModulatedArrivals { rest: Some(Rest { requests, expected: 0.0 }), ..self };
        let (mut states, mut expected) = (process.clone(), 0.0);
        while states.now < end {
            states.now = states.until;
            states.switch();
            let span_s = states.until.min(end).since(states.now).as_seconds();
            expected += states.rates_per_s[states.state] * span_s;
        }
        process.rest = Some(Rest { requests, expected });
        process
    }

    /// The next arrival.
    #[inline]
    pub fn next(&mut self) -> Time {
        let mut remaining_expected = self.draw_expected();
        loop {
            let rate_per_s = self.rates_per_s[self.state];
            let expected_until_switch = rate_per_s * self.until.since(self.now).as_seconds();
            if remaining_expected < expected_until_switch {
                self.now += Span::from_seconds(remaining_expected / rate_per_s);
                self.pace.count();
                return self.now;
            }
            remaining_expected -= expected_until_switch;
            self.now = self.until;
            self.switch();
        }
    }

    /// Draws the expected number of requests until the next one.
    #[inline]
    fn draw_expected(&mut self) -> f64 {
        match &mut self.rest {
            Some(rest) if rest.requests > 0 => {
                // The first of some uniform places in the rest.
                let share = 1.0 - math::pow(1.0 - self.gaps.random::<f64>(), 1.0 / rest.requests as f64);
                let expected = share * rest.expected;
                *rest = Rest { requests: rest.requests - 1, expected: rest.expected - expected };
                expected
            }
            _ => self.gaps.sample::<f64, _>(Exp1),
        }
    }

    fn switch(&mut self) {
        self.state = 1 - self.state;
        let is_stretched = self.state == 0 && self.rest.is_none();
        let stretch = if is_stretched { self.pace.stretch(self.now) } else { 1.0 };
        let length_s = self.states.sample::<f64, _>(Exp1) * self.mean_s[self.state] * stretch;
        self.until += Span::from_seconds(length_s);
    }
}
