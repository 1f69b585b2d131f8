//! The burstiness of arrivals.

use sledlab_core::Time;

use super::report::Dispersion;

/// Counts of arrivals in successive windows of one length, from the first arrival on.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    length_s: u64,
    start: Option<Time>,
    /// Windows that have ended.
    full_windows: u64,
    /// End of the present window, in ns from the first arrival.
    end_ns: u64,
    /// Arrivals in the present window.
    count: u64,
    sum: u64,
    sum_of_squares: u128,
    busiest: u64,
}

impl Window {
    pub fn new(length_s: u64) -> Self {
        Window {
            length_s,
            start: None,
            full_windows: 0,
            end_ns: length_s * 1_000_000_000,
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            busiest: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, arrival: Time) {
        let at_ns = arrival.since(*self.start.get_or_insert(arrival)).as_ns();
        if at_ns >= self.end_ns {
            self.advance_window(at_ns);
        }
        self.count += 1;
    }

    /// Closes the present window and skips windows without an arrival.
    fn advance_window(&mut self, at_ns: u64) {
        let length_ns = self.length_s * 1_000_000_000;
        self.sum += self.count;
        self.sum_of_squares += u128::from(self.count).pow(2);
        self.busiest = self.busiest.max(self.count);
        self.count = 0;
        self.full_windows = at_ns / length_ns;
        self.end_ns = (self.full_windows + 1).saturating_mul(length_ns);
    }

    pub fn summarize(&self) -> Dispersion {
        let windows = self.full_windows as f64;
        let mean = self.sum as f64 / windows;
        let variance = self.sum_of_squares as f64 / windows - mean.powi(2);
        Dispersion {
            window_s: self.length_s,
            index: (self.full_windows >= 2).then(|| variance.max(0.0) / mean),
            busiest: self.busiest.max(self.count),
        }
    }
}

/// Arrivals over time in a fixed number of bins, whose width doubles when an arrival lies past the last bin.
#[derive(Clone, Debug)]
pub struct ArrivalTimeline {
    bins: Vec<u64>,
    /// Number of bins up to the last arrival.
    used_bins: usize,
    /// Width of a bin: 2^shift ns.
    shift: u32,
}

impl Default for ArrivalTimeline {
    fn default() -> Self {
        ArrivalTimeline { bins: vec![0; Self::BINS], used_bins: 0, shift: 0 }
    }
}

impl ArrivalTimeline {
    /// At least half of the bins lie within the time so far, so a bin is at most 1/65,536 of that time.
    const BINS: usize = 1 << 17;

    /// Counts an arrival `at_ns` after the start; arrivals must not decrease.
    #[inline]
    pub fn record(&mut self, at_ns: u64) {
        while at_ns >> self.shift >= Self::BINS as u64 {
            self.halve();
        }
        let bin = (at_ns >> self.shift) as usize;
        self.bins[bin] += 1;
        self.used_bins = self.used_bins.max(bin + 1);
    }

    fn halve(&mut self) {
        let half = self.used_bins.div_ceil(2);
        for i in 0..half {
            self.bins[i] = self.bins[2 * i] + self.bins[2 * i + 1];
        }
        self.bins[half..self.used_bins.next_multiple_of(2)].fill(0);
        self.used_bins = half;
        self.shift += 1;
    }

    /// Arrivals in `N` equal parts of `span_ns`; a bin across a border is divided in proportion.
    pub fn parts<const N: usize>(&self, span_ns: u64) -> [u64; N] {
        let total: u64 = self.bins.iter().sum();
        let arrivals_before = |part: usize| {
            if part == N {
                return total;
            }
            let border = (u128::from(span_ns) * part as u128).div_ceil(N as u128) as u64;
            let bin = ((border >> self.shift) as usize).min(Self::BINS - 1);
            let share_of_bin = (border - ((bin as u64) << self.shift)) as f64 / (1_u64 << self.shift) as f64;
            self.bins[..bin].iter().sum::<u64>()
                + (self.bins[bin] as f64 * share_of_bin.min(1.0)).round() as u64
        };
        std::array::from_fn(|part| arrivals_before(part + 1) - arrivals_before(part))
    }
}
