//! The policies for requests that do not fit the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use sledlab_core::{Error, Op, Request, Result, params};

use super::{Next, TransformStep};

sledlab_core::choices! {
    /// The handling of requests past the end of the device.
    pub enum OutsidePolicy {
        /// The run ends with an error that contains the request.
        Reject = "reject",
        /// The first block is taken modulo the capacity; a request that then crosses the end of the device is moved
        /// down until it fits.
        Wrap = "wrap",
        /// The blocks outside are cut off; a request entirely outside is omitted.
        Clip = "clip",
        /// All addresses of the trace shrink linearly so that its highest block becomes the last
        /// of the device; lengths stay, so requests that followed each other then overlap.
        /// Addresses of a trace that fits stay as they are.
        Scale = "scale",
    }
}

impl OutsidePolicy {
    /// The policy called `name`.
    pub fn from_name(name: &str) -> Result<Self> {
        params::find_choice("choice for requests outside", name)
    }
}

/// How many requests were moved, shortened and dropped so far.
#[derive(Debug, Default)]
pub struct FitCounts {
    moved: AtomicU64,
    shortened: AtomicU64,
    dropped: AtomicU64,
}

impl FitCounts {
    /// Requests moved to other blocks.
    pub fn moved_count(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// Requests cut short.
    pub fn shortened_count(&self) -> u64 {
        self.shortened.load(Relaxed)
    }

    /// Dropped requests.
    pub fn dropped_count(&self) -> u64 {
        self.dropped.load(Relaxed)
    }
}

/// Fits requests to a capacity. A request that lies inside costs one comparison.
#[derive(Debug)]
pub struct Fit {
    policy: OutsidePolicy,
    capacity: u64,
    /// Requests that end at or before this block are not changed.
    untouched_end: u64,
    /// First block after the highest request of the trace; for scaling.
    highest_end: u64,
    number: u64,
    counts: Arc<FitCounts>,
}

impl Fit {
    /// Fits requests to `capacity` blocks. [`OutsidePolicy::Scale`] needs `highest_end`, the first
    /// block after the highest request, which a [`survey`](super::survey) finds.
    ///
    /// # Errors
    /// The capacity is 0, or `highest_end` is missing for scaling.
    pub fn new(policy: OutsidePolicy, capacity: u64, highest_end: Option<u64>) -> Result<Self> {
        if capacity == 0 {
            return Err(
                Error::user("the device has no blocks").with_remedy("choose a device with a capacity")
            );
        }
        let is_scaling = policy == OutsidePolicy::Scale;
        let highest_end = match highest_end {
            None if is_scaling => {
                return Err(Error::user("scaling needs the highest address of the trace beforehand")
                    .with_remedy("read the trace from a file rather than from standard input"));
            }
            end => end.unwrap_or(0),
        };
        let untouched_end = if is_scaling && highest_end > capacity { 0 } else { capacity };
        Ok(Fit { policy, capacity, untouched_end, highest_end, number: 0, counts: Arc::default() })
    }

    /// Returns a handle on the counts, which continue to increase while requests are read.
    pub fn counts(&self) -> Arc<FitCounts> {
        Arc::clone(&self.counts)
    }

    #[cold]
    #[inline(never)]
    fn treat(&mut self, mut request: Request) -> Result<Next> {
        let blocks = u64::from(request.blocks);
        if self.policy == OutsidePolicy::Reject {
            return Err(self.outside_error(&request));
        }
        if self.policy == OutsidePolicy::Clip {
            return Ok(self.clip(request));
        }
        if blocks > self.capacity {
            if request.op != Op::Trim {
                return Err(self.too_long_error(&request));
            }
            // Of requests longer than the device only trims are accepted: they trim all of it.
            self.counts.shortened.fetch_add(1, Relaxed);
            (request.lbn, request.blocks) = (0, self.capacity as u32);
            return Ok(Next::Pass(request));
        }
        let lbn = match self.policy {
            OutsidePolicy::Scale => {
                let scaled_lbn =
                    u128::from(request.lbn) * u128::from(self.capacity) / u128::from(self.highest_end.max(1));
                u64::try_from(scaled_lbn).unwrap_or(u64::MAX)
            }
            _ => request.lbn % self.capacity,
        };
        let lbn = lbn.min(self.capacity - blocks);
        self.counts.moved.fetch_add(u64::from(lbn != request.lbn), Relaxed);
        request.lbn = lbn;
        Ok(Next::Pass(request))
    }

    fn clip(&self, mut request: Request) -> Next {
        let inside_blocks = self.capacity.saturating_sub(request.lbn);
        if inside_blocks == 0 {
            self.counts.dropped.fetch_add(1, Relaxed);
            return Next::Drop;
        }
        // The part inside is shorter than the request, so it fits 32 bits.
        request.blocks = inside_blocks.min(u64::from(request.blocks)) as u32;
        if !request.is_partial_throughout {
            // The partly requested last block was cut off: all of the new last block is requested.
            request.unrequested_words = 0;
        }
        self.counts.shortened.fetch_add(1, Relaxed);
        Next::Pass(request)
    }

    fn outside_error(&self, request: &Request) -> Error {
        let (first, last) = (request.lbn, request.end() - 1);
        let (number, capacity) = (self.number, self.capacity);
        Error::user(format!(
            "request {number}, blocks {first} to {last}, lies outside the device of {capacity} blocks"
        ))
        .with_remedy("choose `--outside wrap`, `clip` or `scale`, or use a larger device")
    }

    fn too_long_error(&self, request: &Request) -> Error {
        let (number, blocks, capacity) = (self.number, request.blocks, self.capacity);
        Error::user(format!(
            "request {number} of {blocks} blocks is longer than the device of {capacity} blocks"
        ))
        .with_remedy("cut it with `--outside clip`, or use a larger device")
    }
}

impl TransformStep for Fit {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        let next = if request.end() <= self.untouched_end || request.blocks == 0 {
            Ok(Next::Pass(request))
        } else {
            self.treat(request)
        };
        self.number += 1;
        next
    }
}
