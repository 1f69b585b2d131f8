//! The times of each network: closed forms, and a model of links that sorts packets by time.

mod against;
pub mod carrying;
mod closed;
