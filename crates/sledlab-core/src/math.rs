//! Functions whose results are identical to the last bit on all platforms.
//!
//! IEEE 754 specifies sums, products, quotients and square roots to the last bit, but not sines, powers and logarithms,
//! which each platform's library rounds differently. The functions of this module use a Rust port of the musl library.
//! `clippy.toml` forbids those of the standard library. Distributions of `rand_distr` use the same port, unless
//! `num-traits` or `rand` is built with the feature `std`: the methods of `f64` in the standard library would then take
//! precedence (`tests/setup/test_native.py` checks the native module).

/// Returns the sine of `x` in radians.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Returns the cosine of `x` in radians.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Returns the arctangent of `x` in radians.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Returns e to the power of `x`.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Returns e to the power of `x`, minus 1; accurate near 0.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Returns the natural logarithm of 1 + `x`; accurate near 0.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Returns `x` to the power of `y`.
#[inline]
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}
