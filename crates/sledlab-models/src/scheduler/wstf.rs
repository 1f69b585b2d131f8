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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use rand::RngExt;
    use sledlab_core::params::Params;
    use sledlab_core::seed;
    use toml::Table;

    use super::*;
    use crate::device::Queued;
    use crate::device::mems::{self, MemsParams};

    /// Counts the places scored and the tiles bounded.
    struct Counted {
        score: Weighted,
        scored: AtomicU64,
        bounded: AtomicU64,
    }

    impl Score for Counted {
        fn of(&self, now: Time, time: Span, crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> f64 {
            self.scored.fetch_add(1, Ordering::Relaxed);
            self.score.of(now, time, crowd, joined)
        }

        fn worth(&self, at: [Time; 2], crowd: &Crowd, joined: &mut dyn Iterator<Item = Time>) -> [f64; 2] {
            self.score.worth(at, crowd, joined)
        }

        fn bound(&self, stretch: &Stretch) -> f64 {
            self.bounded.fetch_add(1, Ordering::Relaxed);
            self.score.bound(stretch)
        }

        fn ages_alike(&self) -> bool {
            self.score.ages_alike()
        }

        fn heeds_farthest(&self) -> bool {
            self.score.heeds_farthest()
        }
    }

    #[test]
    fn prints() {
        for (queued, gap_ns) in [(100_000_u64, 1_u64), (100_000, 1000), (100_000, 400_000)] {
            let params = MemsParams::from_table("device", &Table::new()).unwrap();
            let mut device = mems::build(&params).unwrap();
            let score = Weighted { max_wait_ns: 1e9 };
            let counted = Arc::new(Counted { score, scored: AtomicU64::new(0), bounded: AtomicU64::new(0) });
            let mut index = device.mechanics().position_index(&Aim::Score(counted.clone())).unwrap();
            let mut rng = seed::stream(7, "waiting");
            let capacity = device.mechanics().capacity_blocks();
            let mut now = Time::ZERO;
            for id in 0..queued {
                now = now + Span::from_ns(gap_ns);
                let lbn = rng.random_range(0..capacity);
                index.insert(Queued { id, arrival: now, queued: now, lbn, blocks: 1, ..Queued::default() });
            }
            let mut served = Vec::new();
            let begun = std::time::Instant::now();
            let mut last = (0, 0, begun);
            for n in 0..queued {
                let request = index.take_best(now, device.mechanics()).unwrap();
                served.clear();
                now = device.issue(now, &[request], &mut served).unwrap().until;
                if (n + 1) % (queued / 5) == 0 {
                    let (s, b) =
                        (counted.scored.load(Ordering::Relaxed), counted.bounded.load(Ordering::Relaxed));
                    let e = queued / 5;
                    println!(
                        "{queued} gap {gap_ns}: at {n}, now {} s: scored {} bounded {}, {} ns each",
                        now.as_ns() / 1_000_000_000,
                        (s - last.0) / e,
                        (b - last.1) / e,
                        last.2.elapsed().as_nanos() as u64 / e
                    );
                    last = (s, b, std::time::Instant::now());
                }
            }
        }
    }
}
