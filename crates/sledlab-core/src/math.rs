//! Functions whose results are the same to the last bit wherever sledlab runs.
//!
//! IEEE 754 specifies sums, products, quotients and roots to the last bit. It does not so specify sines, powers and
//! logarithms, and each platform's library rounds them in its own way: the functions here come from one library, that
//! of musl in Rust. `clippy.toml` refuses those of the standard library. Distributions of `rand_distr` use the same
//! library as long as neither `num-traits` nor `rand` is built with the feature `std`: the methods of `f64` in the
//! standard library would take precedence (`tests/setup/test_native.py` checks the native module).

/// Sine of radians.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of radians.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Arctangent, in radians.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// e to the power of `x`.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// e to the power of `x`, less 1; exact near 0.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm of 1 + `x`, exact near 0.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// `x` to the power of `y`.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}
