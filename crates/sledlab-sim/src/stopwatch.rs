//! Wall-clock time, on platforms that have a clock.

#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// Wall-clock time since its creation.
#[derive(Clone, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    start: Instant,
}

impl Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    pub fn start() -> Self {
        Stopwatch { start: Instant::now() }
    }

    #[cfg(not(target_family = "wasm"))]
    pub fn elapsed_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    #[cfg(target_family = "wasm")]
    pub fn start() -> Self {
        Stopwatch {}
    }

    /// Returns 0: this platform has no clock.
    #[cfg(target_family = "wasm")]
    #[allow(clippy::unused_self, reason = "same signature as with a clock")]
    pub fn elapsed_s(&self) -> f64 {
        0.0
    }
}
