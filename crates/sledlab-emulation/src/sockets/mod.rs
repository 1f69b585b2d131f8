//! Where clients connect, and the bytes they send and receive.

pub mod connection;
pub mod connections;
pub mod listener;
