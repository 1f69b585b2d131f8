//! Ranks drawn by popularity, from Zipf's law.

use rand::RngExt;
use rand_distr::{Distribution, Zipf};
use sledlab_core::math::pow;
use sledlab_core::seed::Stream;
use sledlab_core::{Error, Result};

/// Relative distance within which an estimate does not decide: much more than the errors of estimate and power.
const TOLERANCE: f64 = 1e-9;

/// Ranks from 0, of which rank r is drawn in proportion to 1 / (r + 1)^exponent.
#[derive(Clone, Debug)]
pub struct ZipfRanks {
    count: u64,
    zipf: Zipf<f64>,
    below_one: Option<BelowOne>,
}

/// The same samples as [`Zipf`] for an exponent below 1, almost always without a power.
#[derive(Clone, Copy, Debug)]
struct BelowOne {
    exponent: f64,
    /// The numbers `t` and `q` of [`Zipf`].
    scale: f64,
    power: f64,
    /// The nearest integer to `power`, if that is near enough to estimate powers.
    estimate: Option<u32>,
}

impl BelowOne {
    fn new(count: u64, exponent: f64) -> Self {
        let power = 1.0 / (1.0 - exponent);
        let integer = power.round();
        let is_near = integer <= 64.0 && (power - integer).abs() < 1e-3 * TOLERANCE;
        BelowOne {
            exponent,
            scale: (pow(count as f64, 1.0 - exponent) - exponent) * power,
            power,
            estimate: is_near.then_some(integer as u32),
        }
    }

    fn sample(&self, rng: &mut Stream) -> f64 {
        loop {
            let scaled = rng.random::<f64>() * self.scale;
            let base = scaled * (1.0 - self.exponent) + self.exponent;
            let exact = || if scaled <= 1.0 { scaled } else { pow(base, self.power) };
            let estimated = match self.estimate {
                Some(power) if scaled > 1.0 => {
                    let estimated = integer_power(base, power);
                    let is_sure = (estimated - estimated.round()).abs() > TOLERANCE * estimated;
                    if is_sure { estimated } else { exact() }
                }
                _ => exact(),
            };
            let sample = (estimated + 1.0).floor();
            let chance: f64 = rng.random();
            // The sample is accepted with the probability (inverse / sample)^exponent, which is not below the base.
            if sample <= 1.0
                || chance < estimated / sample * (1.0 - TOLERANCE)
                || chance < pow(sample, -self.exponent) * pow(exact(), self.exponent)
            {
                return sample;
            }
        }
    }
}

fn integer_power(mut base: f64, mut power: u32) -> f64 {
    let mut result = 1.0;
    while power > 0 {
        if power % 2 == 1 {
            result *= base;
        }
        base *= base;
        power /= 2;
    }
    result
}

impl ZipfRanks {
    /// Ranks below `count`, which is at least 1.
    ///
    /// # Errors
    /// An exponent that is not a number or below 0.
    pub fn new(count: u64, exponent: f64) -> Result<Self> {
        let zipf = Zipf::new(count as f64, exponent)
            .map_err(|error| Error::user(format!("a Zipf exponent of {exponent}: {error}")))?;
        let below_one = (exponent < 1.0).then(|| BelowOne::new(count, exponent));
        Ok(ZipfRanks { count, zipf, below_one })
    }

    /// A rank drawn by popularity.
    #[inline]
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        let sample = match &self.below_one {
            Some(below_one) => below_one.sample(rng),
            None => self.zipf.sample(rng),
        };
        (sample as u64).clamp(1, self.count) - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sledlab_core::seed::stream;

    use super::*;

    /// The rejection sampling of [`Zipf`] with a power for each number. In tests, [`Zipf`] itself takes powers of the
    /// standard library, whose last digits differ.
    fn sample_by_powers(ranks: &BelowOne, rng: &mut Stream) -> f64 {
        loop {
            let scaled = rng.random::<f64>() * ranks.scale;
            let base = scaled * (1.0 - ranks.exponent) + ranks.exponent;
            let inverse = if scaled <= 1.0 { scaled } else { pow(base, ranks.power) };
            let sample = (inverse + 1.0).floor();
            let mut ratio = pow(sample, -ranks.exponent);
            if sample > 1.0 {
                ratio *= pow(inverse, ranks.exponent);
            }
            if rng.random::<f64>() < ratio {
                return sample;
            }
        }
    }

    proptest! {
        #[test]
        fn estimates_change_no_sample(
            count in prop_oneof![1_u64..100, 1_u64..100_000, 1_u64..1 << 50],
            exponent in prop_oneof![Just(0.0), Just(0.5), Just(0.8), Just(0.9), Just(0.95), Just(0.98), 0.0..1.0],
            seed in any::<u64>(),
        ) {
            let (mut rng, mut oracle_rng) = (stream(seed, "ranks"), stream(seed, "ranks"));
            let ranks = BelowOne::new(count, exponent);
            for _ in 0..1000 {
                let sample = ranks.sample(&mut rng);
                prop_assert_eq!(sample.to_bits(), sample_by_powers(&ranks, &mut oracle_rng).to_bits());
            }
            prop_assert_eq!(rng.random::<u64>(), oracle_rng.random::<u64>());
        }

        #[test]
        fn exponents_below_one_follow_zipf(
            count in 1_u64..10_000,
            exponent in prop_oneof![Just(0.0), Just(0.9), 0.0..0.99],
            seed in any::<u64>(),
        ) {
            let (mut rng, mut oracle_rng) = (stream(seed, "ranks"), stream(seed, "ranks"));
            let ranks = ZipfRanks::new(count, exponent).unwrap();
            let oracle = Zipf::new(count as f64, exponent).unwrap();
            for _ in 0..100 {
                prop_assert_eq!(ranks.draw(&mut rng), oracle.sample(&mut oracle_rng) as u64 - 1);
            }
        }

        #[test]
        fn ranks_lie_below_count(count in 1_u64..1000, exponent in 0.0..10.0, seed in any::<u64>()) {
            let ranks = ZipfRanks::new(count, exponent).unwrap();
            let mut rng = stream(seed, "ranks");
            prop_assert!((0..100).all(|_| ranks.draw(&mut rng) < count));
        }
    }
}
