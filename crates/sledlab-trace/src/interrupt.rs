//! The check for interrupts by the user while a trace is read. A reader may read for minutes without a request, so its
//! caller cannot check often enough.

use std::sync::OnceLock;

use sledlab_core::Result;

static CHECK: OnceLock<fn() -> Result<()>> = OnceLock::new();

/// Sets the function that readers call for each block of stored or unpacked bytes; its error ends the reading. Only the
/// first call has an effect.
pub fn set_check(check: fn() -> Result<()>) {
    let _ = CHECK.set(check);
}

pub(crate) fn check() -> Result<()> {
    CHECK.get().map_or(Ok(()), |check| check())
}
