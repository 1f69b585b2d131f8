//! Streaming readers and writers of block traces, workload generators, and work records.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

mod archive;
mod arrival_options;
mod arrivals;
pub mod characterize;
mod compression;
pub mod conformance;
mod continuation;
mod devices;
mod dialect;
mod encoding;
mod fields;
pub mod format;
mod input;
pub mod interrupt;
mod lines;
pub mod memory_files;
pub mod notes;
mod open;
mod range;
mod records;
pub mod sample;
mod shown;
#[cfg(not(target_family = "wasm"))]
pub mod spill;
mod stream_end;
pub mod synthetic;
pub mod table;
pub mod transform;
pub mod work;
#[cfg(not(target_family = "wasm"))]
pub mod writer;

pub use arrival_options::{ArrivalOptions, WindowOptions};
pub use arrivals::{Clock, TraceStart};
pub use compression::Compression;
pub use continuation::Continuation;
pub use open::{OpenOptions, OpenedTrace, open, open_reader, recognize};
