//! Real time, on platforms that have a clock.

#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// Real time since it was made.
#[derive(Clone, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    begun: Instant,
}

impl Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    pub fn start() -> Self {
        Stopwatch { begun: Instant::now() }
    }

    #[cfg(not(target_family = "wasm"))]
    pub fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    #[cfg(target_family = "wasm")]
    pub fn start() -> Self {
        Stopwatch {}
    }

    /// 0: this platform has no clock.
    #[cfg(target_family = "wasm")]
    #[allow(clippy::unused_self, reason = "as where there is a clock")]
    pub fn elapsed_s(&self) -> f64 {
        0.0
    }
}
