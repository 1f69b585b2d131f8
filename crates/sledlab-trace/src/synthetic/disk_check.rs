//! The mix with which the manual of the reference simulator validates disks.

use rand::RngExt;
use rand_distr::StandardNormal;
use sledlab_core::seed::Stream;
use sledlab_core::{BLOCK_BYTES, Op, Request, Result};

use super::draw::{Arrivals, ExponentialSizes, Gap, Ops, Places};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Part sequential, part local, part random requests with uniform gaps.
    ///
    /// A sequential request continues its predecessor, with the same operation: on the public
    /// validation trace two thirds of the sequential pairs are both reads, as are two thirds of all
    /// requests. A local request starts a normally distributed distance from where its predecessor started, mirrored at
    /// the ends of the device. The other requests are uniform over the device.
    pub struct DiskCheckParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 10_000_u64;
        /// Largest time between arrivals, which is uniform from 0.
        longest_interarrival_ms: f64 = 22.0, "ms", 1e-6..1e9;
        /// Mean of the exponential size, before rounding up to blocks.
        mean_size_kb: f64 = 8.0, "KB", 1e-3..1e6;
        /// Share of reads.
        read_share: f64 = 0.5, "", 0.0..1.0;
        /// Share of sequential requests.
        sequential_share: f64 = 0.3, "", 0.0..1.0;
        /// Share of local requests; at most the share that sequential requests leave.
        local_share: f64 = 0.3, "", 0.0..1.0;
        /// Standard deviation of the distance of local requests.
        local_distance_blocks: f64 = 10000.0, "blocks", 0.0..1e12;
    }
}

/// See [`DiskCheckParams`].
pub struct DiskCheck {
    arrivals: Arrivals,
    sizes: ExponentialSizes,
    places: Places,
    ops: Ops,
    kinds: Stream,
    distances: Stream,
    sequential_below: f64,
    local_below: f64,
    distance_blocks: f64,
    capacity_blocks: u64,
    /// First block, block after the last, and operation of the previous request.
    previous: Option<(u64, u64, Op)>,
}

impl Generator for DiskCheck {
    type Params = DiskCheckParams;
    const NAME: &'static str = "disk-check";
    const MEANING: &'static str = "30 % sequential, 30 % local, uniform gaps (disk validation mix)";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let capacity_blocks = setting.capacity_blocks;
        let mean_blocks = params.mean_size_kb * 1024.0 / BLOCK_BYTES as f64;
        let gap = Gap::Uniform { longest_ms: params.longest_interarrival_ms };
        Ok(DiskCheck {
            arrivals: Arrivals::new(gap, setting.stream("disk-check.arrivals")),
            sizes: ExponentialSizes::new(mean_blocks, 1, capacity_blocks, setting.stream("disk-check.sizes")),
            places: Places::new(setting.stream("disk-check.places")),
            ops: Ops::new(params.read_share, setting.stream("disk-check.ops"))?,
            kinds: setting.stream("disk-check.kinds"),
            distances: setting.stream("disk-check.distances"),
            sequential_below: params.sequential_share,
            local_below: params.sequential_share + params.local_share,
            distance_blocks: params.local_distance_blocks,
            capacity_blocks,
            previous: None,
        })
    }

    fn next(&mut self) -> Request {
        let arrival = self.arrivals.next();
        let blocks = self.sizes.next();
        // Drawn whether used or not, so that no choice shifts another.
        let (kind, random_lbn) =
            (self.kinds.random::<f64>(), self.places.next(blocks, 1, self.capacity_blocks));
        let (distance, random_op) = (self.distances.sample::<f64, _>(StandardNormal), self.ops.next());
        let last_start = self.capacity_blocks - u64::from(blocks);
        let (lbn, op) = match self.previous {
            Some((_, end, op)) if kind < self.sequential_below => {
                (if end <= last_start { end } else { 0 }, op)
            }
            Some((start, ..)) if kind < self.local_below => {
                (reflect(start as f64 + (distance * self.distance_blocks).round(), last_start), random_op)
            }
            _ => (random_lbn, random_op),
        };
        self.previous = Some((lbn, lbn + u64::from(blocks), op));
        Request { arrival, lbn, blocks, op, ..Request::default() }
    }
}

/// `place` folded back into `0..=last` as if both ends were mirrors.
fn reflect(place: f64, last: u64) -> u64 {
    if last == 0 {
        return 0;
    }
    let folded = place.rem_euclid(2.0 * last as f64) as u64;
    if folded <= last { folded } else { (2 * last).saturating_sub(folded) }.min(last)
}
