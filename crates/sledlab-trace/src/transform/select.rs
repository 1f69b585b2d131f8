//! Transformation steps that drop requests.

use sledlab_core::{Op, Request, Result, Time};

use super::{Next, TransformStep};

/// The requests of a stream up to a number of reads and writes, or of operations of any kind.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    requests: u64,
    operations: u64,
}

impl Limit {
    /// Passes up to `requests` reads and writes, and up to `operations` operations, flushes and trims included.
    pub fn new(requests: u64, operations: u64) -> Self {
        Limit { requests, operations }
    }
}

impl TransformStep for Limit {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        if self.requests == 0 || self.operations == 0 {
            return Ok(Next::Stop);
        }
        self.requests -= u64::from(request.op.is_media());
        self.operations -= 1;
        Ok(Next::Pass(request))
    }
}

/// Requests that arrive at `from` or later and before `until`.
#[derive(Clone, Copy, Debug)]
pub struct TimeWindow {
    /// First instant of the window.
    pub from: Time,
    /// First instant after the window.
    pub until: Time,
    /// Whether arrivals then count from the start of the window.
    pub from_zero: bool,
}

impl TransformStep for TimeWindow {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        if request.arrival >= self.until {
            return Ok(Next::Stop);
        }
        if request.arrival < self.from {
            return Ok(Next::Drop);
        }
        if self.from_zero {
            request.arrival = Time::from_ns(request.arrival.since(self.from).as_ns());
        }
        Ok(Next::Pass(request))
    }
}

/// Requests that begin in the blocks from `first` up to, not including, `end`. Flushes pass.
#[derive(Clone, Copy, Debug)]
pub struct BlockRange {
    /// First block of the range.
    pub first: u64,
    /// First block after the range.
    pub end: u64,
}

impl TransformStep for BlockRange {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        let is_inside = request.blocks == 0 || (self.first..self.end).contains(&request.lbn);
        Ok(if is_inside { Next::Pass(request) } else { Next::Drop })
    }
}

/// Operations of some kinds.
#[derive(Clone, Debug)]
pub struct OpFilter {
    ops: Vec<Op>,
}

impl OpFilter {
    /// Lets operations of these kinds pass.
    pub fn new(ops: impl Into<Vec<Op>>) -> Self {
        OpFilter { ops: ops.into() }
    }
}

impl TransformStep for OpFilter {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        Ok(if self.ops.contains(&request.op) { Next::Pass(request) } else { Next::Drop })
    }
}
