//! Devices: geometry, mechanics and power of what stores the blocks.

pub mod mems;
