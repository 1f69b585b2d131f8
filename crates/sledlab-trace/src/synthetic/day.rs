//! The course of a day: arrivals come faster at some hours than at others.

use sledlab_core::{Span, Time, math};

/// Steps of a day: within each step the rate is constant, so that no cosine is computed for each request.
const STEPS: u64 = 288;

/// Bends an even clock so that its rate follows a cosine over a day, in steps; the mean rate of a day is unchanged.
#[derive(Clone, Debug)]
pub struct Day {
    /// Rate of each step, over the mean rate.
    rates: Vec<f64>,
    step_ns: f64,
    step: usize,
    /// Start and end of the current step on the even clock, in ns.
    even_ns: [f64; 2],
    /// Start of the current step on the bent clock, in ns.
    begins_ns: f64,
}

impl Day {
    /// A day of `day_h` hours whose rate is `1 + amplitude` times the mean `peak_h` hours from its start.
    pub fn new(day_h: f64, amplitude: f64, peak_h: f64) -> Self {
        let day_share = |step: u64| (step as f64 + 0.5) / STEPS as f64 - peak_h / day_h;
        let rates: Vec<f64> = (0..STEPS)
            .map(|step| 1.0 + amplitude * math::cos(day_share(step) * std::f64::consts::TAU))
            .collect();
        let step_ns = (day_h * 3.6e12 / STEPS as f64).round();
        let even_ns = [0.0, step_ns * rates[0]];
        Day { rates, step_ns, step: 0, even_ns, begins_ns: 0.0 }
    }

    /// The time on the bent clock of an event that the even clock has at `even`, which never decreases.
    #[inline]
    pub fn warp(&mut self, even: Time) -> Time {
        let even_ns = even.as_ns() as f64;
        while even_ns >= self.even_ns[1] {
            self.step = (self.step + 1) % self.rates.len();
            self.begins_ns += self.step_ns;
            self.even_ns = [self.even_ns[1], self.even_ns[1] + self.step_ns * self.rates[self.step]];
        }
        let bent_ns = (even_ns - self.even_ns[0]) / self.rates[self.step];
        Time::ZERO + Span::from_ns((self.begins_ns + bent_ns.min(self.step_ns)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_amplitude_leaves_arrivals_unchanged() {
        let mut day = Day::new(24.0, 0.0, 12.0);
        for second in [0, 1, 300, 301, 86_400, 900_000] {
            let time = Time::from_ns(second * 1_000_000_000);
            assert_eq!(day.warp(time), time);
        }
    }

    #[test]
    fn full_days_keep_their_length() {
        for amplitude in [0.3, 1.0] {
            let mut day = Day::new(1.0, amplitude, 0.25);
            let hours: Vec<f64> =
                (1..=5).map(|hour| day.warp(Time::from_ns(hour * 3_600_000_000_000)).as_seconds()).collect();
            for (hour, seconds) in hours.iter().enumerate() {
                let expected_s = 3600.0 * (hour + 1) as f64;
                assert!((seconds - expected_s).abs() < 20.0, "{seconds} {expected_s}");
            }
        }
    }

    #[test]
    fn rate_peaks_at_peak_hour() {
        let mut day = Day::new(24.0, 1.0, 6.0);
        let mut arrivals_by_hour = [0; 24];
        for minute in 0..1440 {
            let bent_time = day.warp(Time::from_ns(minute * 60_000_000_000));
            arrivals_by_hour[(bent_time.as_seconds() / 3600.0) as usize % 24] += 1;
        }
        assert!(
            (100..=120).contains(&arrivals_by_hour[5]) && (100..=120).contains(&arrivals_by_hour[6]),
            "{arrivals_by_hour:?}"
        );
        assert!(arrivals_by_hour[17] <= 3 && arrivals_by_hour[18] <= 3, "{arrivals_by_hour:?}");
    }
}
