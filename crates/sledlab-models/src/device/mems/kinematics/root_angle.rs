//! The arctangent of a square root, from a table of short polynomials.

use std::sync::LazyLock;

use sledlab_core::math;

/// Bits of the mantissa that choose a piece: 32 pieces from each power of two to the next.
const PIECE_BITS: u32 = 5;
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - PIECE_BITS;

/// The table covers 2^-14 to 2^2. Seeks from rest to rest between places that the actuator can hold have values up to
/// 3; values below 2^-14 occur only in moves of a few bits on a weak spring.
const MIN: f64 = 1.0 / 16_384.0;
const MAX: f64 = 4.0;

/// A polynomial for the values that share exponent and leading bits of the mantissa.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Piece {
    center: f64,
    coefficients: [f64; 7],
}

static PIECES: LazyLock<Box<[Piece]>> = LazyLock::new(|| {
    (number(MIN)..number(MAX)).map(|n| Piece::taylor(f64::from_bits((2 * n + 1) << (SHIFT - 1)))).collect()
});

/// Number of the piece that covers `r`, counted from the piece of 0.
#[inline]
fn number(r: f64) -> u64 {
    r.to_bits() >> SHIFT
}

/// `r.sqrt().atan()` to 1e-14 relative; `None` outside the table.
///
/// The time of a seek is a multiple of this angle, so its latency counts. A look-up and one polynomial take half as
/// long to compute as a root and the [`angle`](super::angle::angle) of a point.
#[inline]
pub(super) fn root_angle(r: f64) -> Option<f64> {
    let piece = PIECES.get(number(r).wrapping_sub(number(MIN)) as usize)?;
    let [c0, c1, c2, c3, c4, c5, c6] = piece.coefficients;
    let z = r - piece.center;
    let zz = z * z;
    // Grouped so that the terms do not depend on each other.
    Some(((c0 + c1 * z) + (c2 + c3 * z) * zz) + ((c4 + c5 * z) + c6 * zz) * (zz * zz))
}

impl Piece {
    /// The Taylor series around `c`. The derivative `g` of `atan(sqrt(r))` is `1 / (2 sqrt(r) (1 + r))`, so
    /// `2 r (1 + r) g' = -(1 + 3 r) g`, which gives each term from the two before it. A piece reaches `c/64` to either
    /// side at most, where the first omitted term is 6e-15 of the value; for half of all values that term is less than
    /// a hundredth of this.
    fn taylor(c: f64) -> Piece {
        let root = c.sqrt();
        let mut g = [0.0; 6];
        g[0] = 1.0 / (2.0 * root * (1.0 + c));
        for n in 0..5 {
            let k = n as f64;
            let before = if n > 0 { (2.0 * k + 1.0) * g[n - 1] } else { 0.0 };
            let this = (1.0 + 3.0 * c + 2.0 * (1.0 + 2.0 * c) * k) * g[n];
            g[n + 1] = -(this + before) / (2.0 * c * (1.0 + c) * (k + 1.0));
        }
        let mut coefficients = [math::atan(root); 7];
        for n in 0..6 {
            coefficients[n + 1] = g[n] / (n + 1) as f64;
        }
        Piece { center: c, coefficients }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut worst = 0.0_f64;
        for i in 0..1_000_000 {
            let r = MIN * (MAX / MIN).powf(f64::from(i) / 1e6);
            let (ours, theirs) = (root_angle(r).unwrap(), r.sqrt().atan());
            worst = worst.max((ours / theirs - 1.0).abs());
        }
        eprintln!("largest relative difference {worst:.1e}");
        assert!(worst < 1e-14);
    }

    #[test]
    fn knows_its_bounds() {
        assert!(root_angle(MIN).is_some() && root_angle(MAX.next_down()).is_some());
        for argument in [0.0, -1.0, MIN.next_down(), MAX, f64::INFINITY, f64::NAN] {
            assert_eq!(root_angle(argument), None);
        }
    }
}
