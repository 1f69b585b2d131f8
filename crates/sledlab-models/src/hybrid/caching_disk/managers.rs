//! Virtual segment managers (Wang 2005, section 7): cache directories without data, each with another size of
//! segments. Segments are fetched in groups of the size whose misses would have cost the least time lately.
//!
//! When the choice changes, the cached segments stay in their slots; only later fetches come in groups of the new size.

use crate::device::QueuedRequest;
use crate::replacement::{self, AccessResult, ReplacementPolicy, Use};
use crate::system::Completion;
use sledlab_core::{Error, Result};

/// Number of requests between two choices of the size.
const CHOICE_INTERVAL: u64 = 512;
/// Factor on the costs accumulated so far, at every choice.
const DECAY: f64 = 0.9;
/// A size replaces the present one only if its cost is below this share of the present size's cost.
const MAX_COST_RATIO: f64 = 0.97;

/// The directory of a cache whose segments are `segments` times as large.
struct Manager {
    segments: u64,
    directory: Box<dyn ReplacementPolicy>,
    cost_ms: f64,
    misses: u64,
}

/// The time of a fetch in milliseconds as a linear function of its blocks: a running least-squares fit with a prior.
struct FetchTime {
    weight: f64,
    blocks: f64,
    ms: f64,
    blocks_squared: f64,
    blocks_ms: f64,
}

/// See the module.
pub(super) struct Managers {
    segment_blocks: u64,
    managers: Vec<Manager>,
    best: usize,
    uses: u64,
    fetch_time: FetchTime,
}

impl Managers {
    /// Managers for groups of 1, 2, 4 and so on up to `segments` segments, in a cache of `slots` segments.
    ///
    /// # Errors
    /// Errors of the replacement policy.
    pub fn new(policy: &replacement::Choice, slots: u32, segment_blocks: u64, segments: u64) -> Result<Self> {
        let sizes = (0..).map(|power| 1_u64 << power).take_while(|size| *size <= segments);
        let manager = |segments: u64| -> Result<Manager> {
            let slots = (u64::from(slots) / segments).max(1) as usize;
            Ok(Manager { segments, directory: policy.make(slots)?, cost_ms: 0.0, misses: 0 })
        };
        Ok(Managers {
            segment_blocks,
            managers: sizes.map(manager).collect::<Result<_>>()?,
            best: 0,
            uses: 0,
            fetch_time: FetchTime::new(),
        })
    }

    /// The number of segments to fetch with one access.
    pub fn best(&self) -> u64 {
        self.managers[self.best].segments
    }

    /// The error that stopped the replacement policy of a directory, if one did.
    pub fn failure(&mut self) -> Option<Error> {
        self.managers.iter_mut().find_map(|manager| manager.directory.failure())
    }

    /// Looks up an arriving request in every directory.
    pub fn observe(&mut self, request: &QueuedRequest) {
        let last = request.lbn + u64::from(request.blocks) - 1;
        for manager in &mut self.managers {
            let size = manager.segments * self.segment_blocks;
            for key in request.lbn / size..=last / size {
                let result = manager.directory.access(Use { key, next: Use::NO_NEXT });
                manager.misses += u64::from(result != AccessResult::Hit);
            }
        }
        self.uses += 1;
        if self.uses.is_multiple_of(CHOICE_INTERVAL) {
            self.choose();
        }
    }

    /// Takes the time of a completed fetch into the fit.
    pub fn learn(&mut self, access: &Completion) {
        let ms = access.timing.service().as_ns() as f64 * 1e-6;
        self.fetch_time.add(f64::from(access.request.blocks), ms, 1.0);
    }

    fn choose(&mut self) {
        for manager in &mut self.managers {
            let blocks = (manager.segments * self.segment_blocks) as f64;
            let cost_ms = manager.misses as f64 * self.fetch_time.predict(blocks);
            manager.cost_ms = DECAY * manager.cost_ms + cost_ms;
            manager.misses = 0;
        }
        let cheapest = (0..self.managers.len())
            .min_by(|a, b| self.managers[*a].cost_ms.total_cmp(&self.managers[*b].cost_ms));
        if let Some(cheapest) = cheapest
            && self.managers[cheapest].cost_ms < MAX_COST_RATIO * self.managers[self.best].cost_ms
        {
            self.best = cheapest;
        }
    }
}

impl FetchTime {
    /// The prior: 8 ms, and about 50 MB/s.
    fn new() -> Self {
        let mut prior = FetchTime { weight: 0.0, blocks: 0.0, ms: 0.0, blocks_squared: 0.0, blocks_ms: 0.0 };
        for blocks in [8.0, 512.0] {
            prior.add(blocks, 8.0 + blocks * 0.01, 10.0);
        }
        prior
    }

    fn add(&mut self, blocks: f64, ms: f64, weight: f64) {
        self.weight += weight;
        self.blocks += weight * blocks;
        self.ms += weight * ms;
        self.blocks_squared += weight * blocks * blocks;
        self.blocks_ms += weight * blocks * ms;
    }

    fn predict(&self, blocks: f64) -> f64 {
        let (mean_blocks, mean_ms) = (self.blocks / self.weight, self.ms / self.weight);
        let slope =
            (self.blocks_ms - self.blocks * mean_ms) / (self.blocks_squared - self.blocks * mean_blocks);
        (mean_ms + slope.max(0.0) * (blocks - mean_blocks)).max(0.1)
    }
}
