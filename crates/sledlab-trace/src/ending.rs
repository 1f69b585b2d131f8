//! How a stream of requests ends.

use sledlab_core::{Error, Result};

/// A stream ends with the same error every time it is asked on, and a trace never without a request.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    any: bool,
    failed: Option<Error>,
}

impl Ending {
    /// Whether no request has been given out in an earlier chunk.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.any
    }

    /// The error the stream ended with.
    pub(crate) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Closes a chunk of `count` requests. Those read before an error are given out first.
    pub(crate) fn close(&mut self, count: usize, outcome: Result<()>) -> Result<usize> {
        self.failed = outcome.err();
        if count > 0 {
            self.any = true;
            return Ok(count);
        }
        self.check().map(|()| 0)
    }

    /// As [`Ending::close`], where ending without a single request is the error `none` tells.
    pub(crate) fn close_trace(
        &mut self,
        count: usize,
        outcome: Result<()>,
        none: impl FnOnce() -> Error,
    ) -> Result<usize> {
        let ended_empty = count == 0 && outcome.is_ok() && self.is_fresh();
        self.close(count, if ended_empty { Err(none()) } else { outcome })
    }
}
