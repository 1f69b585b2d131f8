//! Integration tests of sledlab-trace in one program, which links once.

mod errors;
mod formats;
mod never_panics;
mod reading;
mod reference;
mod roundtrip;
mod sequel;
mod transform;
mod work;
