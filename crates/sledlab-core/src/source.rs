//! The interface of request sources: trace files, generators and Python iterators.

use crate::error::Result;
use crate::request::Request;

/// A stream of requests in arrival order, read in chunks, so that the cost of a call is spread over thousands of
/// requests and memory use is constant.
///
/// No method has a default implementation: many sources wrap another source, and a wrapper that did not forward a call
/// would hide the result of the inner source.
pub trait Source: Send {
    /// Appends the next requests to `requests`, a few thousand at most, and returns their number; 0 at the end.
    ///
    /// Arrival times never decrease: a request that is earlier than its predecessor is an error with its location.
    /// After an error or the end, further calls return 0 or the error again.
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize>;

    /// Returns the share of the stream that has been read, 0 to 1, if known.
    fn progress(&self) -> Option<f64>;
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        (**self).fill(requests)
    }

    fn progress(&self) -> Option<f64> {
        (**self).progress()
    }
}

impl<S: Source + ?Sized> Source for &mut S {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        (**self).fill(requests)
    }

    fn progress(&self) -> Option<f64> {
        (**self).progress()
    }
}

/// Requests in memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySource {
    requests: std::sync::Arc<[Request]>,
    next: usize,
}

impl MemorySource {
    /// Maximum number of requests per call of [`Source::fill`].
    const CHUNK: usize = 4096;

    /// Returns a source of `requests`, which must be in arrival order. Clones share the memory.
    pub fn new(requests: impl Into<std::sync::Arc<[Request]>>) -> Self {
        MemorySource { requests: requests.into(), next: 0 }
    }
}

impl Source for MemorySource {
    fn fill(&mut self, requests: &mut Vec<Request>) -> Result<usize> {
        let chunk = &self.requests[self.next..self.requests.len().min(self.next + Self::CHUNK)];
        requests.extend_from_slice(chunk);
        self.next += chunk.len();
        Ok(chunk.len())
    }

    fn progress(&self) -> Option<f64> {
        Some(self.next as f64 / self.requests.len().max(1) as f64)
    }
}
