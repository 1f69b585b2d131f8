//! Transformations of a stream of requests: each is a [`Source`] over another.
//!
//! Most are a [`TransformStep`], which handles one request at a time, applied to a source by [`TransformedSource`]:
//!
//! ```
//! use sledlab_core::{Op, Request, Source, Time, source::MemorySource};
//! use sledlab_trace::transform::{Limit, Speedup, TransformedSource};
//! let request = |ns| Request { arrival: Time::from_ns(ns), lbn: 0, blocks: 8, op: Op::Read, ..Request::default() };
//! let trace = MemorySource::new(vec![request(0), request(100), request(200)]);
//! let mut source = TransformedSource::new(TransformedSource::new(trace, Speedup::new(2.0)?), Limit::new(2, u64::MAX));
//! let mut requests = Vec::new();
//! while source.fill(&mut requests)? > 0 {}
//! assert_eq!(requests, [request(0), request(50)]);
//! # Ok::<(), sledlab_core::Error>(())
//! ```

mod address;
mod device;
mod fit;
mod last_block;
mod merge;
mod metadata_blocks;
mod rate;
mod reorder;
mod select;
mod sequence;
mod single_device;
mod spread;
mod survey;

use sledlab_core::{Request, Result, Source};

pub use address::{Overlay, PlaceDevices, ScaleAddresses, Shift};
pub use device::{NumberByName, SelectedDevices};
pub use fit::{Fit, FitCounts, OutsidePolicy};
pub use last_block::RandomLastBlock;
pub use merge::Merge;
pub use metadata_blocks::MetadataBlocks;
pub use rate::Speedup;
pub use reorder::Reorder;
pub use select::{BlockRange, Limit, OpFilter, TimeWindow};
pub use sequence::{NextTrace, Sequence};
pub use single_device::SingleDevice;
pub use spread::Spread;
pub use survey::{Survey, survey, survey_with_progress};

use crate::stream_end::StreamEnd;

/// The result of a step for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The request passes, changed or not.
    Pass(Request),
    /// The request is dropped.
    Drop,
    /// The request and all later requests are dropped: the stream ends.
    Stop,
}

/// Transforms one request after another. Arrivals must stay in order.
pub trait TransformStep: Send {
    /// Processes the next request and returns whether it passes, is dropped, or ends the stream.
    fn take(&mut self, request: Request) -> Result<Next>;
}

/// The requests of a source after a step.
pub struct TransformedSource<S, T> {
    source: S,
    step: T,
    has_stopped: bool,
    stream_end: StreamEnd,
}

impl<S: Source, T: TransformStep> TransformedSource<S, T> {
    /// Puts `step` over `source`.
    pub fn new(source: S, step: T) -> Self {
        TransformedSource { source, step, has_stopped: false, stream_end: StreamEnd::default() }
    }

    /// Passes the requests from index `from` on through the step, in place.
    fn apply_step(&mut self, requests: &mut Vec<Request>, from: usize) -> Result<()> {
        let mut kept_len = from;
        let mut outcome = Ok(());
        for i in from..requests.len() {
            match self.step.take(requests[i]) {
                Ok(Next::Pass(request)) => {
                    requests[kept_len] = request;
                    kept_len += 1;
                }
                Ok(Next::Drop) => {}
                Ok(Next::Stop) => {
                    self.has_stopped = true;
                    break;
                }
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        requests.truncate(kept_len);
        outcome
    }
}

impl<S: Source, T: TransformStep> Source for TransformedSource<S, T> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        self.stream_end.check()?;
        let old_len = requests.len();
        let mut outcome = Ok(());
        // A chunk whose requests are all dropped is not the end of the stream.
        while outcome.is_ok() && requests.len() == old_len && !self.has_stopped {
            outcome = match self.source.fill(requests) {
                Ok(0) => break,
                Ok(_) => self.apply_step(requests, old_len),
                Err(error) => Err(error),
            };
        }
        self.stream_end.close(requests.len() - old_len, outcome)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
