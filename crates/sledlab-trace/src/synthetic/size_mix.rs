//! Sizes drawn from a short list.

use rand::RngExt;
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Error, Result};

/// A size in KB and its weight.
pub type WeightedSize = (f64, f64);

/// Mean size in KB of a list of sizes.
pub fn mean_kb(sizes: &[WeightedSize]) -> f64 {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    sizes.iter().map(|(kb, weight)| kb * weight).sum::<f64>() / total
}

/// The share of `of`, itself a share of all requests, that must have the mean `above_kb` rather than `below_kb` so that
/// all requests together have the mean `target_kb`; the other requests contribute `rest_kb` to it.
///
/// An error that names the possible means, in KB, where no such share exists.
pub fn split(target_kb: f64, rest_kb: f64, part_share: f64, below_kb: f64, above_kb: f64) -> Result<f64> {
    let share = (target_kb - rest_kb - part_share * below_kb) / (part_share * (above_kb - below_kb));
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    let limits = [below_kb, above_kb].map(|kb| rest_kb + part_share * kb);
    Err(Error::user(format!("no mix of the sizes has a mean of {target_kb} KB"))
        .with_remedy(format!("with these shares, take {:.2} to {:.2} KB", limits[0], limits[1])))
}

/// Draws sizes; each takes one number of the stream, whatever the list.
#[derive(Clone, Debug)]
pub struct SizeMix {
    /// Sizes in blocks, and for each the share of sizes that are no larger.
    steps: Vec<(u32, f64)>,
}

impl SizeMix {
    /// `sizes` from the smallest to the largest; a size is at most `max_blocks`.
    pub fn new(sizes: &[WeightedSize], max_blocks: u64) -> Self {
        let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        let mut cumulated = 0.0;
        let steps = sizes.iter().map(|(kb, weight)| {
            cumulated += weight / total;
            let blocks = (kb * 1024.0 / BLOCK_BYTES as f64).round() as u64;
            (blocks.min(max_blocks) as u32, cumulated)
        });
        SizeMix { steps: steps.collect() }
    }

    /// Draws a size in blocks.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u32 {
        let share: f64 = rng.random();
        let (last, others) = self.steps.split_last().expect("a mix has sizes");
        others.iter().find(|(_, cumulated)| share < *cumulated).unwrap_or(last).0
    }
}
