//! Shortest distance first in the plane.

use sledlab_core::{Result, Time};

use super::queue::position_queue::PositionQueue;
use super::{Model, Scheduler, SchedulerContext, Starvation};
use crate::device::{Aim, DeviceState, Location, Mechanics, QueuedRequest};

sledlab_core::choices! {
    /// How distances are measured.
    pub enum DistanceRule {
        /// From the sled, exactly.
        Euclidean = "euclidean",
        /// From the sled, in integer bits.
        DisksimExact = "disksim-exact",
        /// From the last block accessed, in integer bits.
        DisksimApprox = "disksim-approx",
    }
}

sledlab_core::params! {
    /// How distance is measured.
    pub struct SdfParams {
        /// Distance to the nearer end of a row: `euclidean`, or as the reference simulator measures distances.
        rule: DistanceRule = DistanceRule::Euclidean;
    }
}

/// The request whose position is nearest.
pub(super) struct Sdf;

impl Model for Sdf {
    type Params = SdfParams;
    const NAME: &'static str = "sdf";
    const MEANING: &'static str =
        "shortest distance first: the request nearest in the x-y plane, without settling and direction";
    const STARVATION: Starvation = Starvation::Possible;

    fn make(params: &SdfParams, context: SchedulerContext) -> Result<Box<dyn Scheduler>> {
        let last_lbn = match params.rule {
            DistanceRule::Euclidean => return Ok(PositionQueue::new_boxed(&Aim::Distance, context)),
            DistanceRule::DisksimExact => None,
            DistanceRule::DisksimApprox => Some(0),
        };
        Ok(Box::new(WholeBits { queue: Vec::new(), last_lbn }))
    }
}

/// The reference simulator's rules: distances in integer bits; among equally distant requests the lowest block is
/// served first.
struct WholeBits {
    queue: Vec<QueuedRequest>,
    /// The last block accessed, if distances are measured from that block instead of from the sled.
    last_lbn: Option<u64>,
}

impl WholeBits {
    /// Origin of distances: x and y in bits.
    fn origin(&self, mechanics: &dyn Mechanics) -> (i32, i32) {
        let DeviceState { x, y, .. } = mechanics.state();
        self.last_lbn.map_or((x, y), |lbn| {
            let Location { x, y, .. } = mechanics.location(lbn);
            (x, y)
        })
    }
}

impl Scheduler for WholeBits {
    fn push(&mut self, request: QueuedRequest) {
        self.queue.push(request);
    }

    fn pop(&mut self, _now: Time, mechanics: &dyn Mechanics, batch: &mut Vec<QueuedRequest>) {
        let origin = self.origin(mechanics);
        let whole_bits = |lbn| mechanics.distance_squared(origin, lbn).isqrt();
        let keys = self.queue.iter().map(|request| (whole_bits(request.lbn), request.lbn, request.id));
        let Some((place, _)) = keys.enumerate().min_by_key(|(_, key)| *key) else { return };
        let request = self.queue.swap_remove(place);
        self.last_lbn = self.last_lbn.map(|_| request.lbn + u64::from(request.blocks) - 1);
        batch.push(request);
    }

    fn remove(&mut self, request: &QueuedRequest, _mechanics: &dyn Mechanics) -> bool {
        let queued = self.queue.len();
        self.queue.retain(|other| other.id != request.id);
        self.queue.len() < queued
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
