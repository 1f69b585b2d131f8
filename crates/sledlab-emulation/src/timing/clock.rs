//! Wall-clock time, and the simulated time derived from it.
//!
//! Wall-clock time is counted in nanoseconds since the server became ready. Simulated time is wall-clock time divided
//! by a [`Scale`], a ratio of integers, so that rounding errors do not accumulate.

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use sledlab_core::{Error, Result, Time};

/// A source of wall-clock time, and of the processor time of the calling thread.
pub(crate) trait Clock: Send {
    /// Nanoseconds of wall-clock time since the start.
    fn now(&self) -> u64;
    /// Nanoseconds of processor time of the calling thread.
    fn processor(&self) -> u64;
}

/// The machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotonic(Instant);

impl Monotonic {
    /// Returns a clock whose wall-clock time starts now.
    pub fn start() -> Self {
        Monotonic(Instant::now())
    }
}

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn processor(&self) -> u64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
    }
}

/// Ratio of wall-clock time to simulated time: 10 makes a device ten times slower, so that the host appears ten times
/// faster.
///
/// ```
/// use sledlab_core::Time;
/// use sledlab_emulation::Scale;
///
/// let scale: Scale = "2.5".parse()?;
/// assert_eq!(scale.model(2_500), Time::from_ns(1_000));
/// assert_eq!(scale.real(Time::from_ns(1_000)), 2_500);
/// # Ok::<(), sledlab_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scale {
    real: u64,
    model: u64,
}

impl Default for Scale {
    fn default() -> Self {
        Scale { real: 1, model: 1 }
    }
}

impl Scale {
    /// Returns a scale of `real` nanoseconds of wall-clock time per `model` nanoseconds of simulated time.
    ///
    /// # Errors
    /// Ratios below 0.01 and above 10,000, and 0 to 0.
    pub fn new(real: u64, model: u64) -> Result<Scale> {
        // Wide enough for the products of any two numbers.
        let (wide_real, wide_model) = (u128::from(real), u128::from(model));
        if model == 0 || wide_real * 100 < wide_model || wide_real > wide_model * 10_000 {
            return Err(Error::user(format!("a time scale of {real}/{model} is out of range"))
                .with_remedy("choose one from 0.01 (100 times faster) to 10000 (10000 times slower)"));
        }
        let common = greatest_common_divisor(real, model);
        Ok(Scale { real: real / common, model: model / common })
    }

    /// Returns the simulated time after `real_ns` of wall-clock time.
    #[inline]
    pub fn model(self, real_ns: u64) -> Time {
        Time::from_ns(multiply_divide(real_ns, self.model, self.real, 0))
    }

    /// Returns the first nanosecond of wall-clock time at which the simulated time is `at`.
    #[inline]
    pub fn real(self, at: Time) -> u64 {
        multiply_divide(at.as_ns(), self.real, self.model, self.model - 1)
    }

    /// The ratio as a number.
    pub fn as_f64(self) -> f64 {
        self.real as f64 / self.model as f64
    }
}

/// `(value * by + more) / over`; the largest number where the result does not fit.
#[inline]
fn multiply_divide(value: u64, factor: u64, divisor: u64, addend: u64) -> u64 {
    if factor == 1 && divisor == 1 {
        return value;
    }
    let quotient = (u128::from(value) * u128::from(factor) + u128::from(addend)) / u128::from(divisor);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

impl FromStr for Scale {
    type Err = Error;

    /// A decimal (`10`, `0.5`) or a ratio (`1/3`), exactly as it is written.
    fn from_str(text: &str) -> Result<Scale> {
        let scale_error = || {
            Error::user(format!("`{text}` is not a time scale"))
                .with_remedy("write a number, such as 10 or 0.5")
        };
        let parse_integer = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<u64>().ok()).flatten().ok_or_else(scale_error)
        };
        let text = text.trim();
        if let Some((real, model)) = text.split_once('/') {
            return Scale::new(parse_integer(real)?, parse_integer(model)?);
        }
        let Some((ones, decimals)) = text.split_once('.') else { return Scale::new(parse_integer(text)?, 1) };
        let model = 10_u64.checked_pow(decimals.len() as u32).ok_or_else(scale_error)?;
        let ones = if ones.is_empty() { 0 } else { parse_integer(ones)? };
        let real = ones.checked_mul(model).and_then(|ones| ones.checked_add(parse_integer(decimals).ok()?));
        Scale::new(real.ok_or_else(scale_error)?, model)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.model == 1 { write!(f, "{}", self.real) } else { write!(f, "{}/{}", self.real, self.model) }
    }
}

/// The clock of a device, which starts when the device is switched on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceClock {
    scale: Scale,
    /// When the device was switched on, in nanoseconds of wall-clock time.
    power_on_ns: u64,
}

impl DeviceClock {
    /// Returns the clock of a device that is switched on at `power_on_ns` of wall-clock time.
    pub fn new(scale: Scale, power_on_ns: u64) -> Self {
        DeviceClock { scale, power_on_ns }
    }

    /// Returns the ratio of wall-clock time to simulated time.
    pub fn scale(self) -> Scale {
        self.scale
    }

    /// When the device was switched on, in nanoseconds of wall-clock time.
    pub fn power_on_ns(self) -> u64 {
        self.power_on_ns
    }

    /// Returns the simulated time at a wall-clock time.
    #[inline]
    pub fn model(self, real_ns: u64) -> Time {
        self.scale.model(real_ns.saturating_sub(self.power_on_ns))
    }

    /// Returns the first nanosecond of wall-clock time at which the device's time is `at`.
    #[inline]
    pub fn real(self, at: Time) -> u64 {
        self.scale.real(at).saturating_add(self.power_on_ns)
    }
}

#[cfg(test)]
pub(crate) mod fake_clock {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Clock;

    /// Time passes only when the test sets it; the processor is always busy.
    #[derive(Clone, Debug, Default)]
    pub struct FakeClock(Arc<AtomicU64>);

    impl FakeClock {
        /// Moves time on to `ns`.
        pub fn set(&self, ns: u64) {
            self.0.store(ns, Ordering::Relaxed);
        }
    }

    impl Clock for FakeClock {
        fn now(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn processor(&self) -> u64 {
            self.now()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::fake_clock::FakeClock;
    use super::*;

    #[test]
    fn scale_is_parsed_exactly() {
        let parse = |text: &str| text.parse::<Scale>();
        assert_eq!(parse("10").unwrap(), Scale { real: 10, model: 1 });
        assert_eq!(parse("0.50").unwrap(), Scale { real: 1, model: 2 });
        assert_eq!(parse(".25").unwrap(), Scale { real: 1, model: 4 });
        assert_eq!(parse("4/6").unwrap(), Scale { real: 2, model: 3 });
        for text in ["", "0", "-1", "1e3", "0.001", "20000", "1/0", "0/0", "x", "1.", "99999999999999999999"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fake_clock_stands_still() {
        let clock = FakeClock::default();
        let same = clock.clone();
        clock.set(7);
        assert_eq!((same.now(), same.processor()), (7, 7));
    }

    proptest! {
        /// `real` returns the first nanosecond of wall-clock time at which the simulated time has reached `at`.
        #[test]
        fn wall_clock_conversion_round_trips(real in 1_u64..1_000, model in 1_u64..1_000, at in 0_u64..1 << 50) {
            let Ok(scale) = Scale::new(real, model) else { return Ok(()) };
            let at = Time::from_ns(at);
            let first = scale.real(at);
            prop_assert!(scale.model(first) >= at);
            prop_assert!(first == 0 || scale.model(first - 1) < at);
        }
    }
}
