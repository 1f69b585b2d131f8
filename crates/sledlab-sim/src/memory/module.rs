//! Memory of a WebAssembly module in a browser, and its remaining address space.

use core::arch::wasm32::memory_size;

/// Unit of the size of the module's memory in bytes; the memory never shrinks.
const PAGE: u64 = 64 << 10;

pub(super) fn status(_name: &str) -> Option<u64> {
    Some(memory_size(0) as u64 * PAGE)
}

pub(super) fn machine() -> Option<u64> {
    Some((1_u64 << 32).saturating_sub(status("")?))
}

pub(super) fn of_address_space() -> Option<u64> {
    None
}
