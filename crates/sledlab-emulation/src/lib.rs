//! Real programs on storage that does not exist: what turns a simulated system into a block device of the host.
//!
//! [`transport::nbd`] understands clients: a codec over byte slices that knows neither sockets nor clocks. [`Store`]
//! keeps what they write, in memory or in a sparse file. Neither knows how long anything takes: when a reply leaves is
//! the business of the server, which asks the model.
//!
//! The codec builds anywhere, the stores need Linux.

mod extent;
#[cfg(target_os = "linux")]
pub mod store;
pub mod transport;

pub use extent::Extent;
#[cfg(target_os = "linux")]
pub use store::Store;
#[cfg(target_os = "linux")]
pub use store::versions::Versions;
