//! DiskSim's disk validation traces (the Seagate ST41601N trace is one).
//!
//! `R|W cache_action lbn blocks service_us gap_us`: the first request arrives at time 0, the next a gap after it.
//! DiskSim itself issues the next request a gap after this one *completes*. Adding the traced service times to the gaps
//! (`add_service_times`) comes closest to that in an open replay; [`read_measured_requests`] returns the measured times
//! themselves, for a replay that issues requests as DiskSim does. The cache action is ignored.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sledlab_core::{Op, Request, Result, Source, Span, Time};

use super::{Clock, Format, Head, TraceInput, is_numeric};
use crate::arrivals::{TraceArrivals, TraceStart};

use crate::continuation::Continuation;
use crate::fields::{Fault, Fields, Line, ParseResult, blocks};
use crate::input::Input;
use crate::lines::{LineParser, LineSource};

/// See the module documentation.
pub struct DisksimValidate;

impl Format for DisksimValidate {
    fn name(&self) -> &'static str {
        "disksim-validate"
    }

    fn description(&self) -> &'static str {
        "DiskSim disk validation: R|W cache_action lbn blocks service_us gap_to_next_us"
    }

    fn clock(&self) -> Clock {
        Clock::Recording
    }

    fn matches_head(&self, head: &Head) -> bool {
        let fields = head.first_fields(b' ');
        fields.len() == 6
            && matches!(fields[0], b"R" | b"W")
            && fields[2..].iter().all(|field| is_numeric(field))
    }

    fn read(&self, trace: TraceInput) -> Result<Box<dyn Source>> {
        Ok(Box::new(LineSource::new(
            trace.input,
            Parser { add_service_times: trace.add_service_times, next_ns: 0, times: None },
            trace.arrivals,
        )))
    }
}

/// A request whose service was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredRequest {
    /// The request; its arrival is that in an open replay.
    pub request: Request,
    /// Time from the issue of the request to its completion.
    pub service: Span,
    /// Time from its completion to the issue of the next request.
    pub gap: Span,
}

/// Reads all requests of a trace with their measured times.
///
/// # Errors
/// The errors of [`open`](crate::open) and of reading a trace in this format.
pub fn read_measured_requests(path: impl AsRef<Path>) -> Result<Vec<MeasuredRequest>> {
    let times = Arc::new(Mutex::new(Vec::new()));
    let parser = Parser { add_service_times: true, next_ns: 0, times: Some(times.clone()) };
    let mut source = LineSource::new(
        Input::open(path.as_ref())?,
        parser,
        TraceArrivals::new(Clock::Recording, TraceStart::First, Continuation::default()),
    );
    let mut requests = Vec::new();
    while source.fill(&mut requests)? > 0 {}
    let times = std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner));
    let to_measured = |(request, (service, gap))| MeasuredRequest { request, service, gap };
    Ok(requests.into_iter().zip(times).map(to_measured).collect())
}

/// Service times and gaps, in the order of the trace.
type Times = Arc<Mutex<Vec<(Span, Span)>>>;

struct Parser {
    add_service_times: bool,
    next_ns: u64,
    /// Output for service times and gaps, if the caller needs them.
    times: Option<Times>,
}

impl LineParser for Parser {
    const SHAPE: &'static str = "R|W cache_action lbn blocks service_us gap_us";

    fn parse(&mut self, line: Line) -> ParseResult<Option<Request>> {
        let mut fields = Fields::new(line);
        fields.skip_blanks();
        let op = match fields.letter() {
            b'R' => Op::Read,
            b'W' => Op::Write,
            _ => return Err(Fault::new(0, "expected R or W")),
        };
        fields.blanks()?;
        fields.token();
        fields.blanks()?;
        let at = fields.column();
        let lbn = fields.integer("the block number")?;
        fields.blanks()?;
        let count = fields.integer("the number of blocks")?;
        fields.blanks()?;
        let service_ns = fields.decimal("the service time in us", 3)?;
        fields.blanks()?;
        let gap_at = fields.column();
        let gap_ns = fields.decimal("the gap in us", 3)?;
        fields.end()?;
        let (lbn, blocks) = blocks(at, lbn, count)?;
        if let Some(times) = &self.times {
            let pair = (Span::from_ns(service_ns), Span::from_ns(gap_ns));
            times.lock().unwrap_or_else(PoisonError::into_inner).push(pair);
        }
        let arrival = Time::from_ns(self.next_ns);
        let service_ns = if self.add_service_times { service_ns } else { 0 };
        let next_ns = self.next_ns.checked_add(gap_ns).and_then(|ns| ns.checked_add(service_ns));
        self.next_ns = next_ns.ok_or_else(|| Fault::new(gap_at, "time does not fit 64 bits"))?;
        Ok(Some(Request { arrival, lbn, blocks, op, ..Request::default() }))
    }
}
