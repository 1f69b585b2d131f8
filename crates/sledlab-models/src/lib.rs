//! Models of devices, schedulers, power policies, caches, hybrids and systems, which serve requests, of nodes, and of
//! the network between them.
//!
//! Each folder is one kind of model, with a trait in its `mod.rs`, one file per model, and an explicit list from which
//! the command line, the Python API and the docs take the models' names.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod assembly;
pub mod cache;
pub mod conformance;
pub mod device;
pub mod hybrid;
pub mod merge;
pub mod network;
pub mod node;
pub mod power;
pub mod replacement;
pub mod scheduler;
pub mod system;
