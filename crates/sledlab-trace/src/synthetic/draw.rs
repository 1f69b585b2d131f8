//! The random draws of generators: gaps, sizes, places, operations.

use rand::{Rng, RngExt};
use rand_distr::{Bernoulli, Distribution, Exp1};
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Op, Result, Span, Time};

/// How the time between two arrivals is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Gap {
    /// Exponential: a Poisson process.
    Exponential {
        /// Mean, ms.
        mean_ms: f64,
    },
    /// Uniform from zero.
    Uniform {
        /// Largest, ms.
        longest_ms: f64,
    },
    /// Constant.
    Constant {
        /// Length, ms.
        ms: f64,
    },
}

/// Arrival instants with independent gaps between them.
///
/// Each gap is rounded to a nanosecond before it is added, so the clock is an exact integer.
#[derive(Clone, Debug)]
pub struct Arrivals {
    now: Time,
    gap: Gap,
    rng: Stream,
}

impl Arrivals {
    pub fn new(gap: Gap, rng: Stream) -> Self {
        Arrivals { now: Time::ZERO, gap, rng }
    }

    /// The next arrival.
    #[inline]
    pub fn next(&mut self) -> Time {
        let gap_ms = match self.gap {
            Gap::Exponential { mean_ms } => mean_ms * self.rng.sample::<f64, _>(Exp1),
            Gap::Uniform { longest_ms } => longest_ms * self.rng.random::<f64>(),
            Gap::Constant { ms } => ms,
        };
        self.now += Span::from_ms(gap_ms);
        self.now
    }
}

/// Exponential sizes, rounded up to a multiple of a unit.
#[derive(Clone, Debug)]
pub struct ExponentialSizes {
    /// Mean before rounding, in units.
    mean_units: f64,
    unit_blocks: u64,
    largest_blocks: u64,
    rng: Stream,
}

impl ExponentialSizes {
    /// Sizes of mean `mean_blocks` before they are rounded up to units; a size is at most the capacity.
    pub fn new(mean_blocks: f64, unit_blocks: u64, capacity_blocks: u64, rng: Stream) -> Self {
        let largest_blocks = capacity_blocks.min(u64::from(u32::MAX));
        ExponentialSizes { mean_units: mean_blocks / unit_blocks as f64, unit_blocks, largest_blocks, rng }
    }

    /// The next size in blocks, at least 1.
    #[inline]
    pub fn next(&mut self) -> u32 {
        let units = (self.mean_units * self.rng.sample::<f64, _>(Exp1)).ceil().max(1.0);
        (units as u64).saturating_mul(self.unit_blocks).min(self.largest_blocks) as u32
    }
}

/// Numbers drawn uniformly, each from one draw of the stream, so that a draw does not depend on the bounds of the draws
/// before.
#[derive(Clone, Debug)]
pub struct Places(Stream);

impl Places {
    pub fn new(rng: Stream) -> Self {
        Places(rng)
    }

    /// A number below `bound`, which is at least 1. The bias of taking the high half of a product is below `bound /
    /// 2^64`, too small to be seen.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A first block, a multiple of `align_blocks`, from which `blocks` blocks fit below `capacity_blocks`.
    #[inline]
    pub fn next(&mut self, blocks: u32, align_blocks: u64, capacity_blocks: u64) -> u64 {
        self.below((capacity_blocks - u64::from(blocks)) / align_blocks + 1) * align_blocks
    }
}

/// Reads and writes, each drawn independently.
#[derive(Clone, Debug)]
pub struct Ops {
    is_read: Bernoulli,
    rng: Stream,
}

impl Ops {
    /// Reads with probability `read_share`, else writes.
    pub fn new(read_share: f64, rng: Stream) -> Result<Self> {
        let is_read = Bernoulli::new(read_share)
            .map_err(|_| Error::user(format!("a read share of {read_share} is not between 0 and 1")))?;
        Ok(Ops { is_read, rng })
    }

    /// The next operation.
    #[inline]
    pub fn next(&mut self) -> Op {
        if self.is_read.sample(&mut self.rng) { Op::Read } else { Op::Write }
    }
}

/// `blocks`, but at most the capacity of the device.
pub fn clamp_blocks(blocks: u64, capacity_blocks: u64) -> u32 {
    blocks.min(capacity_blocks).min(u64::from(u32::MAX)) as u32
}
