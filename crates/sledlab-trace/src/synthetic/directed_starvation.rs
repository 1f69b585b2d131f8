//! A far request against an endless stream near the sled.

use sledlab_core::{Op, Request, Result, Span, Time};

use super::draw::{Arrivals, Gap, Places, clamp_blocks};
use super::{Generator, GeneratorSetting};

sledlab_core::params! {
    /// Reads near one location that overload the device, and occasional reads of a distant block.
    ///
    /// Schedulers that minimize only the positioning time do not serve the distant request while the
    /// stream lasts; those that age requests or sweep the medium bound its wait. Distances are in cylinders of
    /// blocks_per_cylinder blocks, counted from near_share of the capacity.
    pub struct DirectedStarvationParams {
        /// Number of requests; 0 never ends.
        requests: u64 = 20_000_u64;
        /// Mean time between arrivals of the near stream; exponential.
        mean_interarrival_ms: f64 = 0.2, "ms", 1e-6..1e9;
        /// Arrival time of the first far request.
        far_after_ms: f64 = 10.0, "ms", 0.0..1e12;
        /// Time between far requests; 0 makes only one.
        far_every_ms: f64 = 0.0, "ms", 0.0..1e12;
        /// Size of every request.
        blocks: u64 = 8_u64, "blocks", 1..1e9;
        /// Blocks of one cylinder; G2 has 2700.
        blocks_per_cylinder: u64 = 2_700_u64, "blocks", 1..1e12;
        /// Width of the near stream, in cylinders.
        near_cylinders: u64 = 20_u64, "cylinders", 1..1e9;
        /// Start of the near stream, as a share of the device.
        near_share: f64 = 0.0, "", 0.0..1.0;
        /// Start of far requests, as a share of the device.
        far_share: f64 = 1.0, "", 0.0..1.0;
    }
}

/// See [`DirectedStarvationParams`].
pub struct DirectedStarvation {
    arrivals: Arrivals,
    places: Places,
    /// The next arrival of the near stream.
    next_near: Time,
    /// The next far arrival, if another is to come.
    next_far: Option<Time>,
    far_every: Option<Span>,
    blocks: u32,
    near_lbn: u64,
    near_span_blocks: u64,
    far_lbn: u64,
}

impl Generator for DirectedStarvation {
    type Params = DirectedStarvationParams;
    const NAME: &'static str = "directed-starvation";
    const MEANING: &'static str = "one far request against an endless stream near the sled";

    fn requests(params: &Self::Params) -> u64 {
        params.requests
    }

    fn new(params: &Self::Params, setting: GeneratorSetting) -> Result<Self> {
        let blocks = clamp_blocks(params.blocks, setting.capacity_blocks);
        let last_lbn = setting.capacity_blocks - u64::from(blocks);
        let span_blocks = params.near_cylinders.saturating_mul(params.blocks_per_cylinder);
        let near_span_blocks = span_blocks.clamp(u64::from(blocks), setting.capacity_blocks);
        let last_near_lbn = setting.capacity_blocks - near_span_blocks;
        let gap = Gap::Exponential { mean_ms: params.mean_interarrival_ms };
        let mut arrivals = Arrivals::new(gap, setting.stream("directed-starvation.arrivals"));
        Ok(DirectedStarvation {
            next_near: arrivals.next(),
            arrivals,
            places: Places::new(setting.stream("directed-starvation.places")),
            next_far: Some(Time::ZERO + Span::from_ms(params.far_after_ms)),
            far_every: Some(Span::from_ms(params.far_every_ms)).filter(|interval| *interval > Span::ZERO),
            blocks,
            near_lbn: ((params.near_share * setting.capacity_blocks as f64) as u64).min(last_near_lbn),
            near_span_blocks,
            far_lbn: ((params.far_share * setting.capacity_blocks as f64) as u64).min(last_lbn),
        })
    }

    fn next(&mut self) -> Request {
        let (arrival, lbn) = match self.next_far {
            Some(next_far) if next_far <= self.next_near => {
                self.next_far = self.far_every.map(|every| next_far + every);
                (next_far, self.far_lbn)
            }
            _ => {
                let arrival = std::mem::replace(&mut self.next_near, self.arrivals.next());
                (arrival, self.near_lbn + self.places.next(self.blocks, 1, self.near_span_blocks))
            }
        };
        Request { arrival, lbn, blocks: self.blocks, op: Op::Read, ..Request::default() }
    }
}
