//! ZSPTF with pyramiding: zones with too few requests are merged (Hong 2006, section 4.1).

use sledlab_core::{Error, Result};

use super::queue::grid::{Grid, ZoneOrder, Zones};
use super::queue::position_queue::PositionQueue;
use super::queue::zoned_queue::{self, Circular, Tour, WaitingRequests};
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aim, Mechanics};

sledlab_core::choices! {
    /// Requests that decide how far zones are merged.
    pub enum MergeRule {
        /// The requests in and around the next zone, which grows until it has enough requests.
        Local = "local",
        /// The entire queue: all zones have the same size, the smallest at which occupied zones have enough requests on
        /// average.
        Global = "global",
    }
}

sledlab_core::params! {
    /// The zones and when they are merged.
    pub struct ZsptfPyramidParams {
        /// Cells of the finest grid along x and y, at most 4096; 2x2 merge while both numbers can be halved.
        grid: Grid = Grid::new(32, 4);
        /// Requests that decide how far zones merge: around the next zone (`local`) or all (`global`).
        merge: MergeRule = MergeRule::Local;
        /// Requests that are enough for a zone; 1 never merges, large numbers come close to SPTF.
        threshold: u64 = 6_u64, "", 1..1e9;
        /// Whether even (read upwards) and odd columns (downwards) of a cell, merged or not, are two zones.
        parity: bool = true;
        /// Whether SPTF chooses among all requests, one at a time, while the next largest cell has too few.
        root: bool = false;
    }
}

/// ZSPTF with zones as large as the queue demands.
pub(super) struct ZsptfPyramid;

impl Model for ZsptfPyramid {
    type Params = ZsptfPyramidParams;
    const NAME: &'static str = "zsptf-pyramid";
    const MEANING: &'static str =
        "zsptf with pyramiding: zones with too few requests are merged with neighboring zones";
    // As for `zsptf`: a stream of requests into one zone keeps the requests of all others waiting.
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &ZsptfPyramidParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let zones = Zones::new(params.grid, ZoneOrder::circular(params.parity), context.mechanics);
        let levels = levels(&zones);
        if levels.len() == 1 && !params.root {
            let message = format!("zsptf-pyramid: the cells of a grid of {} cannot be merged", params.grid);
            return Err(Error::user(message)
                .with_remedy("choose even numbers of cells, for example \"32x4\", or set root = true"));
        }
        let pyramid = Pyramid {
            levels,
            merge: params.merge,
            threshold: params.threshold as usize,
            has_root: params.root,
            sweep: Circular::default(),
        };
        let sptf = || PositionQueue::new_boxed(&Aim::Time, context);
        let queue = zoned_queue::build(zones, pyramid, sptf());
        Ok(if params.root { queue.with_root(sptf()).into_boxed() } else { queue.into_boxed() })
    }
}

/// Zones of one size.
#[derive(Debug)]
struct Level {
    /// The zone of this level that each of the finest zones is in.
    zone_of: Vec<u32>,
    /// The finest zones in each zone of this level.
    members: Vec<Vec<u32>>,
}

impl Level {
    fn new(zone_of: Vec<u32>, count: u32) -> Self {
        let mut members = vec![Vec::new(); count as usize];
        for (finest, zone) in zone_of.iter().enumerate() {
            members[*zone as usize].push(finest as u32);
        }
        Level { zone_of, members }
    }

    /// The finest zones of the zone that holds `finest`.
    fn finest_zones(&self, finest: u32) -> &[u32] {
        &self.members[self.zone_of[finest as usize] as usize]
    }

    /// Requests waiting in the zone that holds `finest`.
    fn requests(&self, finest: u32, waiting: &WaitingRequests) -> usize {
        self.finest_zones(finest).iter().map(|zone| waiting.requests(*zone).len()).sum()
    }

    /// Zones with requests.
    fn count_occupied(&self, waiting: &WaitingRequests) -> usize {
        let mut is_counted = vec![false; self.members.len()];
        let zones = waiting.occupied_zones().map(|finest| self.zone_of[finest as usize] as usize);
        zones.filter(|zone| !std::mem::replace(&mut is_counted[*zone], true)).count()
    }
}

/// The levels of the pyramid, the finest first. The zones of every level are those of ZSPTF with the level's grid, so
/// that even and odd columns stay apart; only the root, which is not a level, merges them.
fn levels(finest: &Zones) -> Vec<Level> {
    let grids = std::iter::successors(Some(finest.grid), |grid| grid.halve());
    grids.enumerate().map(|(height, grid)| level(finest, grid, height)).collect()
}

fn level(finest: &Zones, grid: Grid, height: usize) -> Level {
    let zones = finest.with_grid(grid);
    let mut zone_of = vec![0; finest.count() as usize];
    for x in 0..finest.grid.columns {
        for y in 0..finest.grid.rows {
            for odd in [false, true] {
                zone_of[finest.number(x, y, odd) as usize] = zones.number(x >> height, y >> height, odd);
            }
        }
    }
    Level::new(zone_of, zones.count())
}

/// Sweeps over the finest zones; the zones merged with the next one are served together with it.
///
/// The sweep is over the finest grid even where it serves larger zones: so every request's turn comes within a
/// round, however the sizes change. At the root each request is a visit, and the sweep goes on to the next zone.
struct Pyramid {
    /// Levels of the pyramid, the finest first.
    levels: Vec<Level>,
    merge: MergeRule,
    threshold: usize,
    /// Whether no zone is entered where the largest one has too few requests.
    has_root: bool,
    sweep: Circular,
}

impl Pyramid {
    fn has_enough_requests(&self, level: &Level, entered: u32, waiting: &WaitingRequests) -> bool {
        match self.merge {
            MergeRule::Local => level.requests(entered, waiting) >= self.threshold,
            MergeRule::Global => {
                waiting.len() >= self.threshold.saturating_mul(level.count_occupied(waiting))
            }
        }
    }
}

impl Tour for Pyramid {
    fn next(&mut self, _: &dyn Mechanics, waiting: &WaitingRequests, zones: &mut Vec<u32>) {
        let Some(entered) = self.sweep.visit(waiting) else { return };
        let level_with_enough =
            self.levels.iter().find(|level| self.has_enough_requests(level, entered, waiting));
        let largest = if self.has_root { None } else { self.levels.last() };
        if let Some(level) = level_with_enough.or(largest) {
            zones.extend_from_slice(level.finest_zones(entered));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::zoned_queue::trial::{CylinderRow, Trial, order};
    use super::*;
    use crate::device::{self, preset};

    fn build_levels(grid: Grid, by_parity: bool) -> Vec<Level> {
        let table = preset::text("mems-g2").unwrap().parse().unwrap();
        let device = device::build(&preset::from_table(&table).unwrap()).unwrap();
        levels(&Zones::new(grid, ZoneOrder::circular(by_parity), device.mechanics()))
    }

    #[test]
    fn every_level_refines_the_next() {
        for parity in [true, false] {
            let levels = build_levels(Grid::new(32, 4), parity);
            let counts: Vec<usize> = levels.iter().map(|level| level.members.len()).collect();
            let parities = if parity { 2 } else { 1 };
            assert_eq!(counts, [128, 32, 8].map(|cells| cells * parities));
            for pair in levels.windows(2) {
                let (fine, coarse) = (&pair[0], &pair[1]);
                for zone in &fine.members {
                    let parent = coarse.zone_of[zone[0] as usize];
                    assert!(zone.iter().all(|finest| coarse.zone_of[*finest as usize] == parent));
                }
                // All zones of a level are of the same size, and each of the finest zones is in one of them.
                let size = levels[0].members.len() / coarse.members.len();
                assert!(coarse.members.iter().all(|zone| zone.len() == size));
            }
        }
    }

    #[test]
    fn even_and_odd_columns_stay_apart() {
        let levels = build_levels(Grid::new(32, 4), true);
        // Zones of the first column of cells: four of even cylinders, then four of odd ones.
        assert!(levels.iter().all(|level| level.zone_of[0] != level.zone_of[7]));
        assert_eq!(levels[2].zone_of[..8], [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    /// Cells of 32x4 are 78.125 cylinders wide and 6.75 rows high. Columns 0 to 3 make up a cell of 8x1.
    const SPARSE: [CylinderRow; 6] = [(400, 0), (2, 20), (240, 26), (1, 3), (80, 3), (0, 0)];

    #[test]
    fn sparse_zones_merge_up_to_largest_cells() {
        // The lone request of the first zone is merged with the three others of even cylinders nearby.
        let served = order("zsptf-pyramid", &SPARSE);
        assert_eq!(served[..4], order("sptf", &[(2, 20), (240, 26), (80, 3), (0, 0)]));
        assert_eq!(served[4..], [(1, 3), (400, 0)]);
        let without_merging = order("zsptf-pyramid:threshold=1", &SPARSE);
        assert_eq!(without_merging, order("zsptf:grid=32x4", &SPARSE));
        assert_eq!(without_merging, [(0, 0), (2, 20), (1, 3), (80, 3), (240, 26), (400, 0)]);
        assert_eq!(order("zsptf-pyramid:root=true", &SPARSE), order("sptf", &SPARSE));
    }

    #[test]
    fn zone_with_enough_requests_ends_service_at_root() {
        let mut trial = Trial::new("zsptf-pyramid:root=true:threshold=3");
        // Two requests are too few for any zone: the nearest to the center, where the sled is, is served first.
        trial.push(&[(1300, 13), (2, 20)]);
        assert_eq!(trial.pop(), Some((1300, 13)));
        // Three arrive in a zone at the border. The sweep passes the zone of (1302, 13), which has too few, before.
        let crowd = [(0, 0), (2, 0), (4, 0)];
        trial.push(&crowd);
        trial.push(&[(1302, 13), (1304, 13)]);
        assert_eq!(trial.pop(), Some((1302, 13)));
        // (1304, 13) is much nearer, but the next zone of the sweep has enough requests.
        let mut visit: Vec<CylinderRow> = (0..3).filter_map(|_| trial.pop()).collect();
        visit.sort_unstable();
        assert_eq!(visit, crowd);
        // The remaining two are too few again.
        assert_eq!(trial.drain(), [(2, 20), (1304, 13)]);
    }

    #[test]
    fn sparse_queue_with_root_is_sptf() {
        let [with_root, sptf] = ["zsptf-pyramid:root=true", "sptf"].map(|word| {
            let mut trial = Trial::new(word);
            // Arrivals between choices: never six requests in a cell.
            let mut served = Vec::new();
            for places in SPARSE.chunks(2) {
                trial.push(places);
                served.extend(trial.pop());
            }
            served.extend(trial.drain());
            served
        });
        assert_eq!(with_root, sptf);
    }

    #[test]
    fn long_queue_with_root_is_not_sptf() {
        let places: Vec<CylinderRow> = (0..400).map(|i| (i * 619 % 2500, i * 7 % 27)).collect();
        assert_ne!(order("zsptf-pyramid:root=true", &places), order("sptf", &places));
    }

    #[test]
    fn a_zone_with_enough_requests_is_served_alone() {
        // Two requests in the zone entered first are enough; the neighboring zone has one and is merged with the
        // remaining part of its parent.
        let places = [(80, 3), (2, 20), (4, 3), (2, 8), (0, 0)];
        let served = order("zsptf-pyramid:threshold=2", &places);
        let mut first_alone = served[..2].to_vec();
        first_alone.sort_unstable();
        assert_eq!(first_alone, [(0, 0), (4, 3)]);
        let mut merged = served[2..4].to_vec();
        merged.sort_unstable();
        assert_eq!(merged, [(2, 8), (80, 3)]);
        assert_eq!(served[4], (2, 20));
    }

    #[test]
    fn the_whole_queue_decides_if_merging_is_global() {
        let sparse = [(0, 0), (160, 0), (2, 26)];
        let crowd = [(2000, 0), (2002, 0), (2004, 0), (2006, 0), (2008, 0), (2010, 0)];
        let all_places = [&sparse[..], &crowd].concat();
        let first_three = |word: &str, places: &[CylinderRow]| order(word, places)[..3].to_vec();
        // A crowd of requests far away raises the mean to two requests in a zone: no merging.
        let global = "zsptf-pyramid:merge=global:threshold=2";
        assert_eq!(first_three(global, &all_places), [(0, 0), (2, 26), (160, 0)]);
        // With the local rule the far crowd does not count; without the crowd the global rule merges as well.
        let merged = order("sptf", &sparse);
        assert_ne!(merged, [(0, 0), (2, 26), (160, 0)]);
        assert_eq!(first_three("zsptf-pyramid:threshold=2", &all_places), merged);
        assert_eq!(first_three(global, &sparse), merged);
    }

    #[test]
    fn odd_grid_is_rejected() {
        let make = |word: &str| {
            let (name, params) = super::super::parse(word).unwrap();
            let table = preset::text("mems-g2").unwrap().parse().unwrap();
            let device = device::build(&preset::from_table(&table).unwrap()).unwrap();
            super::super::Choice::new(&name, &params).unwrap().make(device.mechanics()).map(|_| ())
        };
        let message = make("zsptf-pyramid:grid=25x3").unwrap_err().to_string();
        assert!(
            message.contains("grid of 25x3 cannot be merged") && message.contains("root = true"),
            "{message}"
        );
        assert!(make("zsptf-pyramid:grid=25x3:root=true").is_ok());
    }
}
