//! Transformation steps that move requests to other blocks.

use sledlab_core::{Error, Request, Result};

use super::{Next, TransformStep};
use crate::range::MAX_BLOCKS;

/// Moves every request by a number of blocks, up or down.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// Blocks to add; negative to move towards block 0.
    pub blocks: i64,
}

impl TransformStep for Shift {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        if request.blocks > 0 {
            let moved_lbn = request.lbn.checked_add_signed(self.blocks);
            let is_in_range = |lbn: &u64| *lbn <= MAX_BLOCKS - u64::from(request.blocks);
            request.lbn = moved_lbn.filter(is_in_range).ok_or_else(|| self.range_error(&request))?;
        }
        Ok(Next::Pass(request))
    }
}

impl Shift {
    #[cold]
    fn range_error(self, request: &Request) -> Error {
        Error::user(format!("a request at block {} cannot be moved by {} blocks", request.lbn, self.blocks))
            .with_remedy("choose a shift that keeps every request between block 0 and byte 2^63")
    }
}

/// Multiplies the address of every request by a factor, rounded down to a block; lengths stay.
#[derive(Clone, Copy, Debug)]
pub struct ScaleAddresses {
    factor: f64,
}

impl ScaleAddresses {
    /// # Errors
    /// The factor is not a positive, finite number.
    pub fn new(factor: f64) -> Result<Self> {
        if factor.is_finite() && factor > 0.0 {
            return Ok(ScaleAddresses { factor });
        }
        Err(Error::user(format!("invalid factor {factor} for addresses"))
            .with_remedy("choose a number above 0: 0.5 halves all addresses"))
    }
}

impl TransformStep for ScaleAddresses {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        if request.blocks > 0 {
            let scaled_lbn = (request.lbn as f64 * self.factor).floor();
            if scaled_lbn > (MAX_BLOCKS - u64::from(request.blocks)) as f64 {
                return Err(Error::user(format!(
                    "a request at block {} lies beyond byte 2^63 when scaled by {}",
                    request.lbn, self.factor
                ))
                .with_remedy("choose a smaller factor"));
            }
            request.lbn = scaled_lbn as u64;
        }
        Ok(Next::Pass(request))
    }
}

/// Lays the devices of a trace over each other: all become device 0, addresses stay.
#[derive(Clone, Copy, Debug)]
pub struct Overlay;

impl TransformStep for Overlay {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        Ok(Next::Pass(Request { device: 0, ..request }))
    }
}

/// Places the devices of a trace one after another on one device, which becomes device 0.
#[derive(Clone, Debug)]
pub struct PlaceDevices {
    starts: Vec<u64>,
}

impl PlaceDevices {
    /// Gives each device the blocks up to the end of its highest request, as a
    /// [`survey`](super::survey) of the trace finds them.
    pub fn new(extents: &[u64]) -> Result<Self> {
        let mut next = 0_u64;
        let mut starts = Vec::with_capacity(extents.len());
        for extent in extents {
            starts.push(next);
            next = next.checked_add(*extent).filter(|next| *next <= MAX_BLOCKS).ok_or_else(|| {
                Error::user("the devices of the trace are too large to be placed one after another")
                    .with_remedy("choose some of them, or scale their addresses first")
            })?;
        }
        Ok(PlaceDevices { starts })
    }

    /// The first block of each device.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }
}

impl TransformStep for PlaceDevices {
    #[inline]
    fn take(&mut self, mut request: Request) -> Result<Next> {
        let Some(start) = self.starts.get(usize::from(request.device)) else {
            return Err(Error::user(format!(
                "device {} was not in the trace during the first pass",
                request.device
            ))
            .with_remedy("do not change the trace while it is read"));
        };
        request.device = 0;
        if request.blocks > 0 {
            request.lbn += start;
        }
        Ok(Next::Pass(request))
    }
}
