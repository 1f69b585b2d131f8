//! Grouped shortest positioning time first (Seltzer et al. 1990).

use sledlab_core::Result;

use super::queue::position_queue::PositionQueue;
use super::queue::zoned_queue::{Circular, ZonedQueue};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aim, Mechanics, QueuedRequest};

sledlab_core::params! {
    /// How the logical blocks are grouped.
    pub struct GsptfParams {
        /// Regions of consecutive blocks, all of the same size.
        regions: u64 = 80_u64, "", 1..4096;
    }
}

/// SPTF inside a region of consecutive blocks; the regions in ascending order.
pub(super) struct Gsptf;

impl Model for Gsptf {
    type Params = GsptfParams;
    const NAME: &'static str = "gsptf";
    const MEANING: &'static str =
        "grouped SPTF: regions of blocks in ascending order, SPTF inside until a region is empty";
    // A stream of requests into one region keeps the requests of all others waiting.
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &GsptfParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let (regions, capacity) = (params.regions, context.mechanics.capacity_blocks());
        let region = move |_: &dyn Mechanics, request: &QueuedRequest| region(request.lbn, regions, capacity);
        let zone_queue = PositionQueue::new_boxed(&Aim::Time, context);
        Ok(ZonedQueue::new(regions as u32, region, Circular::default(), zone_queue).into_boxed())
    }
}

/// The region that holds block `lbn` where `capacity` blocks are cut into `regions` equal parts.
fn region(lbn: u64, regions: u64, capacity: u64) -> u32 {
    (u128::from(lbn) * u128::from(regions) / u128::from(capacity)) as u32
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::{Trial, order};
    use super::*;

    #[test]
    fn regions_are_equal_shares_of_the_blocks() {
        // 6,750,000 blocks in 80 regions of 84,375.
        let shares = [0, 84_374, 84_375, 6_749_999].map(|lbn| region(lbn, 80, 6_750_000));
        assert_eq!(shares, [0, 0, 1, 79]);
        let mut sizes = [0; 7];
        (0..100).for_each(|lbn| sizes[region(lbn, 7, 100) as usize] += 1);
        assert!(sizes.iter().all(|size| [14, 15].contains(size)), "{sizes:?}");
    }

    #[test]
    fn regions_are_served_in_ascending_order() {
        // A region is 31.25 cylinders wide; the sled starts in the middle of the medium.
        let far_to_near = [(2490, 0), (1300, 5), (40, 3), (0, 1)];
        assert_eq!(order("gsptf", &far_to_near), [(0, 1), (40, 3), (1300, 5), (2490, 0)]);
        assert_eq!(order("gsptf:regions=1", &far_to_near), order("sptf", &far_to_near));
    }

    #[test]
    fn a_region_is_left_when_it_is_empty() {
        let mut trial = Trial::new("gsptf");
        trial.push(&[(100, 0), (110, 9), (2000, 0)]);
        trial.pop();
        // One request arrives in the region in service, one in a region before it and one in a region after it.
        trial.push(&[(105, 20), (0, 0), (1000, 0)]);
        let mut first_region = [trial.pop(), trial.pop()].map(Option::unwrap).to_vec();
        first_region.sort_unstable();
        assert!(first_region.iter().all(|(cylinder, _)| (94..125).contains(cylinder)), "{first_region:?}");
        assert_eq!(trial.drain(), [(1000, 0), (2000, 0), (0, 0)]);
    }
}
