//! Integration tests of sledlab-trace in one program, which links once.

mod continuation;
mod errors;
mod formats;
mod never_panics;
mod reading;
mod reference;
mod roundtrip;
mod transform;
mod work;
