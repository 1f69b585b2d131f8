//! The protocols by which real programs send requests and get replies.

pub mod nbd;
