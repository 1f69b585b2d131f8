//! The record of a server: its requests as a trace, with the digest of its tables.

pub mod digest;
pub mod recording;
