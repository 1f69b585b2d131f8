//! How requests of real programs arrive, and replies leave.

pub mod nbd;
