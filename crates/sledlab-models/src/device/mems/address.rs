//! How addresses map to sleds.

use sledlab_core::{Error, Result};

use super::params::{MemsParams, SledMap};

/// Splits an address into a sled and a block of that sled.
#[derive(Clone, Debug)]
pub struct AddressMap {
    sleds: u64,
    blocks_per_sled: u64,
    /// Blocks in a stripe; `None` for contiguous ranges.
    stripe: Option<u64>,
}

impl AddressMap {
    /// A map over `sleds` sleds of `blocks` blocks. The last blocks of a sled are unused if they do not fill a stripe.
    pub fn new(params: &MemsParams, sleds: u64, blocks: u64) -> Result<Self> {
        let stripe = (params.sled_map == SledMap::RoundRobin && sleds > 1).then_some(params.stripe_blocks);
        let blocks_per_sled = stripe.map_or(blocks, |stripe| blocks / stripe * stripe);
        if blocks_per_sled == 0 {
            return Err(Error::user(format!("a sled of {blocks} blocks holds no stripe"))
                .with_remedy("make device.stripe_blocks smaller"));
        }
        Ok(AddressMap { sleds, blocks_per_sled, stripe })
    }

    /// Number of sleds.
    pub fn sleds(&self) -> u64 {
        self.sleds
    }

    /// Number of blocks on all sleds together.
    pub fn capacity_blocks(&self) -> u64 {
        self.sleds.saturating_mul(self.blocks_per_sled)
    }

    /// The sled that holds block `lbn`.
    pub fn sled(&self, lbn: u64) -> u64 {
        match self.stripe {
            None => lbn / self.blocks_per_sled,
            Some(stripe) => lbn / stripe % self.sleds,
        }
    }

    /// Number of block `lbn` on the sled that holds it.
    #[inline]
    pub fn local(&self, lbn: u64) -> u64 {
        if self.sleds == 1 {
            return lbn;
        }
        match self.stripe {
            None => lbn % self.blocks_per_sled,
            Some(stripe) => lbn / stripe / self.sleds * stripe + lbn % stripe,
        }
    }

    /// Splits `blocks` blocks from `lbn` into runs that are contiguous on a sled: `(sled, local lbn, blocks)`.
    /// Neighboring stripes of one sled are joined.
    pub fn split(&self, lbn: u64, blocks: u32) -> Vec<(u64, u64, u32)> {
        let mut runs: Vec<(u64, u64, u32)> = Vec::new();
        let (mut lbn_reached, end) = (lbn, lbn + u64::from(blocks));
        while lbn_reached < end {
            let piece = self.stripe.unwrap_or(self.blocks_per_sled);
            let run = (piece - lbn_reached % piece).min(end - lbn_reached) as u32;
            let (sled, local_block) = (self.sled(lbn_reached), self.local(lbn_reached));
            match runs.iter_mut().find(|(s, first, n)| *s == sled && first + u64::from(*n) == local_block) {
                Some((_, _, n)) => *n += run,
                None => runs.push((sled, local_block, run)),
            }
            lbn_reached += u64::from(run);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn addresses_are_unique_and_splits_cover_them(
            sleds in 1_u64..6, blocks in 1_u64..60, stripe in 1_u64..9, is_round_robin: bool,
            at in 0.0..1.0, len in 1_u32..50,
        ) {
            let sled_map = if is_round_robin { SledMap::RoundRobin } else { SledMap::Contiguous };
            let params = MemsParams { sled_map, stripe_blocks: stripe, ..MemsParams::default() };
            let Ok(map) = AddressMap::new(&params, sleds, blocks) else {
                prop_assert!(is_round_robin && stripe > blocks);
                return Ok(());
            };
            let capacity = map.capacity_blocks();
            let mut places: Vec<_> = (0..capacity).map(|lbn| (map.sled(lbn), map.local(lbn))).collect();
            prop_assert!(places.iter().all(|(sled, local)| *sled < sleds && *local < blocks));

            let lbn = (at * capacity as f64) as u64;
            let len = len.min((capacity - lbn) as u32);
            let mut covered: Vec<_> = map.split(lbn, len).into_iter()
                .flat_map(|(sled, local, n)| (0..u64::from(n)).map(move |i| (sled, local + i))).collect();
            covered.sort_unstable();
            let mut expected = places[lbn as usize..][..len as usize].to_vec();
            expected.sort_unstable();
            prop_assert_eq!(covered, expected);

            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len() as u64, capacity);
        }
    }
}
