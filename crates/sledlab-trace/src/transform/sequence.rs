//! Several traces one after another.

use sledlab_core::{Error, Request, Result, Source, Time};

use crate::arrivals::MAX_ARRIVAL_NS;
use crate::stream_end::StreamEnd;

/// Opens the next trace of a sequence; `None` after the last.
pub type NextTrace = Box<dyn FnMut() -> Result<Option<Box<dyn Source>>> + Send>;

/// The requests of traces one after another: each begins one mean time between arrivals after the last request of the
/// trace before it.
pub struct Sequence {
    next_trace: NextTrace,
    current: Option<Box<dyn Source>>,
    /// Time added to the arrivals of the present trace, in ns.
    offset_ns: u64,
    /// First and last arrival, and number of operations, of the present trace.
    first_arrival: Option<Time>,
    last_arrival: Time,
    operations: u64,
    stream_end: StreamEnd,
}

impl Sequence {
    /// Joins the traces that `next_trace` opens.
    pub fn new(next_trace: NextTrace) -> Self {
        Sequence {
            next_trace,
            current: None,
            offset_ns: 0,
            first_arrival: None,
            last_arrival: Time::ZERO,
            operations: 0,
            stream_end: StreamEnd::default(),
        }
    }

    fn read_chunk(&mut self, requests: &mut Vec<Request>) -> Result<()> {
        let old_len = requests.len();
        loop {
            let Some(current) = &mut self.current else {
                self.current = (self.next_trace)()?;
                if self.current.is_none() {
                    return Ok(());
                }
                continue;
            };
            if current.fill(requests)? > 0 {
                return self.shift(&mut requests[old_len..]);
            }
            self.end_trace();
        }
    }

    fn shift(&mut self, requests: &mut [Request]) -> Result<()> {
        for request in requests {
            self.first_arrival.get_or_insert(request.arrival);
            self.last_arrival = request.arrival;
            self.operations += 1;
            let shifted_ns = request.arrival.as_ns().saturating_add(self.offset_ns);
            if shifted_ns > MAX_ARRIVAL_NS {
                return Err(Error::user("the traces last more than 285 years together")
                    .with_remedy("join fewer of them, or repeat them less often"));
            }
            request.arrival = Time::from_ns(shifted_ns);
        }
        Ok(())
    }

    fn end_trace(&mut self) {
        let first_arrival = self.first_arrival.take().unwrap_or(Time::ZERO);
        let span_ns = self.last_arrival.as_ns() - first_arrival.as_ns();
        let mean_gap_ns = span_ns / self.operations.saturating_sub(1).max(1);
        self.offset_ns = self.offset_ns.saturating_add(self.last_arrival.as_ns()).saturating_add(mean_gap_ns);
        (self.current, self.last_arrival, self.operations) = (None, Time::ZERO, 0);
    }
}

impl Source for Sequence {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let outcome = self.read_chunk(requests);
        if outcome.is_err() {
            requests.truncate(old_len);
        }
        self.stream_end.close(requests.len() - old_len, outcome)
    }

    fn progress(&self) -> Option<f64> {
        None
    }
}
