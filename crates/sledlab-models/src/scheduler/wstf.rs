//! Weighted shortest time first: multiplicative ageing (SC-10).

use std::sync::Arc;

use sledlab_core::{Result, Span, Time};

use super::positioned::Positioned;
use super::{Model, Scheduler, Setting};
use crate::device::{Aim, Crowd, Score, Stretch};

sledlab_core::params! {
    /// How much waiting counts.
    pub struct WstfParams {
        /// Largest wait that is tolerated: with it a request's weighted time reaches zero, and beyond it the farthest come first.
        max_wait_ms: f64 = 1000.0, "ms", 1e-3..1e9;
    }
}

/// The smallest positioning time times the share of the tolerated wait that is left.
pub(super) struct Wstf;

impl Model for Wstf {
    type Params = WstfParams;
    const NAME: &'static str = "wstf";
    const MEANING: &'static str =
        "weighted shortest time first: positioning time times the share of the tolerated wait left";
    const STARVATION_FREE: bool = true;

    fn make(params: &WstfParams, setting: Setting) -> Result<Box<dyn Scheduler>> {
        let score = Weighted { max_wait_ns: params.max_wait_ms * 1e6 };
        Ok(Positioned::boxed(&Aim::Score(Arc::new(score)), setting))
    }
}

/// Of all requests at a place the oldest has the least weight.
struct Weighted {
    max_wait_ns: f64,
}

impl Weighted {
    /// The share of the tolerated wait that is left; below zero when there is none.
    fn left(&self, waited_ns: f64) -> f64 {
        (self.max_wait_ns - waited_ns) / self.max_wait_ns
    }
}

impl Score for Weighted {
    fn of(&self, now: Time, time: Span, crowd: &Crowd, _: &mut dyn Iterator<Item = Time>) -> f64 {
        time.as_ns() as f64 * self.left(now.since(crowd.oldest).as_ns() as f64)
    }

    fn worth(&self, at: [Time; 2], crowd: &Crowd, _: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
        at.map(|at| crowd.oldest_ns(at))
    }

    fn bound(&self, stretch: &Stretch) -> f64 {
        let left = self.left(stretch.worth);
        let farthest = if left < 0.0 { stretch.most } else { stretch.least };
        farthest.as_ns() as f64 * left
    }

    fn ages_alike(&self) -> bool {
        true
    }

    fn heeds_farthest(&self) -> bool {
        true
    }
}
