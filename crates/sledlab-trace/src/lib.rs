//! Streaming readers and writers of block traces, and workload generators.

pub mod synthetic;
