//! Conformance tests: one for every registered model and check, named `kind::model::check`, such as
//! `scheduler::sptf::rules`. They follow the registries, so a new model needs no line here.

mod devices;
#[path = "../disk_index_comparison/mod.rs"]
mod disk_index_comparison;
#[path = "../index_comparison/mod.rs"]
mod index_comparison;
mod networks;
#[path = "../networks/packet_traffic.rs"]
mod packet_traffic;
mod power;
mod replacement;
mod schedulers;
#[path = "../waiting_times/mod.rs"]
mod waiting_times;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

fn main() -> ExitCode {
    let tests =
        [devices::tests(), networks::tests(), power::tests(), replacement::tests(), schedulers::tests()];
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().flatten().collect()).exit_code()
}

/// The name of a check and its function, for models with entries of a type.
type NamedCheck<Entry> = (&'static str, fn(&'static Entry));

/// A test that fails if `run` panics.
fn test(kind: &str, model: &str, check: &str, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(format!("{kind}::{model}::{check}"), move || {
        run();
        Ok(())
    })
}

/// Runs `check` on `count` random cases, and panics with the smallest case that fails.
fn check_random_cases<S: Strategy>(
    count: u32,
    cases: &S,
    check: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) };
    TestRunner::new(config).run(cases, check).unwrap_or_else(|failure| panic!("{failure}"));
}
