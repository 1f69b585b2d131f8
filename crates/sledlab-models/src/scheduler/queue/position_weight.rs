//! Parallelism-aware scores: many requests at a position justify a longer positioning time (Lee 2009, section 3).

use sledlab_core::{Span, Time, math};

use crate::device::{Aging, PositionRange, RequestGroup, Score};

/// Minimum positioning time in a priority, which must be finite: shorter times count as this time.
pub(in crate::scheduler) const MIN_POSITIONING: Span = Span::from_ns(1_000);

/// The weight of the requests that wait at a position, which a priority divides by the positioning time.
#[derive(Clone, Copy, Debug)]
pub(in crate::scheduler) enum PositionWeight {
    /// The number of requests (P-SPTF, equation 2).
    Number,
    /// The sum of their waiting times (PA-SPTF, equation 3).
    Waits,
    /// The sum of their waiting times in ms, each to this power: 0 counts the requests, 1 sums the waits.
    Powers(f64),
}

impl PositionWeight {
    /// Minus the priority, as the position with the smallest score is served.
    fn score(time: Span, weight: f64) -> f64 {
        -weight / time.max(MIN_POSITIONING).as_ns() as f64
    }

    fn power(exponent: f64, now: Time, queue_time: Time) -> f64 {
        math::pow(now.since(queue_time).as_ms(), exponent)
    }
}

impl PositionWeight {
    /// Upper bounds of the sum of powers of waits at two times. A power below 1 is concave, so the sum of powers is
    /// at most the value of a tangent at the sum of waits. The tangent touches at the average wait at the first of
    /// the two times, or at a quarter of the span between them if that is longer, as when requests join later.
    fn tangent(exponent: f64, times: [Time; 2], group: &RequestGroup) -> [f64; 2] {
        let requests = f64::from(group.requests);
        let waited_ms = times.map(|time| group.balance_ns(time) * 1e-6);
        let touching_ms = (waited_ms[0] / requests).max(times[1].since(times[0]).as_ms() / 4.0).max(1e-6);
        let power = math::pow(touching_ms, exponent);
        let slope = exponent * power / touching_ms;
        waited_ms.map(|waited_ms| (1.0 - exponent) * power * requests + slope * waited_ms)
    }
}

impl Score for PositionWeight {
    fn score(
        &self,
        now: Time,
        time: Span,
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> f64 {
        let weight = match *self {
            PositionWeight::Number => f64::from(group.requests),
            PositionWeight::Waits => group.waited_ns(now),
            PositionWeight::Powers(exponent) => queue_times.map(|at| Self::power(exponent, now, at)).sum(),
        };
        Self::score(time, weight)
    }

    fn weight(
        &self,
        times: [Time; 2],
        group: &RequestGroup,
        queue_times: &mut dyn Iterator<Item = Time>,
    ) -> [f64; 2] {
        match *self {
            PositionWeight::Number => [f64::from(group.requests); 2],
            PositionWeight::Waits => times.map(|time| group.balance_ns(time)),
            PositionWeight::Powers(exponent) if exponent < 1.0 => Self::tangent(exponent, times, group),
            PositionWeight::Powers(exponent) => queue_times.fold([0.0; 2], |[from, to], queue_time| {
                [
                    from + Self::power(exponent, times[0], queue_time),
                    to + Self::power(exponent, times[1], queue_time),
                ]
            }),
        }
    }

    fn lower_bound(&self, range: &PositionRange) -> f64 {
        let weight = match *self {
            PositionWeight::Number | PositionWeight::Waits => range.weight,
            // Sums of powers are rounded; the bound leaves room for the rounding.
            PositionWeight::Powers(_) => range.weight + range.weight.abs() * 1e-9,
        };
        Self::score(range.min_time, weight)
    }

    fn aging(&self) -> Aging {
        match self {
            PositionWeight::Number => Aging::Uniform,
            PositionWeight::Waits => Aging::Linear,
            PositionWeight::Powers(_) => Aging::Curved,
        }
    }

    fn needs_max_time(&self, _weight: f64) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::QueuedRequest;

    proptest! {
        #[test]
        fn no_crowd_beats_the_line_between_its_weights(
            mut queue_times in proptest::collection::vec(0_u64..1 << 40, 1..20),
            begin in 0_u64..1 << 40, span in 1_u64..1 << 41, share in 0.0..1.0,
            time in 0_u64..1 << 21, exponent in 0.0..4.0,
        ) {
            queue_times.sort_unstable();
            let queue_times: Vec<Time> = queue_times.into_iter().map(Time::from_ns).collect();
            let mut group = RequestGroup::EMPTY;
            for queued in &queue_times {
                group.add(&QueuedRequest { queue_time: *queued, ..QueuedRequest::default() });
            }
            let ends = [Time::from_ns(begin), Time::from_ns(begin + span)];
            let now = Time::from_ns(begin + (share * span as f64) as u64).max(queue_times[queue_times.len() - 1]);
            prop_assume!(now <= ends[1]);
            let elapsed_share = now.since(ends[0]).as_ns() as f64 / span as f64;
            let (minimum, maximum) = (Span::from_ns(time), Span::from_ns(time));
            let powers = [exponent, 1.0].map(PositionWeight::Powers);
            for score in [PositionWeight::Number, PositionWeight::Waits].into_iter().chain(powers) {
                let [from, to] = score.weight(ends, &group, &mut queue_times.iter().copied());
                let weight = from + (to - from) * elapsed_share + (from.abs() + to.abs()) * 4e-15;
                let bound = score.lower_bound(&PositionRange { min_time: minimum, max_time: maximum, weight });
                let exact = score.score(now, minimum, &group, &mut queue_times.iter().copied());
                prop_assert!(bound <= exact, "{score:?}: {bound} > {exact}");
            }
        }
    }
}
