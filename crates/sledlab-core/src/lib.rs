//! Types shared by all sledlab crates: time, requests, parameters, registries, seeds, statistics and errors.
//!
//! This crate does no I/O and contains no device models.

#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod conformance;
pub mod error;
pub mod hash;
pub mod math;
pub mod params;
pub mod registry;
pub mod request;
pub mod seed;
pub mod source;
pub mod stats;
pub mod time;

pub use error::{Error, Result};
pub use request::{BLOCK_BYTES, MAX_UNREQUESTED_WORDS, Op, Request, WORD_BYTES, unrequested_words};
pub use source::Source;
pub use time::{Span, Time};
