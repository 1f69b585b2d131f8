//! Distances at which blocks are used again.
//!
//! The reuse distance of an access is the size of the different blocks that were accessed since the last access to the
//! same block, that block included: the smallest cache with least-recently-used replacement in which the access hits.

use serde::Serialize;

use super::ratio;

/// Reuse distances of the accesses to 4 KiB blocks, by the kind of the request that makes the access. The distance
/// counts the blocks of both kinds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReuseDistances {
    /// Distances of blocks that are read.
    pub read: DistanceShares,
    /// Distances of blocks that are written.
    pub write: DistanceShares,
}

/// Shares of accesses by reuse distance; `None` without accesses. All shares together are 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistanceShares {
    /// Accesses to blocks.
    pub accesses: u64,
    /// Shares by distance, in bins that double up to the largest cache of the characterization.
    pub bins: Vec<DistanceBin>,
    /// Share of accesses to blocks that were accessed before, at a distance above all bins. `None` for units other than
    /// 4 KiB.
    pub farther_share: Option<f64>,
    /// Share of accesses to blocks that were not accessed before. `None` for units other than 4 KiB.
    pub first_share: Option<f64>,
}

/// Accesses at reuse distances above those of the bin before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DistanceBin {
    /// Largest distance of the bin.
    pub max_kb: f64,
    /// Share of accesses.
    pub share: Option<f64>,
}

impl DistanceShares {
    /// Shares of `accesses`, of which `hits` pairs a largest distance in KB with a count; `firsts` counts blocks not
    /// accessed before, if known.
    pub(super) fn new(accesses: u64, hits: &[(f64, u64)], firsts: Option<u64>) -> Self {
        let bins = hits
            .iter()
            .map(|(max_kb, count)| DistanceBin { max_kb: *max_kb, share: ratio(*count, accesses) });
        let near: u64 = hits.iter().map(|(_, count)| count).sum();
        DistanceShares {
            accesses,
            bins: bins.collect(),
            farther_share: firsts.and_then(|firsts| ratio(accesses.saturating_sub(near + firsts), accesses)),
            first_share: firsts.and_then(|firsts| ratio(firsts, accesses)),
        }
    }
}
