//! Functions whose results are the same to the last bit wherever sledlab runs.
//!
//! IEEE 754 says what sums, products, quotients and roots are. What sines, powers and logarithms are, every platform's
//! library says for itself: these here come from one library, that of musl in Rust. `clippy.toml` sees to it that nobody
//! takes others. Distributions of `rand_distr` take the same library as long as nothing asks `num-traits` for `std`.

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

/// The same less 1, exact near 0.
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
