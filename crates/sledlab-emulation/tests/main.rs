//! Integration tests of sledlab-emulation in one program, which links once. `resource_cleanup` is a program of its
//! own: the test counts the threads and files of its process.
#![cfg(target_os = "linux")]

#[path = "../examples/fuzz_nbd/client.rs"]
mod client;
mod nbd;
mod power;
mod power_failures;
#[path = "../examples/fuzz_nbd/samples.rs"]
mod samples;
#[path = "../examples/fuzz_nbd/serve.rs"]
mod serve;
mod served_power_failures;
mod store;
