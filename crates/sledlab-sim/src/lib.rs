//! Event loop, replay, recorder, results and experiments: the crate to import from Rust.
