//! Integration tests of sledlab-emulation in one program, which links once. `leftovers` is a program of its own: the test
//! counts the threads and files of its process.
#![cfg(target_os = "linux")]

#[path = "../examples/fuzz_nbd/client.rs"]
mod client;
mod nbd;
mod power;
mod power_failures;
mod power_over_the_wire;
#[path = "../examples/fuzz_nbd/samples.rs"]
mod samples;
#[path = "../examples/fuzz_nbd/serve.rs"]
mod serve;
mod store;
