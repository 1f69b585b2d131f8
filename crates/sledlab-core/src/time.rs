//! Simulated time in integer nanoseconds, without floating-point clocks.
//!
//! [`Time`] is an instant since the start of the run, [`Span`] a duration. Mechanics are computed in seconds (`f64`)
//! and rounded once, when a `Span` is created.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An instant, in nanoseconds from the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run.
    pub const MAX: Time = Time(u64::MAX);

    /// Returns the instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns)
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the start, for reports.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the duration since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A duration of zero.
    pub const ZERO: Span = Span(0);
    /// Longer than any run.
    pub const MAX: Span = Span(u64::MAX);

    /// Returns a duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Span(ns)
    }

    /// Returns a duration of `seconds`, rounded to the nearest nanosecond; negative values and NaN give zero.
    #[inline]
    pub fn from_seconds(seconds: f64) -> Self {
        // Adding 0.5 and truncating rounds like `round` and needs no call into the C library. Processors convert to
        // signed integers in one step; the largest signed value, 292 years, is sufficient.
        Span(((seconds * 1e9 + 0.5) as i64).max(0).cast_unsigned())
    }

    /// Returns a duration of `ms` milliseconds, rounded to the nearest nanosecond.
    pub fn from_ms(ms: f64) -> Self {
        Span((ms * 1e6 + 0.5) as u64)
    }

    /// Returns the duration in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the duration in seconds.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the duration in milliseconds.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the duration minus `other`, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Returns the duration multiplied by `n` (saturating).
    #[must_use]
    pub const fn saturating_mul(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::MAX`], which no event of a run reaches.
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        // Durations are parts of a service and centuries below the limit; adding to a `Time` saturates, see above.
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    /// Panics in debug builds when `other` is longer.
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} ms", self.as_ms())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_once_to_the_nearest_nanosecond() {
        assert_eq!(Span::from_seconds(128.571_428_5e-6).as_ns(), 128_571);
        assert_eq!(Span::from_ms(0.005_12).as_ns(), 5_120);
        assert_eq!(Span::from_seconds(-1.0), Span::ZERO);
        assert_eq!(Span::from_seconds(f64::NAN), Span::ZERO);
    }

    #[test]
    fn overflow_saturates() {
        assert_eq!(Time::MAX + Span::from_ns(1), Time::MAX);
        assert_eq!(Time::ZERO.since(Time::from_ns(5)), Span::ZERO);
    }
}
