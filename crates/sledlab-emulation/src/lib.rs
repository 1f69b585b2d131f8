//! Emulation: serves a simulated system as a block device to real programs.
//!
//! A [`Server`] stores real data and replies to each request when the simulated system completes the request. Its
//! modules:
//!
//! - [`transport::nbd`] parses requests and encodes replies: a codec over byte slices, without sockets or clocks.
//! - [`DataStore`] keeps the data that clients write, in memory or in a sparse file.
//! - `timing` decides when the server acts, and records how late replies are and why.
//! - `record` writes a run as a trace; `sockets` is where clients connect.
//! - `attachment` serves before the clock starts, while the export is attached as a file or a device.
//! - `server_loop` is the loop of the server's thread: sockets, clock and [`LiveRun`](sledlab_sim::LiveRun), the model.
//!
//! The codec compiles on every operating system; all other modules require Linux.

#![cfg_attr(test, allow(clippy::duplicate_mod, reason = "tests share a plain client"))]

// Tests share modules with the examples, which name this crate from outside, and with each other a plain client.
#[cfg(test)]
extern crate self as sledlab_emulation;

mod extent;
pub mod transport;

pub use extent::DataExtent;

#[cfg(target_os = "linux")]
mod attachment;
#[cfg(target_os = "linux")]
mod in_flight;
#[cfg(target_os = "linux")]
mod model;
#[cfg(target_os = "linux")]
mod power;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
mod server_loop;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
pub mod store;
#[cfg(target_os = "linux")]
mod timing;

#[cfg(target_os = "linux")]
pub use power::PowerFailure;
#[cfg(target_os = "linux")]
pub use record::digest::RowsDigest;
#[cfg(target_os = "linux")]
pub use record::recording::Record;
#[cfg(target_os = "linux")]
pub use report::{HostPathCost, RequestCounts, ServerReport, ShiftedArrivals, Status};
#[cfg(target_os = "linux")]
pub use server::{Data, HostPath, Server, ServerOptions};
#[cfg(target_os = "linux")]
pub use sockets::listener::ListenAddress;
#[cfg(target_os = "linux")]
pub use store::DataStore;
#[cfg(target_os = "linux")]
pub use store::versions::Versions;
#[cfg(target_os = "linux")]
pub use timing::clock::Scale;
#[cfg(target_os = "linux")]
pub use timing::lateness::{Cause, CountWithinShare, Percentiles, Stall, Stalls};
#[cfg(target_os = "linux")]
pub use timing::priority::Priority;
