//! Memory of a WebAssembly module in a browser, and its remaining address space.

use core::arch::wasm32::memory_size;

/// Unit of the size of the module's memory in bytes; the memory never shrinks.
const PAGE: u64 = 64 << 10;

pub(super) fn process_memory(_name: &str) -> Option<u64> {
    Some(memory_size(0) as u64 * PAGE)
}

pub(super) fn machine_memory() -> Option<u64> {
    Some((1_u64 << 32).saturating_sub(process_memory("")?))
}

pub(super) fn remaining_address_space() -> Option<u64> {
    None
}
