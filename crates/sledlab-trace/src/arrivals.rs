//! Arrival times: checked to be in order, and counted from the first request where the trace has a wall clock.

use sledlab_core::{Error, Time};

use crate::continuation::Continuation;

/// Latest arrival in nanoseconds, 285 years: tables hold times as signed or floating-point numbers of 64 bits.
pub(crate) const MAX_ARRIVAL_NS: u64 = 9_000_000_000_000_000_000;

/// The instant from which a trace's times count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The start of the trace: times are taken as they are.
    Trace,
    /// A date, or the boot of a machine: the first request arrives at time 0.
    Wall,
}

/// Turns the times of a trace into arrivals, one after another.
#[derive(Clone, Debug)]
pub(crate) struct TraceArrivals {
    shifting: bool,
    checking: bool,
    /// The trace's time that becomes 0; unset until the first request.
    base_ns: u64,
    /// Latest time so far.
    last_ns: u64,
    /// Latest arrival that is accepted.
    latest_ns: u64,
    started: bool,
    /// The trace's time of the first request; another trace may have set `base_ns` before.
    first_ns: u64,
    continuation: Continuation,
}

impl TraceArrivals {
    pub(crate) fn new(clock: Clock, continuation: Continuation) -> Self {
        let shifting = clock == Clock::Wall;
        TraceArrivals {
            shifting,
            checking: true,
            base_ns: 0,
            last_ns: 0,
            latest_ns: MAX_ARRIVAL_NS,
            started: !shifting,
            first_ns: 0,
            continuation,
        }
    }

    /// Accepts times in any order, for a caller that sorts the requests. Times of a wall clock are returned as they
    /// are, and the caller subtracts the first.
    pub(crate) fn unordered(clock: Clock) -> Self {
        let latest_ns = if clock == Clock::Wall { u64::MAX } else { MAX_ARRIVAL_NS };
        TraceArrivals {
            checking: false,
            latest_ns,
            ..TraceArrivals::new(Clock::Trace, Continuation::default())
        }
    }

    /// The arrival of a request at `trace_ns` of the trace, or `None` when it comes before that of the previous
    /// request, or after [`MAX_ARRIVAL_NS`].
    #[inline]
    pub(crate) fn accept(&mut self, trace_ns: u64) -> Option<Time> {
        if !self.started {
            self.started = true;
            self.base_ns = self.continuation.begin(trace_ns);
            self.last_ns = self.base_ns;
            self.first_ns = trace_ns;
        }
        if trace_ns < self.last_ns && self.checking || trace_ns - self.base_ns > self.latest_ns {
            return None;
        }
        self.last_ns = trace_ns;
        debug_assert!(self.base_ns <= trace_ns || !self.shifting);
        Some(Time::from_ns(trace_ns - self.base_ns))
    }

    /// The error for a request at `trace_ns`, for which [`TraceArrivals::accept`] returned `None`.
    #[cold]
    pub(crate) fn refusal(&self, trace_ns: u64) -> Error {
        if trace_ns.saturating_sub(self.base_ns) > self.latest_ns {
            return late_arrival_error();
        }
        if trace_ns < self.base_ns && self.base_ns != self.first_ns {
            return early_arrival_error(self.base_ns - trace_ns);
        }
        let early_ms = (self.last_ns - trace_ns) as f64 / 1e6;
        Error::user(format!("the request arrives {early_ms} ms before the one above it")).with_remedy(
            "arrivals must not decrease: `--sort N` sorts requests that are out of order by up to N requests",
        )
    }
}

/// The error for a request that arrives after [`MAX_ARRIVAL_NS`].
#[cold]
pub(crate) fn late_arrival_error() -> Error {
    Error::user("the request arrives more than 9e18 ns (285 years) after the start of the trace")
        .with_remedy("check the unit of the times, and the first of them")
}

/// The error for a request that arrives `early_ns` before the clock that the traces share begins.
#[cold]
pub(crate) fn early_arrival_error(early_ns: u64) -> Error {
    let early_s = early_ns as f64 / 1e9;
    Error::user(format!(
        "the request arrives {early_s} s before the first of the traces that share its clock"
    ))
    .with_remedy("list the files in chronological order")
}
