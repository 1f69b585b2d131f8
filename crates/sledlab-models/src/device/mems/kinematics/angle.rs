//! The angle of a point in the upper half plane.

/// Steps of the table from the direction of an axis to the diagonal.
const STEPS: f64 = 16.0;

/// Adding this to a number from 0 to 1 rounds it to integer steps and leaves their count in the lowest bits: the unit
/// in the last place of sums at this size is one step.
const ROUNDER: f64 = 1.5 * 4_503_599_627_370_496.0 / STEPS;

/// The arctangent of 0/16, 1/16 ... 16/16, to 17 digits.
const ARCTANGENTS: [f64; 17] = [
    0.0,
    0.062_418_809_995_957_35,
    0.124_354_994_546_761_44,
    0.185_347_949_995_694_76,
    0.244_978_663_126_864_14,
    0.302_884_868_374_971_4,
    0.358_770_670_270_572_25,
    0.412_410_441_597_387_3,
    0.463_647_609_000_806_1,
    0.512_389_460_310_737_7,
    0.558_599_315_343_562_4,
    0.602_287_346_134_964_2,
    0.643_501_108_793_284_4,
    0.682_316_554_874_748_1,
    0.718_829_999_621_624_5,
    0.753_151_280_962_194_4,
    std::f64::consts::FRAC_PI_4,
];

/// The angle of the point `(x, y)`, `y` >= 0, in radians from 0 to pi: equals `y.atan2(x)` to 5e-16 relative.
///
/// Most of the computation of a seek at speed, or of a turnaround, is one arctangent; with that of the standard
/// library they take up to 1.7 times as long to compute (`benches/kinematics.rs`). This function has no branches: it
/// rotates the point by the arctangent of a multiple of 1/16 and sums the odd powers of the remaining tangent, which
/// is 1/32 at most.
#[inline]
pub(super) fn angle(y: f64, x: f64) -> f64 {
    let reach = x.abs();
    let short = if y < reach { y } else { reach };
    let long = if y > reach { y } else { reach };
    let rounded = short / long + ROUNDER;
    let step = rounded - ROUNDER;
    let t = (short - step * long) / (long + step * short);
    let z = t * t;
    let tail = 1.0 / 3.0 - z * (1.0 / 5.0 - z * (1.0 / 7.0 - z * (1.0 / 9.0 - z * (1.0 / 11.0))));
    let index = (rounded.to_bits() & 31) as usize;
    let small = ARCTANGENTS[index.min(16)] + (t - t * z * tail);
    // Mirrored at the diagonal, then at the y axis. Half of all moves lie beyond the diagonal and no branch predictor
    // predicts which, hence no `if` around the sign.
    let diagonal = if y > reach { std::f64::consts::FRAC_PI_2 } else { 0.0 };
    let acute = diagonal + small.copysign(reach - y);
    if x < 0.0 { std::f64::consts::PI - acute } else { acute }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holds_the_arctangents() {
        for (i, value) in ARCTANGENTS.iter().enumerate() {
            assert_eq!(value.to_bits(), (i as f64 / STEPS).atan().to_bits());
        }
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut worst = 0.0_f64;
        for i in 0..1_000_000 {
            let theirs = std::f64::consts::PI * (f64::from(i) + 0.5) / 1e6;
            let (y, x) = theirs.sin_cos();
            let (ours, theirs) = (angle(y, x), y.atan2(x));
            worst = worst.max((ours / theirs - 1.0).abs());
        }
        eprintln!("largest relative difference {worst:.1e}");
        assert!(worst < 5e-16);
    }

    proptest! {
        #[test]
        fn keeps_all_digits_of_small_angles(exponent in -200.0_f64..0.0, x in 1e-3_f64..1e12) {
            let y = x * 10_f64.powf(exponent);
            prop_assert!((angle(y, x) / y.atan2(x) - 1.0).abs() < 5e-16);
        }
    }
}
