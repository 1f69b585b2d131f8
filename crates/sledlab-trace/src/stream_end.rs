//! The end of a stream of requests.

use sledlab_core::{Error, Result};

/// The end of a stream: the same error on every further call, and for a trace an error where there was no request at
/// all.
#[derive(Debug, Default)]
pub(crate) struct StreamEnd {
    has_requests: bool,
    error: Option<Error>,
}

impl StreamEnd {
    /// Whether no earlier chunk has returned a request.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_requests
    }

    /// The error with which the stream ended, if it did.
    pub(crate) fn check(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Closes a chunk of `count` requests. Requests read before an error are returned first, the error with the next
    /// call.
    pub(crate) fn close(&mut self, count: usize, outcome: Result<()>) -> Result<usize> {
        self.error = outcome.err();
        if count > 0 {
            self.has_requests = true;
            return Ok(count);
        }
        self.check().map(|()| 0)
    }

    /// Closes like [`StreamEnd::close`], but a stream that ends without a request returns the error of `none`.
    pub(crate) fn close_trace(
        &mut self,
        count: usize,
        outcome: Result<()>,
        no_requests_error: impl FnOnce() -> Error,
    ) -> Result<usize> {
        let is_empty_trace = count == 0 && outcome.is_ok() && self.is_empty();
        self.close(count, if is_empty_trace { Err(no_requests_error()) } else { outcome })
    }
}
