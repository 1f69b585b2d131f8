//! Tips that are bad or fail, and the blocks that are lost with them.
//!
//! The tips of a sled are numbered track by track, those of a block after each other. A block survives as many bad
//! tips as it has redundant ones. Spare tips are additional, and none of them is bad. Before data is written, spares
//! replace bad tips: first in the groups that need fewest spares to survive, then in all groups that survive, to
//! restore their redundancy. Data under a tip that fails later cannot be restored by a spare.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use sledlab_core::{Error, Result, Time, seed};

use super::geometry::Geometry;
use super::layout::Place;
use super::params::MemsParams;

/// The group of tips of a block: its track, and its place in the track.
type Group = (u32, u32);

/// The groups of tips whose blocks are lost, before and after the failure.
#[derive(Clone, Debug)]
pub(super) struct Tips {
    fail_at: Time,
    before: Damage,
    after: Damage,
    /// Blocks under a group of tips.
    blocks_of_group: u64,
    remapped: u64,
}

/// Bad tips at a time, and the groups that are lost by them.
#[derive(Clone, Debug)]
struct Damage {
    bad: u64,
    /// Groups with more bad tips than they survive.
    lost: Vec<Group>,
}

impl Tips {
    /// The tips of `params`; `None` if no tip is bad or fails.
    ///
    /// # Errors
    /// More bad and failing tips than usable ones, several sleds, or a time of failure without failing tips.
    pub fn new(params: &MemsParams) -> Result<Option<Tips>> {
        let MemsParams { bad_tips, failing_tips, usable_tips, tips_fail_at_s, .. } = *params;
        if failing_tips == 0 && tips_fail_at_s > 0.0 {
            return Err(Error::user("device.tips_fail_at_s is set, but no tip fails")
                .with_remedy("set their number: device.failing_tips"));
        }
        if bad_tips == 0 && failing_tips == 0 {
            return Ok(None);
        }
        if params.sleds > 1 {
            return Err(Error::user(
                "device.bad_tips and device.failing_tips require a device with one sled",
            )
            .with_remedy("set device.sleds = 1, and system.devices for several"));
        }
        if bad_tips + failing_tips > usable_tips {
            return Err(Error::user(format!(
                "device.bad_tips = {bad_tips} and device.failing_tips = {failing_tips} are more than \
                 usable_tips = {usable_tips}"
            ))
            .with_remedy("lower them to usable_tips at most"));
        }
        let geometry = Geometry::new(params)?;
        let tips = Tips::draw_tips(params);
        let (bad, failing) = tips.split_at(bad_tips as usize);
        let mut bad_by_group = count_by_group(params, &geometry, bad);
        let remapped = remap(&mut bad_by_group, params.redundant_tips, params.spare_tips);
        let before = Damage { bad: bad_tips, lost: lost_groups(&bad_by_group, params.redundant_tips) };
        for (group, count) in count_by_group(params, &geometry, failing) {
            *bad_by_group.entry(group).or_default() += count;
        }
        let after =
            Damage { bad: bad_tips + failing_tips, lost: lost_groups(&bad_by_group, params.redundant_tips) };
        Ok(Some(Tips {
            fail_at: Time::from_ns((tips_fail_at_s * 1e9).round() as u64),
            before,
            after,
            blocks_of_group: u64::from(geometry.cylinders) * u64::from(geometry.rows),
            remapped,
        }))
    }

    /// The bad tips, then those that fail later. With more bad tips and the same seed, the first ones stay the same.
    fn draw_tips(params: &MemsParams) -> Vec<u64> {
        let mut tips: Vec<u64> = (0..params.usable_tips).collect();
        let count = (params.bad_tips + params.failing_tips) as usize;
        tips.partial_shuffle(&mut seed::stream(params.bad_tips_seed, "tips"), count).0.to_vec()
    }

    fn damage(&self, now: Time) -> &Damage {
        if now >= self.fail_at { &self.after } else { &self.before }
    }

    /// Whether the block at `place` is lost at `now`.
    pub fn is_lost(&self, now: Time, place: Place) -> bool {
        self.damage(now).lost.binary_search(&(place.track, place.cell)).is_ok()
    }

    /// Number of blocks that are lost at `now`.
    pub fn lost_blocks(&self, now: Time) -> u64 {
        self.damage(now).lost.len() as u64 * self.blocks_of_group
    }

    /// Number of bad tips at `now`.
    pub fn bad_tips(&self, now: Time) -> u64 {
        self.damage(now).bad
    }

    /// Number of bad tips that spares have replaced.
    pub fn remapped_tips(&self) -> u64 {
        self.remapped
    }
}

/// Number of these tips in each group; tips that belong to no block are omitted.
fn count_by_group(params: &MemsParams, geometry: &Geometry, tips: &[u64]) -> BTreeMap<Group, u64> {
    let mut groups = BTreeMap::new();
    for tip in tips {
        let (track, place) = (tip / params.active_tips, tip % params.active_tips);
        let cell = place / params.tips_of_block();
        if track < u64::from(geometry.tracks) && cell < u64::from(geometry.cells) {
            *groups.entry((track as u32, cell as u32)).or_default() += 1;
        }
    }
    groups
}

/// Replaces bad tips by spares; returns how many.
fn remap(bad_by_group: &mut BTreeMap<Group, u64>, redundant: u64, spares: u64) -> u64 {
    let mut spares_left = spares;
    let mut excesses: Vec<(u64, Group)> =
        bad_by_group.iter().map(|(group, bad)| (bad.saturating_sub(redundant), *group)).collect();
    excesses.sort_unstable();
    for (excess, group) in excesses {
        if excess <= spares_left {
            spares_left -= excess;
            bad_by_group.entry(group).and_modify(|bad| *bad -= excess);
        }
    }
    for count in bad_by_group.values_mut().filter(|count| **count <= redundant) {
        let used_spares = spares_left.min(*count);
        spares_left -= used_spares;
        *count -= used_spares;
    }
    spares - spares_left
}

/// Groups with more bad tips than they survive, in order.
fn lost_groups(bad: &BTreeMap<Group, u64>, redundant: u64) -> Vec<Group> {
    bad.iter().filter(|(_, bad)| **bad > redundant).map(|(group, _)| *group).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::mems::layout;
    use crate::device::mems::params::LayoutKind;

    /// A sled of 40 tips, of which 16 can be active, in blocks of 4 tips or more, with few positions.
    fn small(redundant_tips: u64) -> MemsParams {
        MemsParams {
            travel_x_um: 0.28,
            travel_y_um: 12.0,
            tips_per_block: 4,
            active_tips: 16,
            usable_tips: 40,
            redundant_tips,
            ..MemsParams::default()
        }
    }

    /// Number of lost blocks, found block by block from the tips that hold each.
    fn count_lost_blocks(params: &MemsParams, is_bad: impl Fn(u64) -> bool) -> u64 {
        let geometry = Geometry::new(params).unwrap();
        let layout = layout::build(params, &geometry);
        let is_lost = |lbn: &u64| {
            let Place { track, cell, .. } = layout.place(*lbn);
            let first = u64::from(track) * params.active_tips + u64::from(cell) * params.tips_of_block();
            let bad_count = (first..first + params.tips_of_block()).filter(|tip| is_bad(*tip)).count() as u64;
            bad_count > params.redundant_tips
        };
        (0..geometry.blocks).filter(is_lost).count() as u64
    }

    proptest! {
        #[test]
        fn blocks_with_too_many_bad_tips_are_lost(
            redundant in 0_u64..3, bad_tips in 0_u64..20, failing_tips in 1_u64..20, seed: u64, is_streaming: bool,
        ) {
            let layout = if is_streaming { LayoutKind::Streaming } else { LayoutKind::RowFirst };
            let bad_tips_seed = seed >> 1;
            let params = MemsParams {
                bad_tips, failing_tips, bad_tips_seed, layout, tips_fail_at_s: 1.0, ..small(redundant)
            };
            let tips = Tips::new(&params).unwrap().unwrap();
            let drawn = Tips::draw_tips(&params);
            let (bad_tips_drawn, _) = drawn.split_at(bad_tips as usize);
            let (before, after) = (Time::from_ns(999_999_999), Time::from_ns(1_000_000_000));
            prop_assert_eq!(tips.lost_blocks(before), count_lost_blocks(&params, |tip| bad_tips_drawn.contains(&tip)));
            prop_assert_eq!(tips.lost_blocks(after), count_lost_blocks(&params, |tip| drawn.contains(&tip)));
            let geometry = Geometry::new(&params).unwrap();
            let layout = layout::build(&params, &geometry);
            let lost_blocks = (0..geometry.blocks).filter(|lbn| tips.is_lost(after, layout.place(*lbn))).count();
            prop_assert_eq!(lost_blocks as u64, tips.lost_blocks(after));
        }

        #[test]
        fn spares_save_as_many_groups_as_they_can(
            counts in prop::collection::vec(0_u64..6, 1..8), spares in 0_u64..12,
        ) {
            let groups: BTreeMap<Group, u64> = (0..).zip(&counts).map(|(cell, bad)| ((0, cell), *bad)).collect();
            for redundant in 0..3 {
                let mut repaired = groups.clone();
                let used_spares = remap(&mut repaired, redundant, spares);
                prop_assert_eq!(used_spares, counts.iter().sum::<u64>() - repaired.values().sum::<u64>());
                prop_assert!(used_spares <= spares);
                // The maximum number of groups saved by any choice of groups for which the spares suffice.
                let maximum = (0..1_u32 << counts.len()).filter_map(|choice| {
                    let chosen = counts.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
                    let needed_spares: u64 = chosen.map(|(_, bad)| bad.saturating_sub(redundant)).sum();
                    (needed_spares <= spares).then(|| choice.count_ones() as usize)
                });
                prop_assert_eq!(counts.len() - lost_groups(&repaired, redundant).len(), maximum.max().unwrap());
            }
        }
    }

    #[test]
    fn invalid_tip_counts_are_rejected() {
        let message = |change: fn(&mut MemsParams)| {
            let mut params = MemsParams::default();
            change(&mut params);
            Tips::new(&params).unwrap_err().to_string()
        };
        assert!(message(|p| p.tips_fail_at_s = 1.0).contains("no tip fails"));
        assert!(message(|p| (p.bad_tips, p.sleds) = (1, 2)).contains("one sled"));
        assert!(message(|p| (p.bad_tips, p.failing_tips) = (6400, 1)).contains("usable_tips = 6400"));
        assert!(Tips::new(&MemsParams::default()).unwrap().is_none());
    }
}
