//! Arrival times: checked to be in order, and counted from the first request of the trace.

use sledlab_core::{Error, Result, Time, params};

use crate::continuation::Continuation;
use crate::notes::Note;

/// Latest arrival in nanoseconds, 285 years: tables hold times as signed or floating-point numbers of 64 bits.
pub(crate) const MAX_ARRIVAL_NS: u64 = 9_000_000_000_000_000_000;

/// A first request later than this on the clock of a trace is a date rather than a time since the start: a year.
const LATE_START_NS: u64 = 365 * 86_400 * NS_PER_S;

const NS_PER_S: u64 = 1_000_000_000;

/// The instant from which a trace's times count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    #[default]
    /// The start of the trace, by the definition of the format: times may be kept as they are ([`TraceStart::Zero`]).
    Trace,
    /// The start of a recording, or the boot of a machine.
    Recording,
    /// 1970-01-01, UTC.
    Unix,
    /// 1601-01-01, UTC (Windows file time).
    Windows,
    /// 2^63 ns before 1970-01-01, UTC: dates in tables, which may be before 1970.
    Table,
}

impl Clock {
    /// The zero of the clock in ns before 1970-01-01; `None` for a clock without a date.
    pub fn ns_before_1970(self) -> Option<u64> {
        match self {
            Clock::Trace | Clock::Recording => None,
            Clock::Unix => Some(0),
            Clock::Windows => Some(11_644_473_600 * NS_PER_S),
            Clock::Table => Some(1 << 63),
        }
    }
}

sledlab_core::choices! {
    /// The instant of a trace that becomes time 0.
    pub enum TraceStart {
        /// The first request, in every format.
        First = "first",
        /// The zero of the times in the file, in formats whose times count from the start of the trace (`csv`,
        /// `disksim-ascii`, `parquet`); the first request in all others.
        Zero = "zero",
    }
}

impl TraceStart {
    /// The start called `name`.
    pub fn from_name(name: &str) -> Result<Self> {
        params::find_choice("start of a trace", name)
    }
}

#[allow(clippy::derivable_impls, reason = "`choices!` derives the traits of all choices")]
impl Default for TraceStart {
    fn default() -> Self {
        TraceStart::First
    }
}

/// Turns the times of a trace into arrivals, one after another.
#[derive(Clone, Debug)]
pub(crate) struct TraceArrivals {
    clock: Clock,
    start: TraceStart,
    /// Whether a request may arrive before the one above it.
    requires_order: bool,
    /// The trace's time that becomes 0; 0 until the first request.
    base_ns: u64,
    /// Latest time so far.
    last_ns: u64,
    /// Latest arrival that is accepted.
    max_ns: u64,
    has_started: bool,
    /// The trace's time of the first request; another trace may have set `base_ns` before.
    first_ns: u64,
    continuation: Continuation,
}

impl TraceArrivals {
    pub(crate) fn new(clock: Clock, start: TraceStart, continuation: Continuation) -> Self {
        TraceArrivals {
            clock,
            start,
            requires_order: true,
            base_ns: 0,
            last_ns: 0,
            max_ns: MAX_ARRIVAL_NS,
            has_started: false,
            first_ns: 0,
            continuation,
        }
    }

    /// Accepts times in any order, for a caller that sorts the requests, and returns them as they are: the caller
    /// subtracts the first.
    pub(crate) fn unordered(clock: Clock, start: TraceStart, continuation: Continuation) -> Self {
        TraceArrivals {
            requires_order: false,
            max_ns: u64::MAX,
            ..TraceArrivals::new(clock, start, continuation)
        }
    }

    /// Tells the users of the trace about `count` requests or lines.
    #[cold]
    pub(crate) fn add_note(&self, note: Note, count: u64) {
        self.continuation.add_note(note, count);
    }

    /// Notes on the trace, as sentences.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.continuation.notes()
    }

    /// Whether the first request arrives at 0.
    pub(crate) fn from_first_request(clock: Clock, start: TraceStart) -> bool {
        clock != Clock::Trace || start == TraceStart::First
    }

    /// The arrival of a request at `trace_ns` of the trace, or `None` when it comes before that of the previous
    /// request, or after [`MAX_ARRIVAL_NS`].
    #[inline]
    pub(crate) fn accept(&mut self, trace_ns: u64) -> Option<Time> {
        if !self.has_started {
            self.begin(trace_ns);
        }
        if trace_ns < self.last_ns {
            if self.requires_order || self.restarts(trace_ns) {
                return None;
            }
        } else if trace_ns - self.base_ns > self.max_ns {
            return None;
        } else {
            self.last_ns = trace_ns;
        }
        Some(Time::from_ns(trace_ns - self.base_ns))
    }

    #[cold]
    fn begin(&mut self, trace_ns: u64) {
        self.has_started = true;
        self.first_ns = trace_ns;
        if self.requires_order && Self::from_first_request(self.clock, self.start) {
            self.base_ns = self.continuation.begin(trace_ns);
        }
        self.last_ns = if self.requires_order { self.base_ns } else { trace_ns };
        if self.clock == Clock::Trace && trace_ns > LATE_START_NS {
            self.continuation.add_note(Note::LateStart, 1);
        }
    }

    /// Whether the clock starts again at `trace_ns`, as where one recording follows another in a file: the time falls
    /// back to about that of the first request, by far more than requests are ever out of order.
    fn restarts(&self, trace_ns: u64) -> bool {
        let span_ns = self.last_ns.saturating_sub(self.first_ns);
        let tolerance_ns = if span_ns >= 10 * NS_PER_S { span_ns / 100 } else { span_ns / 1000 };
        span_ns >= NS_PER_S && trace_ns.abs_diff(self.first_ns) <= tolerance_ns
    }

    /// The error for a request at `trace_ns`, for which [`TraceArrivals::accept`] returned `None`.
    #[cold]
    pub(crate) fn refusal(&self, trace_ns: u64) -> Error {
        if trace_ns.saturating_sub(self.base_ns) > self.max_ns {
            return late_arrival_error();
        }
        if trace_ns < self.base_ns && self.base_ns != self.first_ns {
            return early_arrival_error(self.base_ns - trace_ns);
        }
        if self.restarts(trace_ns) {
            return restart_error(self.last_ns, trace_ns);
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

#[cold]
fn restart_error(last_ns: u64, trace_ns: u64) -> Error {
    let (last_s, trace_s) = (last_ns as f64 / 1e9, trace_ns as f64 / 1e9);
    Error::user(format!(
        "the times start again: after {last_s} s comes {trace_s} s, as in two recordings one after the other"
    ))
    .with_remedy(
        "split the file before this line; `sledlab trace merge A B --in-sequence` replays one recording after the \
         other, and without `--in-sequence` both at the same time",
    )
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
