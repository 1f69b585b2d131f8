//! Integration tests of sledlab-trace in one program, which links once.

mod continuation;
mod errors;
mod formats;
mod interrupts;
mod published_traces;
mod reference;
mod robustness;
mod roundtrip;
mod trace_reader;
mod transform;
mod work;
